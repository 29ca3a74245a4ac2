// The schedules of numeric factorisations, FactorOptions::factor_schedule: each is right, and finds of pivots and
// shifts what the serial reference finds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "base/handover.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(FactorScheduleTest, test::everywhere());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string to_text(const std::string& problem, const FactorOptions& options) {
  return problem + (options.kind == FactorKind::ic ? ", ic, " : ", ilu, ") + to_string(options.factor_schedule) +
         ", shift " + std::to_string(static_cast<int>(options.shift));
}

/// One host thread.
struct Serial {
  Factorization f;
  FactorStatus status;
  Serial(const CsrMatrix& a, FactorOptions options, const std::vector<Index>& row_order = {},
         const std::vector<Index>& col_order = {})
      : f(Context::create({.backend = Backend::host, .threads = 1}), a.pattern(), MemorySpace::host, plain(options),
          row_order, col_order),
        status(f.factor(a.values.data(), MemorySpace::host)) {}

 private:
  static FactorOptions plain(FactorOptions options) {
    options.factor_schedule = FactorSchedule::automatic;
    options.schedule = SolveSchedule::automatic;
    return options;
  }
};

void expect_equal(const FactorStatus& found, const FactorStatus& expected) {
  EXPECT_EQ(found.outcome, expected.outcome);
  EXPECT_EQ(found.first_row, expected.first_row);
  EXPECT_EQ(found.last_row, expected.last_row);
  EXPECT_EQ(found.last_pivot, expected.last_pivot);
  EXPECT_EQ(found.shifts, expected.shifts);
  EXPECT_EQ(found.shift_amount, expected.shift_amount);
}

TEST_P(FactorScheduleTest, FactorsAndApplicationsMatchTheReference) {
  for (const Problem& problem : test::small_problems()) {
    CsrMatrix other = problem.a;
    other.values = test::other_values(problem.a.values);
    other = test::made_dominant(other);
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const FactorKind kind : kKinds) {
      for (const FactorSchedule schedule : factor_schedules(context().backend())) {
        const FactorOptions options{.kind = kind, .factor_schedule = schedule};
        SCOPED_TRACE(to_text(problem.name, options));
        Factorization f = factorization(problem.a, options);
        std::vector<double> first;
        const CsrMatrix* const in_turn[] = {&problem.a, &other, &problem.a};
        for (const CsrMatrix* const a : in_turn) {
          ASSERT_TRUE(factor(f, a->values).ok());
          const CsrMatrix computed = f.copy_factor();
          FactorStatus unused;
          EXPECT_LE(test::factor_difference(computed, test::reference_factor(*a, options, 0.0, unused)),
                    test::kForwardBound);
          EXPECT_LE(test::factor_error(*a, computed, kind), 1.0);
          for (const bool transposed : {false, true}) {
            EXPECT_LE(test::difference(apply(f, transposed ? Apply::transposed : Apply::full, b),
                                       test::reference_apply(computed, kind, transposed, b)),
                      test::kForwardBound);
          }
          if (a != &problem.a) continue;
          if (first.empty()) first = computed.values;
          EXPECT_TRUE(test::same_bits(computed.values, first));
        }
        EXPECT_EQ(f.outcome(), SolveOutcome::success);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST_P(FactorScheduleTest, OrdersFillAndTheDiagonalAloneAreRight) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5});
  const std::vector<Index> rcm = reverse_cuthill_mckee(context(), grid.pattern(), MemorySpace::host);
  const CsrMatrix full = test::mirrored(make_erdos_renyi_lower(60, 0.98, 7), 0.75);
  std::vector<Index> turned(static_cast<std::size_t>(full.rows));
  for (std::size_t i = 0; i < turned.size(); ++i) turned[i] = static_cast<Index>(turned.size() - 1 - i);
  std::vector<Index> natural(turned.rbegin(), turned.rend());
  const CsrMatrix rows_turned = test::permuted(full, turned, natural);
  struct Case {
    std::string name;
    const CsrMatrix* a;
    FactorOptions options;
    std::vector<Index> rows;
    std::vector<Index> columns;
  };
  std::vector<Case> cases;
  for (const FactorKind kind : kKinds) {
    cases.push_back({"rcm", &grid, {.kind = kind}, rcm, rcm});
    cases.push_back({"level 1", &grid, {.kind = kind, .levels = 1}, {}, {}});
    cases.push_back({"level 2 and rcm", &grid, {.kind = kind, .levels = 2}, rcm, rcm});
    cases.push_back({"diagonal alone", &grid, {.kind = kind, .diagonal_only = true}, rcm, rcm});
    cases.push_back({"diagonal alone, long rows", &full, {.kind = kind, .diagonal_only = true}, {}, {}});
  }
  cases.push_back({"two orders", &rows_turned, {}, turned, {}});
  for (Case& c : cases) {
    const Serial expected(*c.a, c.options, c.rows, c.columns);
    for (const FactorSchedule schedule : factor_schedules(context().backend())) {
      c.options.factor_schedule = schedule;
      SCOPED_TRACE(to_text(c.name, c.options));
      Factorization f = factorization(*c.a, c.options, c.rows, c.columns);
      const FactorStatus status = factor(f, c.a->values);
      EXPECT_EQ(status.outcome, expected.status.outcome);
      EXPECT_LE(test::factor_difference(f.copy_factor(), expected.f.copy_factor()), test::kForwardBound);
      EXPECT_EQ(f.info().diagonal_only, c.options.diagonal_only);
    }
  }
}

