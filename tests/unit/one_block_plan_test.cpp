// The plan of the schedule one-block, executed here as its kernel does: each row once, operands only from before a
// barrier that separates them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/sptrsv/schedules/one_block/plan.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::kernels::one_block {
namespace {

struct Triangles {
  CsrMatrix lower;
  CsrMatrix upper;
};

/// The strict triangles, each a matrix of its own.
Triangles split_up(const CsrMatrix& a) {
  Triangles parts;
  for (CsrMatrix* part : {&parts.lower, &parts.upper}) {
    part->rows = part->cols = a.rows;
    part->row_offsets = {0};
  }
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      if (j == i) continue;
      CsrMatrix& part = j < i ? parts.lower : parts.upper;
      part.col_indices.push_back(j);
      part.values.push_back(a.values[static_cast<std::size_t>(e)]);
    }
    for (CsrMatrix* part : {&parts.lower, &parts.upper}) {
      part->row_offsets.push_back(static_cast<Offset>(part->values.size()));
    }
  }
  return parts;
}

StrictTriangle view_of(const CsrMatrix& part, Triangle triangle) {
  return {part.rows, part.row_offsets.data(), part.row_offsets.data() + 1, part.col_indices.data(), triangle};
}

/// Runs the steps of all parts on x in place, with unit pivots, and looks at what they read.
class Run {
 public:
  Run(const Plan& plan, const std::vector<const CsrMatrix*>& parts, std::vector<double>& x)
      : plan_(plan), triangles_(parts), x_(x), written_in_(x.size(), -1) {}

  void all() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (sweep_ + 1 < plan_.sweeps.size() &&
          static_cast<std::size_t>(plan_.steps[s].first_row) == plan_.sweeps[sweep_ + 1].first_row) {
        ++sweep_;
      }
      step(plan_.steps[s]);
      if (plan_.steps[s].barrier == Barrier::warp) {
        EXPECT_EQ(plan_.steps[s].width, kWarp);
        ASSERT_LT(s + 1, plan_.steps.size());
        EXPECT_EQ(plan_.steps[s + 1].width, kWarp);
      }
      if (plan_.steps[s].barrier != Barrier::none) ++phase_;
    }
  }

  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  void step(const Step& step) {
    const int lanes = 1 << step.lanes_log;
    ASSERT_LE(step.width, plan_.threads);
    ASSERT_EQ(step.width % kWarp, 0);
    for (int thread = 0; thread < step.width; thread += lanes) {
      const Index row = plan_.row[static_cast<std::size_t>(step.first_row + thread / lanes)];
      double sum = 0.0;
      for (int lane = 0; lane < lanes; ++lane) {
        for (int k = 0; k < step.records; ++k) {
          const auto record = static_cast<std::size_t>(step.first_record + k * step.width + thread + lane);
          for (std::size_t e = 0; e < kRecord; ++e) sum += product(record * kRecord + e, row >= 0);
        }
      }
      if (row < 0) continue;
      EXPECT_NE(written_in_[static_cast<std::size_t>(row)], phase_) << "row " << row << " twice";
      x_[static_cast<std::size_t>(row)] -= sum;
      written_in_[static_cast<std::size_t>(row)] = phase_;
      ++taken_;
    }
  }

  double product(std::size_t slot, bool has_row) {
    const Index column = plan_.column[slot];
    const Offset source = plan_.source[slot];
    EXPECT_EQ(column < 0, source < 0);
    if (column < 0) return 0.0;
    EXPECT_TRUE(has_row);
    EXPECT_NE(written_in_[static_cast<std::size_t>(column)], phase_) << "nothing separates the row from its operand";
    EXPECT_EQ(triangles_[sweep_]->col_indices[static_cast<std::size_t>(source)], column);
    return triangles_[sweep_]->values[static_cast<std::size_t>(source)] * x_[static_cast<std::size_t>(column)];
  }

  const Plan& plan_;
  const std::vector<const CsrMatrix*>& triangles_;
  std::vector<double>& x_;
  std::vector<int> written_in_;  // by row: the phase
  int phase_ = 0;
  std::size_t sweep_ = 0;
  std::size_t taken_ = 0;
};

/// x in place, by rows of the triangle one after the other.
void solve(const CsrMatrix& part, Triangle triangle, std::vector<double>& x) {
  for (Index k = 0; k < part.rows; ++k) {
    const auto i = static_cast<std::size_t>(triangle == Triangle::lower ? k : part.rows - 1 - k);
    for (Offset e = part.row_offsets[i]; e < part.row_offsets[i + 1]; ++e) {
      x[i] -= part.values[static_cast<std::size_t>(e)] *
              x[static_cast<std::size_t>(part.col_indices[static_cast<std::size_t>(e)])];
    }
  }
}

