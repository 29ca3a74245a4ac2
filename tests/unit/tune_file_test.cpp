// The file that keeps tuned schedules between runs.
#include "solver/choice/tune_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_file.hpp"
#include "scratch_file.hpp"
#include "solver/choice/request.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

TuneKey key_of(Index rows) {
  TuneKey key;
  key.device = "a device";
  key.rows = rows;
  key.entries = 3 * rows;
  key.levels = 5;
  key.pattern = 0xFEDCBA9876543210ULL;
  return key;
}

/// The name of a file that does not exist, until its scope ends.
class AbsentFile : public ScratchFile {
 public:
  explicit AbsentFile(const std::string& name) : ScratchFile(name) { std::filesystem::remove(path()); }
};

/// Files that a change has left beside `path`.
int beside(const std::string& path) {
  int count = 0;
  const std::filesystem::path file(path);
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) {
    const std::string name = entry.path().filename();
    count += name.starts_with(file.filename().string() + ".") ? 1 : 0;
  }
  return count;
}

TEST(TuneFile, KeepsOneChoicePerKey) {
  const AbsentFile file("tune_keeps");
  EXPECT_FALSE(find_tuned(file.path(), key_of(1), true));
  save_tuned(file.path(), key_of(1), "flat", 12.5);
  save_tuned(file.path(), key_of(2), "cells", 1.5);
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "flat");
  EXPECT_EQ(find_tuned(file.path(), key_of(2), false), "cells");
  save_tuned(file.path(), key_of(1), "cusparse", 11.0);
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "cusparse");
  EXPECT_EQ(find_tuned(file.path(), key_of(2), false), "cells");
  EXPECT_EQ(file.content().find("flat"), std::string::npos) << file.content();
}

TEST(TuneFile, EveryPartOfTheKeyCounts) {
  const AbsentFile file("tune_key");
  save_tuned(file.path(), key_of(1), "flat", 1.0);
  std::vector<TuneKey> others(6, key_of(1));
  others[0].device = "another device";
  others[1].triangle = Triangle::upper;
  others[2].rows = 7;
  others[3].entries = 7;
  others[4].levels = 7;
  others[5].pattern += 1;
  for (std::size_t k = 0; k < others.size(); ++k) EXPECT_FALSE(find_tuned(file.path(), others[k], false)) << k;
}

TEST(TuneFile, AbsentFileIsAnErrorWhereItMustExist) {
  const AbsentFile file("tune_absent");
  try {
    static_cast<void>(find_tuned(file.path(), key_of(1), false));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(file.path()), std::string::npos) << error.what();
  }
}

TEST(TuneFile, ForeignFilesAreErrorsAndStayAsTheyAre) {
  for (const char* const content :
       {"not JSON", "[]", "{}", R"({"format": "another"})", R"({"format": 3, "choices": []})"}) {
    const ScratchFile file("tune_foreign", content);
    EXPECT_THROW(static_cast<void>(find_tuned(file.path(), key_of(1), true)), ParseError) << content;
    try {
      save_tuned(file.path(), key_of(1), "flat", 1.0);
      ADD_FAILURE() << "nothing was thrown for " << content;
    } catch (const ParseError& error) {
      EXPECT_EQ(std::string(error.what()).find(file.path()), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("not a file of tuned schedules"), std::string::npos) << error.what();
    }
    EXPECT_EQ(file.content(), content);
    EXPECT_EQ(beside(file.path()), 0);
  }
}

/// A damaged file holds nothing, says so once, and is replaced by the next choice.
void expect_damaged(const std::string& content, const std::string& why) {
  static int count = 0;  // what is said of one file is said once
  const ScratchFile file("tune_damaged_" + std::to_string(++count), content);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find_tuned(file.path(), key_of(1), true));
  EXPECT_FALSE(find_tuned(file.path(), key_of(1), false));
  EXPECT_EQ(file.content(), content);
  save_tuned(file.path(), key_of(1), "flat", 1.0);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string warning = "TaskDAG: warning: the tune file " + file.path() + " is damaged";
  EXPECT_EQ(said.find(warning), 0U) << said;
  EXPECT_EQ(said.find(warning, 1), std::string::npos) << said;
  EXPECT_NE(said.find(why), std::string::npos) << said;
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "flat");
}

TEST(TuneFile, ADamagedFileIsAnEmptyOneWithAWarning) {
  const ScratchFile whole("tune_whole");
  save_tuned(whole.path(), key_of(1), "flat", 1.0);
  const std::string content = whole.content();
  for (const std::size_t size : {content.size() - 3, content.size() / 2, std::size_t{20}, std::size_t{1}}) {
    expect_damaged(content.substr(0, size), "parse error");
  }
  expect_damaged(R"({"format": "taskdag-tune-1", "choices": [)", "parse error");
  expect_damaged(R"({"format": "taskdag-tune-1"})", "it lacks the list");
  expect_damaged(R"({"format": "taskdag-tune-1", "choices": {}})", "it lacks the list");
  expect_damaged(R"({"format": "taskdag-tune-1", "choices": [3]})", "lacks its key or its schedule");
  expect_damaged(R"({"format": "taskdag-tune-1", "choices": [{"key": {}}]})", "lacks its key or its schedule");
  expect_damaged(R"({"format": "taskdag-tune-1", "choices": [{"key": {}, "schedule": 3}]})",
                 "lacks its key or its schedule");
}

TEST(TuneFile, AnEmptyFileHoldsNothing) {
  const ScratchFile file("tune_empty");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find_tuned(file.path(), key_of(1), false));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Values that are copied, compared and written level by level would use up the stack.
