#include "taskdag/engine/report.hpp"

#include <gtest/gtest.h>

#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

using engine::Outcome;
using engine::Report;
using engine::Scheduler;

Report report_of(Outcome outcome) {
  Report report;
  report.outcome = outcome;
  report.phase = 1;
  report.types = {{"cut", 10, 3, 0, 8, 8}, {"glue", 0, 0, 2, 8, 8}, {"paint", 5, 0, 0, 8, 8}};
  return report;
}
std::string message(Outcome outcome, int type = 1, std::uint32_t code = 0) {
  Report report = report_of(outcome);
  engine::explain(report, type, code);
  return report.message;
}

TEST(Report, NamesEveryOutcome) {
  EXPECT_STREQ(to_string(Outcome::finished), "finished");
  EXPECT_STREQ(to_string(Outcome::deadlock), "deadlock");
  EXPECT_STREQ(to_string(Outcome::watchdog), "watchdog");
  EXPECT_STREQ(to_string(Outcome::queue_full), "queue full");
  EXPECT_STREQ(to_string(Outcome::broken_promise), "broken promise");
  EXPECT_STREQ(to_string(Outcome::task_failed), "task failed");
}

TEST(Report, SchedulersAreFoundByTheirNames) {
  for (const Scheduler scheduler :
       {Scheduler::automatic, Scheduler::timesliced, Scheduler::megakernel, Scheduler::device_controller}) {
    EXPECT_EQ(engine::scheduler_from(to_string(scheduler)), scheduler);
  }
  EXPECT_EQ(engine::scheduler_from("auto"), Scheduler::automatic);
  EXPECT_EQ(engine::scheduler_from("controller"), Scheduler::device_controller);
}

TEST(Report, AnUnknownSchedulerIsRefusedWithTheKnownOnes) {
  try {
    static_cast<void>(engine::scheduler_from("fastest"));
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()), "unknown scheduler \"fastest\": auto, timesliced, megakernel or controller");
  }
  EXPECT_THROW(static_cast<void>(engine::scheduler_from("")), InvalidInput);
}

TEST(Report, ADeadlockSaysWhereTasksWait) {
  const std::string text = message(Outcome::deadlock);
  EXPECT_NE(text.find("dependencies that no task resolves"), std::string::npos) << text;
  EXPECT_NE(text.find("phase 1; cut: 3 queued, 0 waiting; glue: 0 queued, 2 waiting"), std::string::npos) << text;
  EXPECT_EQ(text.find("paint"), std::string::npos) << "nothing is left of it: " << text;
}

TEST(Report, TheWatchdogSaysWhatIsLeft) {
  const std::string text = message(Outcome::watchdog);
  EXPECT_NE(text.find("watchdog"), std::string::npos) << text;
  EXPECT_NE(text.find("phase 1; cut: 3 queued"), std::string::npos) << text;
}

TEST(Report, AFullQueueAndAFullStorageAreToldApart) {
  EXPECT_NE(message(Outcome::queue_full, 1, 0).find("the queue of glue is above"), std::string::npos);
  EXPECT_NE(message(Outcome::queue_full, 0, 1).find("the waiting storage of cut is above"), std::string::npos);
}

TEST(Report, ABrokenPromiseNamesTheTypeAndThePromise) {
  const std::string text = message(Outcome::broken_promise, 2, 0);
  EXPECT_NE(text.find("the queue of paint"), std::string::npos) << text;
  EXPECT_NE(text.find("max_children"), std::string::npos) << text;
}

TEST(Report, AFailedTaskIsNamedWithItsCode) {
  EXPECT_EQ(message(Outcome::task_failed, 0, 17), "a task of type cut failed with code 17");
}

TEST(Report, WithoutAPhaseItSaysSo) {
  Report report = report_of(Outcome::deadlock);
  report.phase = -1;
  engine::explain(report, 0, 0);
  EXPECT_NE(report.message.find("(no phase; cut"), std::string::npos) << report.message;
}

TEST(Report, SumsUpWhatWasExecutedAndDescribesEachType) {
  Report report = report_of(Outcome::finished);
  engine::explain(report, 0, 0);
  EXPECT_TRUE(report.finished());
  EXPECT_EQ(report.executed(), 15U);
  const std::string text = describe(report);
  EXPECT_NE(text.find("finished: all tasks were executed\n"), std::string::npos) << text;
  EXPECT_NE(text.find("15 tasks in"), std::string::npos) << text;
  EXPECT_NE(text.find("  glue: 0 executed, 0 queued, 2 waiting\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace taskdag::test
