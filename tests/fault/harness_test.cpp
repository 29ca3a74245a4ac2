// The harness itself: it sees a leak, a wrong exception, another result, a child that hangs, dies or throws.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "fault/child.hpp"
#include "fault/failing_new.hpp"
#include "fault/nth_failure.hpp"
#include "fault/say.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

/// The messages of failures that `body` adds.
template <class Body>
std::vector<std::string> failures_of(const Body& body) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    body();
  }
  std::vector<std::string> messages;
  for (int k = 0; k < results.size(); ++k) messages.emplace_back(results.GetTestPartResult(k).message());
  return messages;
}

bool mention(const std::vector<std::string>& messages, const std::string& words) {
  return std::ranges::any_of(messages, [&](const std::string& message) { return message.find(words) != message.npos; });
}

/// What one public call does: allocates twice, and keeps its promises or not.
struct Promises {
  bool leaks = false;
  bool throws_bad_alloc = false;
  bool changes_result = false;
  bool works_when_spoilt = false;
};

Call call_with(Promises promises) {
  struct State {
    std::unique_ptr<std::vector<double>> value;
    double result = 1.0;
    bool spoilt = false;
  };
  const auto state = std::make_shared<State>();
  return {"a call",
          [] {},
          [state, promises] {
            try {
              state->spoilt = true;
              auto* const first = new int;
              const std::unique_ptr<int> kept(promises.leaks ? nullptr : first);
              state->value = std::make_unique<std::vector<double>>(10, 1.0);
              state->spoilt = false;
              if (promises.leaks) delete first;
            } catch (const std::bad_alloc&) {
              if (promises.changes_result) state->result += 1.0;
              if (promises.throws_bad_alloc) throw;
              throw OutOfMemory("out of memory");
            }
          },
          [state, promises] {
            if (state->spoilt && !promises.works_when_spoilt) throw InvalidInput("spoilt");
            return std::vector<double>{state->result};
          },
          [state] { state->value.reset(); },
          true};
}

std::vector<std::string> failures_with(Promises promises) {
  return failures_of([&] {
    FailingNew fault;
    static_cast<void>(expect_to_survive({call_with(promises)}, fault, 100));
  });
}

TEST(NthFailureHarness, FindsNothingWhereAllPromisesAreKept) {
  EXPECT_TRUE(failures_with({}).empty());
  FailingNew fault;
  EXPECT_EQ(expect_to_survive({call_with({})}, fault, 100), 3);  // the int, the vector, its array
}

TEST(NthFailureHarness, FindsEachBrokenPromise) {
#if !defined(__SANITIZE_ADDRESS__)  // which finds the leak itself
  EXPECT_TRUE(mention(failures_with({.leaks = true}), "is held"));
#endif
  EXPECT_TRUE(mention(failures_with({.throws_bad_alloc = true}), "std::bad_alloc"));
  EXPECT_TRUE(mention(failures_with({.changes_result = true}), "another result"));
  EXPECT_TRUE(mention(failures_with({.works_when_spoilt = true}), "a use after it threw nothing"));
}

TEST(ChildHarness, GoesThroughAllCases) {
  int begun = 0;
  EXPECT_TRUE(failures_of([&] { begun = run_in_children("well", 20); }).empty());
  EXPECT_EQ(begun, 3);
}

TEST(ChildHarness, NamesWhatHangsDiesOrThrowsAndGoesOn) {
  const struct {
    const char* kind;
    int quiet_seconds;
    const char* words;
  } expected[] = {{"hangs", 2, "the second: hangs"},
                  {"dies", 20, "the second: the process was ended by signal"},
                  {"throws", 20, "the second: an exception: it threw"},
                  {"wrong", 20, "the second: not right"}};
  for (const auto& [kind, quiet_seconds, words] : expected) {
    int begun = 0;
    const auto messages = failures_of([&, k = kind, seconds = quiet_seconds] { begun = run_in_children(k, seconds); });
    EXPECT_TRUE(mention(messages, words)) << kind << ": " << testing::PrintToString(messages);
    EXPECT_EQ(begun, 3) << kind;
  }
}

TEST(ChildHarness, NamesAChildThatDoesNotStart) {
  EXPECT_TRUE(mention(failures_of([] { EXPECT_EQ(run_in_children("no such kind", 20), 0); }), "its start"));
}

/// In the child.
int run_kind(const std::string& kind, int first) {
  const auto second = [&] {
    if (kind == "hangs") ::sleep(600);
    if (kind == "dies") static_cast<void>(std::raise(SIGKILL));
    if (kind == "throws") throw std::runtime_error("it threw");
    if (kind == "wrong") wrong("not right");
  };
  const std::vector<std::string> kinds = {"well", "hangs", "dies", "throws", "wrong"};
  if (std::ranges::find(kinds, kind) == kinds.end()) return 2;
  return run_cases({{"the first", [] {}}, {"the second", second}, {"the third", [] {}}}, first);
}

}  // namespace
}  // namespace taskdag::test

int main(int count, char** words) {
  std::string kind;
  int first = 0;
  if (taskdag::test::is_child(count, words, kind, first)) return taskdag::test::run_kind(kind, first);
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
