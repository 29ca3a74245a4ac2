// The forms of Jacobi sweeps: on a backend all give the same bits, whatever the parts and the scheduler.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "backends.hpp"
#include "measure.hpp"
#include "papers/pichler/jacobi/parts.hpp"
#include "problems.hpp"
#include "support/device_code.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using engine::Scheduler;

TASKDAG_BACKEND_SUITE(JacobiFormsTest, test::everywhere());

constexpr JacobiForm kPrograms[] = {JacobiForm::stages_phases, JacobiForm::stages, JacobiForm::checkpoints,
                                    JacobiForm::autonomous};

/// Columns at random, a few rows that are long, one column that many read, no symmetry; rows without entries.
CsrMatrix uneven(Index rows, unsigned seed, bool empty_rows) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<Index> any(0, rows - 1);
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    std::vector<char> taken(static_cast<std::size_t>(rows), 0);
    const Index entries = i % 97 == 3 ? rows / 2 : empty_rows && i % 11 == 5 ? 0 : 1 + any(random) % 6;
    for (Index k = 0; k < entries; ++k) taken[static_cast<std::size_t>(any(random))] = 1;
    if (entries > 0) taken[static_cast<std::size_t>(i)] = 1;
    if (i % 3 == 0 && entries > 0) taken[static_cast<std::size_t>(rows / 3)] = 1;
    for (Index j = 0; j < rows; ++j) {
      if (taken[static_cast<std::size_t>(j)] == 0) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 2.0 * entries + 1.0 : 0.25 + 0.5 * static_cast<double>((i + j) % 5));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

std::vector<test::Problem> problems() {
  std::vector<test::Problem> result = test::small_problems();
  result.push_back({"uneven", uneven(1200, 7, true)});
  result.push_back({"arrow", test::arrow(700)});
  result.push_back({"upwind", make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50, .wind = 1.0})});
  return result;
}

TEST_P(JacobiFormsTest, AllGiveTheSameBits) {
  const std::vector<int> all_sweeps = test::kSanitized ? std::vector{4} : std::vector{2, 3, 8};
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const int sweeps : all_sweeps) {
      for (const Index part : {16, 1024}) {
        for (const Index long_row : {0, 40}) {
          JacobiOptions options{.sweeps = sweeps, .damping = 0.9, .part_entries = part, .long_row = long_row};
          options.form = JacobiForm::kernels;
          Jacobi plain = jacobi(problem.a, options);
          const std::vector<double> expected = apply(plain, b);
          for (const JacobiForm form : kPrograms) {
            for (const Scheduler scheduler :
                 test::built({Scheduler::automatic, Scheduler::timesliced, Scheduler::device_controller})) {
              if (scheduler != Scheduler::automatic && (sweeps == 3 || part == 1024)) continue;
              SCOPED_TRACE(problem.name + ", " + to_string(form) + ", " + engine::to_string(scheduler) + ", " +
                           std::to_string(sweeps) + " sweeps, parts of " + std::to_string(part) + ", rows long from " +
                           std::to_string(long_row));
              options.form = form;
              options.run.scheduler = scheduler;
              Jacobi j = jacobi(problem.a, options);
              EXPECT_EQ(j.form(), form);
              EXPECT_TRUE(test::same_bits(apply(j, b), expected));
              EXPECT_TRUE(test::same_bits(apply(j, b), expected)) << "the second time";
              if (problem.a.rows == 0) continue;
              const std::vector<EngineRun> runs = j.engine_runs();
              ASSERT_EQ(runs.size(), 1U);
              EXPECT_EQ(runs[0].report.slices, 2U);
            }
          }
        }
      }
    }
  }
}

TEST_P(JacobiFormsTest, TilesGiveTheBitsOfKernels) {
  std::vector<test::Problem> all = problems();
  all.push_back({"wide", make_stencil({.stencil = Stencil::five_point, .nx = 300, .ny = 200 / test::kSmaller})});
  all.push_back({"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 14, .ny = 13, .nz = 12})});
  all.push_back({"one way", test::tridiagonal(40000 / test::kSmaller, -1, 4, 0)});
  int done = 0;
  for (const test::Problem& problem : all) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const int sweeps : test::kSanitized ? std::vector{3, 25} : std::vector{2, 3, 4, 25}) {
      SCOPED_TRACE(problem.name + ", " + std::to_string(sweeps) + " sweeps");
      JacobiOptions options{.sweeps = sweeps, .damping = 0.7, .form = JacobiForm::kernels, .long_row = 0};
      Jacobi plain = jacobi(problem.a, options);
      const std::vector<double> expected = apply(plain, b);
      for (const JacobiForm form : {JacobiForm::tiles, JacobiForm::resident, JacobiForm::turning}) {
        SCOPED_TRACE(to_string(form));
        options.form = form;
        std::optional<Jacobi> tiles;
        try {
          tiles.emplace(jacobi(problem.a, options));
        } catch (const Unsupported&) {
          // A row needs all others.
          EXPECT_TRUE(problem.name == "uneven" || problem.name == "arrow" || problem.name.find("dense") == 0)
              << problem.name;
          continue;
        }
        EXPECT_EQ(tiles->form(), form);
        for (int repeat = 0; repeat < (test::kSanitized ? 1 : 3); ++repeat) {
          EXPECT_TRUE(test::same_bits(apply(*tiles, b), expected));
        }
        EXPECT_TRUE(test::same_bits(apply(*tiles, b, true), apply(plain, b, true)));
        ++done;
      }
    }
  }
  EXPECT_GT(done, 50);
}

