// Streams, captures and ends of lives with every CUDA schedule, each kind of case in processes of its own.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault/child.hpp"
#include "fault/stream_cases.hpp"

namespace taskdag::test {
namespace {

constexpr int kQuietSeconds = 25;

std::vector<StreamCase> all_cases() {
  std::vector<StreamCase> cases(direct_cases().begin(), direct_cases().end());
  cases.insert(cases.end(), captured_cases().begin(), captured_cases().end());
  return cases;
}

/// In a child: a kind with all subjects, the large matrix alone where it asks for that, else both small ones.
int run_kind(const std::string& kind, int first) {
  for (const StreamCase& one : all_cases()) {
    if (one.name != kind) continue;
    const Context context = Context::create({.backend = Backend::cuda});
    std::vector<ChildCase> cases;
    for (const Subject& subject : subjects(Backend::cuda)) {
      cases.push_back({subject.name(), [&context, &one, subject] {
                         Trial grid(context, subject, grid_matrix(one.large ? 300 : 40));
                         one.run(grid);
                         if (one.large) return;
                         Trial random(context, subject, random_matrix());
                         one.run(random);
                       }});
    }
    return run_cases(cases, first);
  }
  return 2;
}

class StreamKind : public testing::TestWithParam<std::string> {};

TEST_P(StreamKind, WithEverySchedule) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  EXPECT_GE(run_in_children(GetParam(), kQuietSeconds), static_cast<int>(subjects(Backend::cuda).size()));
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const StreamCase& one : all_cases()) names.emplace_back(one.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cuda, StreamKind, testing::ValuesIn(kinds()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace taskdag::test

int main(int count, char** words) {
  std::string kind;
  int first = 0;
  if (taskdag::test::is_child(count, words, kind, first)) return taskdag::test::run_kind(kind, first);
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