TEST(TuneFile, DeepNestingIsNotFollowed) {
  const std::size_t levels = 1000000;
  for (const std::string& nested : {std::string(levels, '[') + std::string(levels, ']'), std::string(levels, '[')}) {
    expect_damaged(R"({"format": "taskdag-tune-1", "choices": [{"key": )" + nested + R"(, "schedule": "flat"}]})",
                   "nested too deeply");
  }
}

TEST(TuneFile, AChoiceThatTheLibraryDoesNotHaveIsLeft) {
  const AbsentFile file("tune_unknown");
  save_tuned(file.path(), key_of(1), "of_tomorrow", 1.0);
  ScheduleRequest request;
  request.tune_file = file.path();
  const auto settle = [&] {
    return settle_schedule(
        request, SolveSchedule::plan, [] { return key_of(1); },
        [] {
          return TrialResult{{SolveSchedule::hdagg}, 2.0};
        });
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(settle().schedule, SolveSchedule::plan);
  request.tune = true;
  EXPECT_EQ(settle().schedule, SolveSchedule::hdagg);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("holds a choice that is not taken"), std::string::npos);
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "hdagg");
}

TEST(ScheduleChoice, NamesLeadBack) {
  for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
    EXPECT_EQ(choice_from(name_of({schedule})), ScheduleChoice{schedule});
  }
  const ScheduleChoice counted{SolveSchedule::cells, 66};
  EXPECT_EQ(name_of(counted), "cells:66");
  EXPECT_EQ(choice_from("cells:66"), counted);
  for (const char* const name : {"cells:", "cells:0", "cells:-1", "cells:6x", "cells:99999999999", "flat:3"}) {
    EXPECT_THROW(static_cast<void>(choice_from(name)), InvalidInput) << name;
  }
}

TEST(TuneFile, UnwritablePlacesAreWarnedOf) {
  for (const std::string& path : {testing::TempDir() + "taskdag_no_such_folder/tune.json", std::string("/dev/null")}) {
    testing::internal::CaptureStderr();
    save_tuned(path, key_of(1), "flat", 1.0);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("the tune file " + path + " cannot be written: "), std::string::npos) << said;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(TuneFile, LinksAndModesStay) {
  const AbsentFile file("tune_linked");
  for (const bool dangling : {true, false}) {
    const AbsentFile link("tune_link");
    std::filesystem::create_symlink(std::filesystem::path(file.path()).filename(), link.path());
    save_tuned(link.path(), key_of(dangling ? 1 : 2), "flat", 1.0);
    EXPECT_TRUE(std::filesystem::is_symlink(link.path()));
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file.path())));
    EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "flat");
  }
  for (const unsigned mode : {0600U, 0664U, 0444U}) {
    const auto wanted = static_cast<std::filesystem::perms>(mode);
    std::filesystem::permissions(file.path(), wanted);
    save_tuned(file.path(), key_of(3), "plan", 1.0);
    EXPECT_EQ(std::filesystem::status(file.path()).permissions(), wanted);
  }
}

/// Starts `count` processes that call work(number) at the same time. @returns how many have not ended with 0; what
/// takes longer than 100 seconds is killed.
int failures_of_processes(int count, const std::function<void(int)>& work) {
  std::array<int, 2> start{};
  EXPECT_EQ(pipe(start.data()), 0);
  std::vector<pid_t> children;
  for (int k = 0; k < count; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      close(start[1]);
      char nothing = 0;
      [[maybe_unused]] const ssize_t none = read(start[0], &nothing, 1);  // returns when all have been started
      try {
        work(k);
      } catch (const std::exception&) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  close(start[0]);
  close(start[1]);
  int failures = 0;
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    failures += status != 0 ? 1 : 0;
  }
  return failures;
}

// A first run: nobody has the file yet, and all look for it and add to it.
TEST(TuneFile, ManyProcessesShareOne) {
  constexpr int kProcesses = 24;
  for (int round = 0; round < 10; ++round) {
    const AbsentFile file("tune_processes");
    const auto work = [&](int k) {
      for (Index part = 0; part < 2; ++part) {
        static_cast<void>(find_tuned(file.path(), key_of(100 * k + part), true));
        save_tuned(file.path(), key_of(100 * k + part), "cells", 1.0);
      }
    };
    EXPECT_EQ(failures_of_processes(kProcesses, work), 0);
    int lost = 0;
    for (int k = 0; k < kProcesses; ++k) {
      for (Index part = 0; part < 2; ++part) lost += find_tuned(file.path(), key_of(100 * k + part), false) ? 0 : 1;
    }
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(beside(file.path()), 0);
  }
}

// The system frees a lock with its process.
TEST(TuneFile, AProcessThatDiesWithTheLockHoldsNobodyUp) {
  const AbsentFile file("tune_dies");
  const auto dies = [&](int) { change_shared_file(file.path(), []() -> std::string { _exit(1); }); };
  EXPECT_EQ(failures_of_processes(1, dies), 1);
  testing::internal::CaptureStderr();
  save_tuned(file.path(), key_of(1), "flat", 1.0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(find_tuned(file.path(), key_of(1), false), "flat");
  EXPECT_EQ(beside(file.path()), 0);
}

TEST(TuneFile, ReadersBesideWritersSeeWholeFiles) {
  const AbsentFile file("tune_writers");
  save_tuned(file.path(), key_of(0), "flat", 1.0);
  std::vector<std::thread> writers;
  writers.reserve(3);
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&file, t] {
      for (Index k = 1; k <= 40; ++k) save_tuned(file.path(), key_of(100 * t + k), "cells", 1.0);
    });
  }
  for (int k = 0; k < 200; ++k) EXPECT_NO_THROW(static_cast<void>(find_tuned(file.path(), key_of(1), false)));
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(find_tuned(file.path(), key_of(0), false), "flat");
  EXPECT_EQ(beside(file.path()), 0);
}

}  // namespace
}  // namespace taskdag::test