TEST_P(JacobiFormsTest, ManySweepsOfSmallPartsInARow) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  const std::vector<double> b = test::right_hand_side(a.rows);
  JacobiOptions options{.sweeps = 60, .form = JacobiForm::kernels, .part_entries = 8};
  Jacobi plain = jacobi(a, options);
  const std::vector<double> expected = apply(plain, b);
  for (const JacobiForm form :
       {JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    options.form = form;
    Jacobi j = jacobi(a, options);
    for (int run = 0; run < (test::kSanitized ? 3 : 20); ++run)
      ASSERT_TRUE(test::same_bits(apply(j, b), expected)) << to_string(form);
  }
}

TEST_P(JacobiFormsTest, NewValuesCount) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10});
  CsrMatrix other = a;
  other.values = test::other_values(a.values);
  const std::vector<double> b = test::right_hand_side(a.rows);
  JacobiOptions options{.sweeps = 4, .form = JacobiForm::kernels};
  Jacobi plain = jacobi(other, options);
  const std::vector<double> expected = apply(plain, b);
  for (const JacobiForm form : {JacobiForm::automatic, JacobiForm::stages, JacobiForm::checkpoints,
                                JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    options.form = form;
    Jacobi j = jacobi(a, options);
    static_cast<void>(apply(j, b));
    test::MatrixArrays arrays = place(other);
    j.update_values(arrays.view(), space(), stream());
    EXPECT_TRUE(test::same_bits(apply(j, b), expected)) << to_string(form);
  }
}

TEST_P(JacobiFormsTest, WhatIsLargerThanTheCacheTurns) {
  if (test::kSanitized) GTEST_SKIP() << "a large matrix";
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 1200, .ny = 1000});
  const std::vector<double> b = test::right_hand_side(a.rows);
  JacobiOptions options{.sweeps = 3, .form = JacobiForm::kernels};
  Jacobi plain = jacobi(a, options);
  options.form = JacobiForm::automatic;
  Jacobi chosen = jacobi(a, options);
  EXPECT_TRUE(test::same_bits(apply(chosen, b), apply(plain, b)));
  // A device may have a cache for all of it.
  EXPECT_TRUE(chosen.form() == JacobiForm::kernels ||
              (context().backend() == Backend::cuda && chosen.form() == JacobiForm::turning))
      << to_string(chosen.form());
}

