// Individual and grouped dependencies, with reductions before, after and while the task is created.
#include "taskdag/engine/dependency.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "bench.hpp"
#include "together.hpp"

namespace taskdag::test {
namespace {

using engine::Dependency;
using engine::DependencyGroup;

struct Nothing {};
struct Waiter {
  using Item = int;
};
using Program = engine::Program<Nothing, engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Waiter>>>;

#if defined(__SANITIZE_THREAD__)
constexpr int kRepetitions = 300;
#else
constexpr int kRepetitions = 5000;
#endif

class Dependencies : public testing::Test {
 protected:
  template <class F>
  void as_task(F&& f) const {
    bench_.as_task<Waiter>(std::forward<F>(f));
  }
  void create(int item, Dependency& dependency, int count) const {
    as_task([&](auto& context) { context.template enqueue_dependent<Waiter>(item, dependency, count); });
  }
  void reduce(Dependency& dependency, int by = 1) const {
    as_task([&](auto& context) { context.template reduce<Waiter>(dependency, by); });
  }
  void join(int item, DependencyGroup& group) const {
    as_task([&](auto& context) { context.template enqueue_in_group<Waiter>(item, group); });
  }
  void open(DependencyGroup& group, int count) const {
    as_task([&](auto& context) { context.template open_group<Waiter>(group, count); });
  }
  void reduce(DependencyGroup& group, int by = 1) const {
    as_task([&](auto& context) { context.template reduce_group<Waiter>(group, by); });
  }
  [[nodiscard]] std::vector<int> ready() const {
    std::vector<int> items = bench_.take_all<Waiter>();
    std::sort(items.begin(), items.end());
    return items;
  }
  [[nodiscard]] std::uint32_t waiting() const { return bench_.program().of<Waiter>().storage.level(); }
  /// Pending and waiting tasks in the ledger.
  [[nodiscard]] std::array<std::uint32_t, 2> ledger() const {
    return {engine::detail::pending_of(bench_.ledger().total), engine::detail::waiting_of(bench_.ledger().total)};
  }
  using Counts = std::array<std::uint32_t, 2>;
  void see(int item) {
    const std::scoped_lock lock(mutex_);
    seen_.push_back(item);
  }

  std::mutex mutex_;
  std::vector<int> seen_;
  Bench<Program> bench_{{}, 256, 256};
};

TEST_F(Dependencies, ATaskWithoutDependenciesIsReadyAtOnce) {
  Dependency dependency;
  create(7, dependency, 0);
  EXPECT_EQ(ready(), std::vector<int>{7});
  EXPECT_EQ(ledger(), (Counts{1, 0}));
}

TEST_F(Dependencies, ReductionsAfterwardsReleaseTheTaskAtTheLast) {
  Dependency dependency;
  create(7, dependency, 3);
  EXPECT_EQ(ledger(), (Counts{1, 1}));
  reduce(dependency);
  reduce(dependency);
  EXPECT_TRUE(ready().empty());
  EXPECT_EQ(waiting(), 1U);
  reduce(dependency);
  EXPECT_EQ(ready(), std::vector<int>{7});
  EXPECT_EQ(waiting(), 0U);
  EXPECT_EQ(ledger(), (Counts{1, 0})) << "ready, and not run yet";
}

TEST_F(Dependencies, ReductionsBeforehandCount) {
  Dependency dependency;
  reduce(dependency);
  reduce(dependency);
  EXPECT_EQ(dependency.count, -2);
  create(7, dependency, 3);
  EXPECT_TRUE(ready().empty());
  reduce(dependency);
  EXPECT_EQ(ready(), std::vector<int>{7});
}

TEST_F(Dependencies, ATaskWhoseDependenciesAreResolvedNeverWaits) {
  Dependency dependency;
  reduce(dependency, 2);
  create(7, dependency, 2);
  EXPECT_EQ(ready(), std::vector<int>{7});
  EXPECT_EQ(dependency.count, 0);
}

TEST_F(Dependencies, SeveralAreReducedAtOnce) {
  Dependency dependency;
  create(7, dependency, 5);
  reduce(dependency, 4);
  EXPECT_TRUE(ready().empty());
  reduce(dependency, 1);
  EXPECT_EQ(ready(), std::vector<int>{7});
}

TEST_F(Dependencies, AnObjectIsFreshAgainAfterItsTask) {
  Dependency dependency;
  for (int i = 0; i < 10; ++i) {
    if (i % 2 == 0) reduce(dependency);
    create(i, dependency, 2);
    reduce(dependency, i % 2 == 0 ? 1 : 2);
    EXPECT_EQ(ready(), std::vector<int>{i});
    EXPECT_EQ(dependency.count, 0);
  }
}

TEST_F(Dependencies, ATaskIsReleasedOnceHoweverCreationAndReductionsMeet) {
  // The reducers' writes are plain: the released task must see them.
  constexpr int kReducers = 3;
  for (int repetition = 0; repetition < kRepetitions / 50; ++repetition) {
    constexpr int kTasks = 53;  // prime: each thread goes through them in another order
    std::vector<Dependency> dependencies(kTasks);
    std::vector<std::array<int, kReducers>> written(kTasks);
    together(kReducers + 1, [&](int thread) {
      for (int i = 0; i < kTasks; ++i) {
        const auto task = static_cast<std::size_t>((i * (2 * thread + 1) + repetition * thread) % kTasks);
        if (thread == kReducers) {
          create(static_cast<int>(task), dependencies[task], kReducers);
        } else {
          written[task][static_cast<std::size_t>(thread)] = repetition + 1;
          reduce(dependencies[task]);
        }
      }
    });
    const std::vector<int> items = ready();
    ASSERT_EQ(items.size(), static_cast<std::size_t>(kTasks));
    for (int i = 0; i < kTasks; ++i) {
      ASSERT_EQ(items[static_cast<std::size_t>(i)], i);
      for (const int by : written[static_cast<std::size_t>(i)]) ASSERT_EQ(by, repetition + 1);
    }
    ASSERT_EQ(waiting(), 0U);
  }
}

TEST_F(Dependencies, WhatAReducerWroteIsVisibleToWhoTakesTheTask) {
  // Three write and reduce, one creates, one takes: only dependency and queue order what is written and read.
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    Dependency dependency;
    std::array<int, 3> written{};
    int seen = 0;
    if (repetition % 100 == 0) bench_.ledger().total = 0;
    together(3, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      if (thread < 2) {
        written[t] = 1;
        reduce(dependency);
      } else {
        written[t] = 1;
        create(1, dependency, 2);
      }
      // Whoever gets the task reads.
      for (const int item : bench_.take_all<Waiter>()) seen += item * (written[0] + written[1] + written[2]);
    });
    if (seen == 0) {
      for (const int item : ready()) seen += item * (written[0] + written[1] + written[2]);
    }
    ASSERT_EQ(seen, 3);
    if (repetition >= kRepetitions / 5) break;  // starting threads is most of it
  }
}