TEST_P(FactorScheduleTest, PivotsOfZeroAreReportedAsTheReferenceDoes) {
  // Pivots 2, 0, and of what follows some that are not finite and some that are; the last row is alone.
  CsrMatrix chain = test::tridiagonal(40, -1, 2, -1);
  chain.values[3] = 0.5;
  CsrMatrix diagonal = test::tridiagonal(600, 0, 4, 0);
  for (const std::size_t i : {std::size_t{3}, std::size_t{300}, std::size_t{599}}) diagonal.values[i] = 0.0;
  diagonal.values[300] = -1e-20;
  for (const Problem& problem : {Problem{"chain", chain}, Problem{"diagonal", diagonal}}) {
    for (const FactorKind kind : kKinds) {
      for (const FactorSchedule schedule : factor_schedules(context().backend())) {
        const FactorOptions options{.kind = kind, .factor_schedule = schedule};
        SCOPED_TRACE(to_text(problem.name, options));
        FactorStatus expected;
        static_cast<void>(test::reference_factor(problem.a, options, 0.0, expected));
        Factorization f = factorization(problem.a, options);
        for (int repeat = 0; repeat < 2; ++repeat) expect_equal(factor(f, problem.a.values), expected);
        EXPECT_EQ(expected.outcome, FactorOutcome::zero_pivot);
      }
    }
  }
}

TEST_P(FactorScheduleTest, ValuesThatAreNotFiniteEndAndAreReported) {
  const CsrMatrix good = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5});
  const std::vector<double> b = test::right_hand_side(good.rows);
  for (const double bad : {kNan, std::numeric_limits<double>::infinity(), not_yet()}) {
    for (const bool everywhere : {false, true}) {
      CsrMatrix broken = good;
      for (Index row = 0; row < good.rows; ++row) {
        for (auto e = static_cast<std::size_t>(good.row_offsets[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(good.row_offsets[static_cast<std::size_t>(row) + 1]); ++e) {
          if (everywhere || (row == 7 && good.col_indices[e] == 7)) broken.values[e] = bad;
        }
      }
      for (const FactorKind kind : kKinds) {
        for (const FactorSchedule schedule : factor_schedules(context().backend())) {
          const FactorOptions options{.kind = kind, .factor_schedule = schedule};
          SCOPED_TRACE(to_text(std::to_string(bad) + (everywhere ? " everywhere" : ""), options));
          const Serial expected(broken, options);
          Factorization f = factorization(broken, options);
          const FactorStatus status = factor(f, broken.values);
          EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
          EXPECT_EQ(status.outcome, expected.status.outcome);
          EXPECT_EQ(status.first_row, expected.status.first_row);
          // A pivot that is infinite is divided by.
          static_cast<void>(apply(f, Apply::full, b));
          EXPECT_EQ(f.outcome(), std::isinf(bad) && !everywhere ? SolveOutcome::success : SolveOutcome::non_finite);
          ASSERT_TRUE(factor(f, good.values).ok());  // and good values after that
          EXPECT_TRUE(test::all_finite(apply(f, Apply::full, b)));
        }
      }
    }
  }
}

TEST_P(FactorScheduleTest, ShiftsAreThoseOfTheReference) {
  CsrMatrix zero = test::tridiagonal(40, -1, 4, -1);
  zero.values[0] = 0.0;
  CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5});
  for (std::size_t e = 0; e < grid.values.size(); e += 7) grid.values[e] *= -0.5;
  const Problem problems[] = {
      {"zero in the first row", zero},
      {"eliminated to zero", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}}},
      {"indefinite 2x2", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}}},
      {"weak diagonal", test::tridiagonal(30, -1, 1.2, -1)},
      {"grid with wrong signs", grid},
      {"nothing to shift", test::tridiagonal(20, -1, 3, -1)},
  };
  int shifted = 0;
  for (const Problem& problem : problems) {
    for (const FactorKind kind : kKinds) {
      for (const ShiftType shift :
           {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::inblocks, ShiftType::scaled}) {
        if (shift == ShiftType::scaled && kind != FactorKind::ic) continue;
        for (const FactorSchedule schedule : factor_schedules(context().backend())) {
          const FactorOptions options{.kind = kind, .shift = shift, .shift_amount = 0.25, .factor_schedule = schedule};
          SCOPED_TRACE(to_text(problem.name, options));
          const Serial expected(problem.a, options);
          Factorization f = factorization(problem.a, options);
          for (int repeat = 0; repeat < 2; ++repeat) {
            const FactorStatus status = factor(f, problem.a.values);
            EXPECT_EQ(status.outcome, expected.status.outcome);
            EXPECT_EQ(status.first_row, expected.status.first_row);
            EXPECT_EQ(status.shifts, expected.status.shifts);
            EXPECT_NEAR(status.shift_amount, expected.status.shift_amount,
                        1e-15 * std::abs(expected.status.shift_amount));
            shifted += status.shifts > 0 ? 1 : 0;
            if (!status.ok()) continue;
            const CsrMatrix computed = f.copy_factor();
            if (shift == ShiftType::nonzero || shift == ShiftType::positive_definite) {
              EXPECT_LE(test::factor_error(problem.a, computed, kind, status.shift_amount), 1.0);
            }
            EXPECT_LE(test::factor_difference(computed, expected.f.copy_factor()), 1e-8);
          }
        }
      }
    }
  }
  EXPECT_GT(shifted, 100);
}