TEST_P(JacobiFormsTest, NotANumberGoesAsFarAsSweepsCarryIt) {
  const CsrMatrix a = test::tridiagonal(500, -1, 4, -1);
  std::vector<double> b = test::right_hand_side(a.rows);
  b[250] = std::numeric_limits<double>::quiet_NaN();
  b[20] = std::numeric_limits<double>::infinity();
  for (const JacobiForm form :
       {JacobiForm::kernels, JacobiForm::turning, JacobiForm::stages_phases, JacobiForm::stages,
        JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    Jacobi j = jacobi(a, {.sweeps = 5, .form = form, .part_entries = 8});
    const std::vector<double> x = apply(j, b);
    for (std::size_t i = 246; i <= 254; ++i) EXPECT_TRUE(std::isnan(x[i])) << to_string(form) << ' ' << i;
    EXPECT_FALSE(std::isnan(x[245])) << to_string(form);
    EXPECT_FALSE(std::isnan(x[255])) << to_string(form);
    EXPECT_FALSE(std::isfinite(x[22])) << to_string(form);
  }
}

struct Solved {
  JacobiOutcome outcome;
  std::vector<double> x;
};

class JacobiSolveTest : public test::BackendTest {
 protected:
  Solved solve(Jacobi& j, const std::vector<double>& b, const std::vector<double>& start, const JacobiStop& stop) {
    test::Array<double> rhs = place(b);
    test::Array<double> x = place(start);
    const JacobiOutcome outcome = j.solve(rhs.data(), x.data(), space(), stop, stream());
    return {outcome, x.read()};
  }
};
INSTANTIATE_TEST_SUITE_P(On, JacobiSolveTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(JacobiSolveTest, EndsWhereTheChangeIsSmallEnough) {
  std::vector<test::Problem> all;
  all.push_back({"stencil", make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 20, .wind = 0.5})});
  all.push_back({"uneven", uneven(900, 3, false)});
  for (const test::Problem& problem : all) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    const std::vector<double> zero(b.size(), 0.0);
    const JacobiOptions options{
        .damping = 0.6, .keep_matrix = true, .form = JacobiForm::kernels, .part_entries = 64, .long_row = 100};
    Jacobi plain = jacobi(problem.a, options);
    const Solved one = solve(plain, b, zero, {.tolerance = 1e-3, .max_sweeps = 4000, .check_every = 1});
    ASSERT_TRUE(one.outcome.converged);
    ASSERT_GT(one.outcome.sweeps, 20);
    for (const JacobiForm form : kPrograms) {
      for (const int every : {7, 1, 10}) {
        if (test::kSanitized && every != 7) continue;
        SCOPED_TRACE(problem.name + ", " + to_string(form) + ", every " + std::to_string(every));
        JacobiOptions own = options;
        own.form = form;
        Jacobi j = jacobi(problem.a, own);
        for (int repeat = 0; repeat < 2; ++repeat) {
          const Solved solved = solve(j, b, zero, {.tolerance = 1e-3, .max_sweeps = 4000, .check_every = every});
          EXPECT_TRUE(solved.outcome.converged);
          EXPECT_LE(solved.outcome.change, 1e-3);
          // Those that look at each sweep end at the very sweep; others at the next multiple.
          const int sweeps =
              form == JacobiForm::checkpoints ? (one.outcome.sweeps + every - 1) / every * every : one.outcome.sweeps;
          EXPECT_EQ(solved.outcome.sweeps, sweeps);
          Jacobi fixed = jacobi(
              problem.a,
              {.sweeps = sweeps, .damping = 0.6, .form = JacobiForm::kernels, .part_entries = 64, .long_row = 100});
          EXPECT_TRUE(test::same_bits(solved.x, apply(fixed, b)));
        }
      }
    }
  }
}

TEST_P(JacobiSolveTest, GoesOnFromWhatIsThere) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> zero(b.size(), 0.0);
  for (const JacobiForm form :
       {JacobiForm::automatic, JacobiForm::kernels, JacobiForm::turning, JacobiForm::stages_phases, JacobiForm::stages,
        JacobiForm::checkpoints, JacobiForm::autonomous}) {
    Jacobi j = jacobi(a, {.sweeps = 30, .form = form, .part_entries = 32});
    const JacobiStop ten{.tolerance = 0.0, .max_sweeps = 10, .check_every = 5};
    const Solved first = solve(j, b, zero, ten);
    EXPECT_FALSE(first.outcome.converged);
    EXPECT_EQ(first.outcome.sweeps, 10);
    const Solved second = solve(j, b, solve(j, b, first.x, ten).x, ten);
    EXPECT_TRUE(test::same_bits(second.x, apply(j, b))) << to_string(form);
    EXPECT_LT(second.outcome.change, first.outcome.change);
  }
}