void expect_solves(const CsrMatrix& a) {
  const Triangles parts = split_up(a);
  const Plan plan = make_plan({view_of(parts.lower, Triangle::lower), view_of(parts.upper, Triangle::upper)});
  ASSERT_EQ(plan.sweeps.size(), 2U);
  std::vector<double> x(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 + 0.01 * static_cast<double>(i % 17);
  std::vector<double> expected = x;
  const std::vector<const CsrMatrix*> both = {&parts.lower, &parts.upper};
  Run run(plan, both, x);
  run.all();
  EXPECT_EQ(run.taken(), 2 * static_cast<std::size_t>(a.rows));
  solve(parts.lower, Triangle::lower, expected);
  solve(parts.upper, Triangle::upper, expected);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(x[i], expected[i], 1e-12 * (1.0 + std::abs(expected[i]))) << "row " << i;
  }
}

/// Values so small that solutions stay in range.
CsrMatrix damped(CsrMatrix a) {
  for (double& value : a.values) value = std::copysign(0.03, value);
  return a;
}

TEST(OneBlockPlan, RunsEveryRowOnceBehindABarrier) {
  expect_solves(damped(make_stencil({.stencil = Stencil::five_point, .nx = 45, .ny = 45})));
  expect_solves(damped(make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11})));
  expect_solves(damped(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 8, .ny = 9, .nz = 7})));
}

TEST(OneBlockPlan, TakesRowsOfEveryLength) {
  std::mt19937 random(7);
  const Index n = 700;
  CsrMatrix a;
  a.rows = a.cols = n;
  a.row_offsets = {0};
  for (Index i = 0; i < n; ++i) {
    const bool dense = i % 97 == 5;
    for (Index j = 0; j < n; ++j) {
      const bool taken = i == j || dense || std::uniform_int_distribution<int>(0, n)(random) < i % 12;
      if (!taken) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 1.0 : 0.001);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  expect_solves(a);
}

TEST(OneBlockPlan, AChainIsOneWarps) {
  CsrMatrix a;
  a.rows = a.cols = 300;
  a.row_offsets = {0};
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= a.rows) continue;
      a.col_indices.push_back(j);
      a.values.push_back(0.5);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  const Triangles parts = split_up(a);
  const Plan plan = make_plan({view_of(parts.lower, Triangle::lower)});
  ASSERT_EQ(plan.steps.size(), 300U);
  EXPECT_EQ(plan.sweeps[0].levels, 300);
  for (std::size_t s = 0; s + 1 < plan.steps.size(); ++s) EXPECT_EQ(plan.steps[s].barrier, Barrier::warp);
  EXPECT_EQ(plan.steps.back().barrier, Barrier::block);
  expect_solves(a);
}

TEST(OneBlockPlan, RunsPayTheSoonerTheMoreStepsThereAre) {
  const auto runs = [](const CsrMatrix& a) {
    const Triangles t = split_up(a);
    return runs_that_pay(make_plan({view_of(t.lower, Triangle::lower), view_of(t.upper, Triangle::upper)}));
  };
  const auto plane = [](Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n}); };
  EXPECT_EQ(runs(plane(45)), 15000 / (2 * 89));  // a level is a step
  EXPECT_EQ(runs(plane(63)), 15000 / (2 * 125));
  EXPECT_EQ(runs(make_stencil({.stencil = Stencil::five_point, .nx = 20000, .ny = 1})), 1) << "a chain";
  EXPECT_EQ(runs_that_pay(Plan{}), 15000) << "nothing";
  // Of a row by 32 lanes with three records each, the second and the third take as long as steps.
  CsrMatrix arrow;
  arrow.rows = arrow.cols = 385;
  for (Index i = 0; i < 385; ++i) {
    for (Index j = i == 384 ? 0 : i; j <= i; ++j) arrow.col_indices.push_back(j);
    arrow.row_offsets.push_back(static_cast<Offset>(arrow.col_indices.size()));
  }
  arrow.values.assign(arrow.col_indices.size(), 1.0);
  const Triangles t = split_up(arrow);
  const Plan plan = make_plan({view_of(t.lower, Triangle::lower)});
  const auto steps = static_cast<Index>(plan.steps.size());
  EXPECT_EQ(runs_that_pay(plan), 15000 / (steps + 2));
}

TEST(OneBlockPlan, NothingAndADiagonal) {
  EXPECT_TRUE(make_plan({{}}).steps.empty());
  CsrMatrix a;
  a.rows = a.cols = 2500;
  a.row_offsets.resize(2501);
  const Plan plan = make_plan({view_of(a, Triangle::lower)});
  EXPECT_EQ(plan.threads, kMostThreads);
  ASSERT_EQ(plan.steps.size(), 5U);
  EXPECT_EQ(plan.steps[0].barrier, Barrier::none);
  EXPECT_TRUE(plan.column.empty());
}

}  // namespace
}  // namespace taskdag::kernels::one_block