TEST_F(Dependencies, AStorageAboveItsCapacitySuspendsTheRunAndAFullOneBreaksThePromise) {
  std::vector<Dependency> dependencies(257);
  for (int i = 0; i < 256; ++i) create(i, dependencies[static_cast<std::size_t>(i)], 1);
  EXPECT_EQ(bench_.ledger().stop, static_cast<std::uint32_t>(engine::Stop::none));
  create(256, dependencies[256], 1);
  EXPECT_EQ(bench_.ledger().stop, static_cast<std::uint32_t>(engine::Stop::broken_promise));
  EXPECT_EQ(bench_.ledger().stop_code, 1U) << "a storage, not a queue";
  EXPECT_EQ(waiting(), 256U);
  // Those that wait are unharmed.
  for (int i = 0; i < 256; ++i) reduce(dependencies[static_cast<std::size_t>(i)]);
  EXPECT_EQ(ready().size(), 256U);
}

TEST_F(Dependencies, TheFirstReasonToStopStays) {
  as_task([](auto& context) { context.fail(41); });
  as_task([](auto& context) { context.fail(42); });
  EXPECT_EQ(bench_.ledger().stop, static_cast<std::uint32_t>(engine::Stop::task_failed));
  EXPECT_EQ(bench_.ledger().stop_code, 41U);
}

TEST_F(Dependencies, AGroupReleasesAllWhoJoinedBefore) {
  DependencyGroup group;
  join(1, group);
  join(2, group);
  open(group, 2);
  join(3, group);
  reduce(group);
  EXPECT_TRUE(ready().empty());
  EXPECT_EQ(waiting(), 3U);
  reduce(group);
  EXPECT_EQ(ready(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(waiting(), 0U);
}

TEST_F(Dependencies, WhoJoinsAReleasedGroupIsReadyAtOnce) {
  DependencyGroup group;
  reduce(group, 2);
  join(1, group);
  EXPECT_TRUE(ready().empty()) << "resolved, and not opened";
  open(group, 2);
  EXPECT_EQ(ready(), std::vector<int>{1});
  join(2, group);
  EXPECT_EQ(ready(), std::vector<int>{2});
  EXPECT_EQ(group.waiting, DependencyGroup::kReleased);
}

TEST_F(Dependencies, AGroupThatWaitsForNothingIsReleasedWhenItIsOpened) {
  DependencyGroup group;
  join(1, group);
  open(group, 0);
  join(2, group);
  EXPECT_EQ(ready(), (std::vector<int>{1, 2}));
}

TEST_F(Dependencies, EachMemberOfAGroupIsReleasedOnceHoweverJoinsAndReductionsMeet) {
  for (int repetition = 0; repetition < kRepetitions / 10; ++repetition) {
    constexpr int kJoins = 20;
    DependencyGroup group;
    std::array<int, 2> written{};
    together(4, [&](int thread) {
      if (thread < 2) {
        for (int i = 0; i < kJoins; ++i) join(thread * kJoins + i, group);
        // What is taken was released: the reducers' plain writes are visible.
        for (const int item : bench_.take_all<Waiter>()) {
          if (written[0] + written[1] == 2) see(item);
        }
      } else {
        if (thread == 2) open(group, 2);
        written[static_cast<std::size_t>(thread) - 2] = 1;
        reduce(group);
      }
    });
    std::vector<int> items = ready();
    items.insert(items.end(), seen_.begin(), seen_.end());
    seen_.clear();
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items.size(), 2U * kJoins);
    for (int i = 0; i < 2 * kJoins; ++i) ASSERT_EQ(items[static_cast<std::size_t>(i)], i);
    ASSERT_EQ(waiting(), 0U);
  }
}

}  // namespace
}  // namespace taskdag::test