TEST_P(JacobiSolveTest, EndsWithoutConvergence) {
  const CsrMatrix diverges = test::tridiagonal(300, -3, 1, -3);
  const CsrMatrix converges = test::tridiagonal(300, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(300);
  std::vector<double> bad = b;
  bad[100] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> zero(b.size(), 0.0);
  for (const JacobiForm form : {JacobiForm::kernels, JacobiForm::stages_phases, JacobiForm::stages,
                                JacobiForm::checkpoints, JacobiForm::autonomous}) {
    SCOPED_TRACE(to_string(form));
    const JacobiOptions options{.keep_matrix = true, .form = form, .part_entries = 16};
    Jacobi wild = jacobi(diverges, options);
    const Solved infinite = solve(wild, b, zero, {.max_sweeps = 100000, .check_every = 50});
    EXPECT_FALSE(infinite.outcome.converged);
    EXPECT_FALSE(std::isfinite(infinite.outcome.change));
    EXPECT_LT(infinite.outcome.sweeps, 2000);
    Jacobi tame = jacobi(converges, options);
    const Solved poisoned = solve(tame, bad, zero, {.max_sweeps = 100, .check_every = 10});
    EXPECT_FALSE(poisoned.outcome.converged);
    EXPECT_TRUE(std::isnan(poisoned.outcome.change));
    // What came before does not matter.
    const Solved well = solve(tame, b, zero, {.tolerance = 1e-8, .max_sweeps = 200, .check_every = 10});
    EXPECT_TRUE(well.outcome.converged);
  }
}

TEST_P(JacobiSolveTest, RefusesWhatItCannotDo) {
  const CsrMatrix a = test::tridiagonal(300, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(300);
  Jacobi without = jacobi(a, {});
  EXPECT_THROW(static_cast<void>(solve(without, b, b, {})), InvalidInput);
  Jacobi resident = jacobi(a, {.sweeps = 3, .form = JacobiForm::resident});
  EXPECT_THROW(static_cast<void>(solve(resident, b, b, {})), InvalidInput);
  Jacobi j = jacobi(a, {.sweeps = 3});
  EXPECT_THROW(static_cast<void>(solve(j, b, b, {.tolerance = -1.0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(solve(j, b, b, {.tolerance = std::nan("")})), InvalidInput);
  EXPECT_THROW(static_cast<void>(solve(j, b, b, {.max_sweeps = 0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(solve(j, b, b, {.check_every = 0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(jacobi(a, {.sweeps = 2, .part_entries = 0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(jacobi(a, {.sweeps = 2, .long_row = -1})), InvalidInput);
  EXPECT_THROW(static_cast<void>(jacobi(a, {.sweeps = 100'000'000, .form = JacobiForm::stages, .part_entries = 4})),
               Unsupported);
}

TEST(JacobiPartsTest, CoverEachEntryOnceAndNameWhatTheyNeed) {
  for (const test::Problem& problem : problems()) {
    for (const Index long_row : {0, 25}) {
      SCOPED_TRACE(problem.name);
      const kernels::JacobiParts parts(problem.a.pattern(), 20, long_row);
      Index row = 0;
      Offset entry = 0;
      for (std::uint32_t p = 0; p < parts.size(); ++p) {
        const kernels::JacobiPart& part = parts.part[p];
        EXPECT_EQ(part.begin, entry);
        EXPECT_EQ(part.row, row);
        entry = part.end;
        if (part.pieces == 0) {
          EXPECT_GT(part.rows, 0);
          EXPECT_TRUE(part.rows == 1 || part.end - part.begin <= 20);
          row += part.rows;
        } else if (static_cast<Index>(p) == part.first_piece + part.pieces - 1) {
          ++row;
        }
        if (parts.needs_all(p)) continue;
        const auto begin = parts.need.begin() + parts.need_begin[p];
        const auto end = parts.need.begin() + parts.need_begin[p + 1];
        EXPECT_TRUE(std::is_sorted(begin, end));
        const auto self = part.pieces > 0 ? part.first_piece : static_cast<Index>(p);
        EXPECT_TRUE(std::binary_search(begin, end, self));
        for (auto q = begin; q != end; ++q) {
          EXPECT_LE(static_cast<std::uint32_t>(*q), p + parts.reach);
          // Whom a part waits for waits for it, or for everybody.
          const auto other = static_cast<std::uint32_t>(*q);
          EXPECT_TRUE(parts.needs_all(other) ||
                      std::binary_search(parts.need.begin() + parts.need_begin[other],
                                         parts.need.begin() + parts.need_begin[other + 1], static_cast<Index>(p)));
        }
      }
      EXPECT_EQ(row, problem.a.rows);
      EXPECT_EQ(entry, problem.a.pattern().entries());
      for (const std::uint32_t skew : {parts.reach + 1, parts.reach + 3, parts.size() + 1}) {
        if (parts.some_need_all && skew < parts.size()) continue;
        std::vector<std::uint32_t> done(parts.size(), 0);
        const auto order = kernels::skewed_order(parts, 4, skew);
        EXPECT_EQ(order.size(), std::size_t{4} * parts.size());
        for (const kernels::JacobiTask& task : order) {
          EXPECT_EQ(done[task.part], task.sweep);
          for (std::uint32_t k = parts.need_begin[task.part]; k < parts.need_begin[task.part + 1]; ++k) {
            EXPECT_GE(done[static_cast<std::size_t>(parts.need[k])], task.sweep);
          }
          ++done[task.part];
        }
      }
    }
  }
}

TEST(JacobiNamesTest, LeadBack) {
  for (const JacobiForm form :
       {JacobiForm::automatic, JacobiForm::kernels, JacobiForm::turning, JacobiForm::stages_phases, JacobiForm::stages,
        JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    EXPECT_EQ(jacobi_form_from(to_string(form)), form);
  }
  EXPECT_THROW(static_cast<void>(jacobi_form_from("steps")), InvalidInput);
}

}  // namespace
}  // namespace taskdag