TEST_P(FactorScheduleTest, SinglePrecisionTakesTheirFactors) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5});
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const FactorKind kind : kKinds) {
    Factorization own = factorization(a, {.kind = kind});
    ASSERT_TRUE(factor(own, a.values).ok());
    for (const FactorSchedule schedule : factor_schedules(context().backend())) {
      const FactorOptions options{.kind = kind, .factor_schedule = schedule, .precision = Precision::in_single};
      SCOPED_TRACE(to_text("27-point", options));
      Factorization f = factorization(a, options);
      ASSERT_TRUE(factor(f, a.values).ok());
      EXPECT_EQ(f.info().precision, Precision::in_single);
      EXPECT_LE(test::difference(apply(f, Apply::full, b), apply(own, Apply::full, b)), 1e-5);
    }
  }
}

TEST_P(FactorScheduleTest, WhatABackendDoesNotHaveIsRefusedInWords) {
  const CsrMatrix a = test::tridiagonal(5, -1, 3, -1);
  const auto has = factor_schedules(context().backend());
  for (const FactorSchedule schedule : factor_schedules(Backend::automatic)) {
    if (std::ranges::find(has, schedule) != has.end()) continue;
    try {
      static_cast<void>(factorization(a, {.factor_schedule = schedule}));
      ADD_FAILURE() << to_string(schedule);
    } catch (const InvalidInput& error) {
      EXPECT_EQ(error.what(), std::string("the schedule ") + to_string(schedule) +
                                  " of a factorisation is not one of the host backend, which has auto, lists, engine");
    }
  }
}

TEST(FactorScheduleNamesTest, AreThoseOfSweeps) {
  for (const FactorSchedule schedule : factor_schedules(Backend::cuda)) {
    if (schedule == FactorSchedule::lists) continue;
    EXPECT_STREQ(to_string(solve_schedule_from(to_string(schedule))), to_string(schedule));
  }
  EXPECT_EQ(std::string(to_string(FactorSchedule::lists)), "lists");
  EXPECT_EQ(std::string(to_string(FactorSchedule::level_launch)), "level-launch");
  EXPECT_EQ(std::string(to_string(FactorSchedule::self_scheduled)), "self");
  EXPECT_EQ(std::string(to_string(FactorSchedule::ata_concurrency)), "ata-concurrency");
  EXPECT_EQ(std::string(to_string(FactorSchedule::ata_greedy)), "ata-greedy");
  EXPECT_EQ(factor_schedules(Backend::host).size(), 3U);
  EXPECT_EQ(factor_schedules(Backend::cuda).size(), 10U);
}

}  // namespace
}  // namespace taskdag
