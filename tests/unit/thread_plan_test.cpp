// Plans are made with costs of zero for hand-overs, so that small problems are shared too.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "dag/chunks.hpp"
#include "dag/dependencies.hpp"
#include "dag/plan_executor.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

constexpr PlanCosts kFreeHops{.entry = 1, .row = 4, .chunk = 0, .hop = 0, .least_share = 1};

std::vector<CsrMatrix> matrices() {
  std::vector<CsrMatrix> result;
  result.push_back(make_stencil({.stencil = Stencil::five_point, .nx = 70, .ny = 40}));
  result.push_back(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7}));
  result.push_back(make_erdos_renyi_lower(700, 0.005, 3));
  return result;
}

struct Depths {
  std::vector<Index> depth;
  explicit Depths(Index rows) : depth(static_cast<std::size_t>(rows), -1) {}
  /// A task that any missed hand-over makes wrong, and that a race detector sees.
  void run(const CsrPattern& pattern, Triangle triangle, Index row) {
    Index deepest = -1;
    for (const Index column : dependencies(pattern, triangle, row)) {
      const Index other = depth[static_cast<std::size_t>(column)];
      deepest = std::max(deepest, other < 0 ? pattern.rows : other);
    }
    depth[static_cast<std::size_t>(row)] = deepest + 1;
  }
};

std::vector<Index> serial_depths(const CsrPattern& pattern, Triangle triangle) {
  Depths depths(pattern.rows);
  for (Index step = 0; step < pattern.rows; ++step) {
    depths.run(pattern, triangle, triangle == Triangle::lower ? step : pattern.rows - 1 - step);
  }
  return depths.depth;
}

std::vector<Index> planned_depths(PlanExecutor& executor, const CsrPattern& pattern, Triangle triangle) {
  Depths depths(pattern.rows);
  executor.run([&](int, Index first, Index last) {
    for (Index p = first; p < last; ++p) {
      depths.run(pattern, triangle, executor.plan().order()[p]);
    }
  });
  return depths.depth;
}

TEST(Chunks, HoldEveryRowOnceAndWaitForEarlierOnesOnly) {
  for (const CsrMatrix& a : matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const Index most : {1, 7, 32, 100000}) {
        const Chunks chunks = make_chunks(a.pattern(), triangle, most);
        EXPECT_EQ(chunks.first_step.front(), 0);
        EXPECT_EQ(chunks.first_step.back(), a.rows);
        EXPECT_NO_THROW(validate(chunks.dependencies(), {.square = true}));
        for (Index c = 0; c < chunks.count(); ++c) {
          const Index size =
              chunks.first_step[static_cast<std::size_t>(c) + 1] - chunks.first_step[static_cast<std::size_t>(c)];
          EXPECT_GE(size, 1);
          EXPECT_LE(size, most);
          for (Offset e = chunks.row_offsets[static_cast<std::size_t>(c)];
               e < chunks.row_offsets[static_cast<std::size_t>(c) + 1]; ++e) {
            EXPECT_LT(chunks.col_indices[static_cast<std::size_t>(e)], c);
          }
        }
      }
    }
  }
}

TEST(Chunks, EndWhereGridLinesEnd) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 100, .ny = 3});
  EXPECT_EQ(make_chunks(a.pattern(), Triangle::lower, 128).first_step, (std::vector<Index>{0, 100, 200, 300}));
  EXPECT_EQ(make_chunks(a.pattern(), Triangle::upper, 128).first_step, (std::vector<Index>{0, 100, 200, 300}));
}

TEST(ThreadPlan, OrdersEveryRowOnce) {
  for (const CsrMatrix& a : matrices()) {
    for (const int threads : {1, 2, 8}) {
      const ThreadPlan plan(a.pattern(), Triangle::lower, threads, kFreeHops);
      std::vector<Index> rows;
      for (Index p = 0; p < plan.rows(); ++p) rows.push_back(plan.order()[p]);
      std::ranges::sort(rows);
      for (Index i = 0; i < a.rows; ++i) ASSERT_EQ(rows[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(plan.first_position(plan.threads()), a.rows);
    }
  }
}

TEST(ThreadPlan, LeavesAChainToOneThreadInNaturalOrder) {
  const CsrMatrix chain = make_stencil({.stencil = Stencil::five_point, .nx = 3000, .ny = 1});
  const ThreadPlan plan(chain.pattern(), Triangle::upper, 4);
  EXPECT_EQ(plan.threads(), 1);
  EXPECT_EQ(plan.order()[0], 2999);
  EXPECT_EQ(plan.order()[2999], 0);
}

TEST(ThreadPlan, SharesAWideGrid) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::seven_point, .nx = 40, .ny = 40, .nz = 40});
  EXPECT_EQ(ThreadPlan(grid.pattern(), Triangle::lower, 2).threads(), 2);
  EXPECT_EQ(ThreadPlan(grid.pattern(), Triangle::upper, 2).threads(), 2);
}

TEST(ThreadPlan, TakesEmptyPatterns) {
  const CsrMatrix empty;
  EXPECT_EQ(ThreadPlan(empty.pattern(), Triangle::lower, 3).threads(), 1);
}

TEST(PlanExecutor, RunsRowsAfterWhatTheyWaitForWithMoreThreadsThanProcessors) {
  for (const int threads : {2, 3, 8}) {
    host::ThreadPool pool(threads);
    for (const CsrMatrix& a : matrices()) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        PlanExecutor executor(std::make_shared<const ThreadPlan>(a.pattern(), triangle, threads, kFreeHops), pool);
        const auto expected = serial_depths(a.pattern(), triangle);
        for (int repeat = 0; repeat < 10; ++repeat) {
          ASSERT_EQ(planned_depths(executor, a.pattern(), triangle), expected);
        }
      }
    }
  }
}

TEST(PlanExecutor, RunsInAForkedChildToo) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 70, .ny = 40});
  host::ThreadPool pool(3);
  PlanExecutor executor(std::make_shared<const ThreadPlan>(a.pattern(), Triangle::lower, 3, kFreeHops), pool);
  ASSERT_EQ(executor.plan().threads(), 3);
  const auto expected = serial_depths(a.pattern(), Triangle::lower);
  pool.run([](int) {});  // a thread that is just starting may hold a lock that the child would wait for
  const pid_t child = fork();
  if (child == 0) {
    _exit(!pool.concurrent() && planned_depths(executor, a.pattern(), Triangle::lower) == expected ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace taskdag
