// Factors in single precision: every schedule that has a form for them against the serial reference with rounded
// values, the others refused; what does not fit.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends.hpp"
#include "columns.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::Problem;

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

std::vector<Apply> parts_of(FactorKind kind) {
  if (kind == FactorKind::ilu) return {Apply::full, Apply::transposed};
  return {Apply::full, Apply::transposed, Apply::symmetric_left, Apply::symmetric_right};
}

bool has_single(const SolveScheduleInfo& row, Backend backend) {
  return backend == Backend::cuda ? row.single_on_cuda : row.single_on_host;
}

bool is_there(const SolveScheduleInfo& row, Backend backend) {
  return (backend == Backend::cuda ? row.cuda : row.host) != ScheduleRole::absent;
}

double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

/// The factor as single precision has it, in double: L and the unit U are rounded.
CsrMatrix rounded(CsrMatrix f, FactorKind kind) {
  for (Index i = 0; i < f.rows; ++i) {
    const auto begin = static_cast<std::size_t>(f.row_offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(f.row_offsets[static_cast<std::size_t>(i) + 1]);
    double pivot = 1.0;
    for (std::size_t e = begin; e < end; ++e) {
      if (f.col_indices[e] == i) pivot = f.values[e];
    }
    for (std::size_t e = begin; e < end; ++e) {
      if (f.col_indices[e] == i) continue;
      const bool scaled = kind == FactorKind::ilu && f.col_indices[e] > i;
      f.values[e] = scaled ? rounded(f.values[e] * (1.0 / pivot)) * pivot : rounded(f.values[e]);
    }
  }
  return f;
}

/// With a fixed-point share of values that floats hold exactly, rounding could not be seen.
CsrMatrix with_long_values(CsrMatrix a) {
  a.values = test::other_values(a.values);
  return test::made_dominant(a);
}

struct Ordered {
  CsrMatrix a;
  std::shared_ptr<const RowBlocks> blocks;
};

Ordered ordered(const CsrMatrix& a, Index block_size) {
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  BlockOrdering ordering = block_multicolour(context, a.pattern(), MemorySpace::host, {block_size});
  return {test::permuted(a, ordering.order, ordering.order),
          std::make_shared<const RowBlocks>(std::move(ordering.blocks))};
}

class PrecisionTest : public test::BackendTest {
 protected:
  /// All parts of an application, of one vector and of several.
  void check_parts(Factorization& f, FactorKind kind) {
    const CsrMatrix single = rounded(f.copy_factor(), kind);
    const Index n = single.rows;
    const std::vector<double> b = test::right_hand_side(n);
    constexpr Index kColumns = 3;
    const std::vector<double> many = test::columns(n, kColumns, n);
    const auto apply_many = [&](Apply part, const std::vector<double>& in) {
      test::Array<double> from = place(in);
      test::Array<double> to = place(std::vector<double>(in.size(), -7.0));
      f.apply_many(part, kColumns, from.data(), n, to.data(), n, space(), stream());
      return to.read();
    };
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(transposed ? "transposed" : "full");
      const Apply part = transposed ? Apply::transposed : Apply::full;
      const std::vector<double> expected = test::reference_apply(single, kind, transposed, b);
      const std::vector<double> x = apply(f, part, b);
      EXPECT_LE(test::difference(x, expected), test::kForwardBound);
      EXPECT_LE(test::apply_error(single, kind, transposed, b, x), 1.0);
      EXPECT_LE(test::difference(apply_in_place(f, part, b), expected), test::kForwardBound);
      const std::vector<double> columns = apply_many(part, many);
      for (Index k = 0; k < kColumns; ++k) {
        EXPECT_LE(test::difference(test::column(columns, k, n, n),
                                   test::reference_apply(single, kind, transposed, test::column(many, k, n, n))),
                  test::kForwardBound);
      }
    }
    if (kind == FactorKind::ilu) return;
    std::vector<double> left = test::reference_solve(single, {Triangle::upper, true, true}, b);
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] /= std::sqrt(single.values[static_cast<std::size_t>(single.row_offsets[i])]);
    }
    EXPECT_LE(test::difference(apply(f, Apply::symmetric_left, b), left), test::kForwardBound);
    EXPECT_LE(test::difference(apply(f, Apply::symmetric_right, left), test::reference_apply(single, kind, false, b)),
              test::kForwardBound);
    const std::vector<double> halves = apply_many(Apply::symmetric_right, apply_many(Apply::symmetric_left, many));
    for (Index k = 0; k < kColumns; ++k) {
      EXPECT_LE(test::difference(test::column(halves, k, n, n),
                                 test::reference_apply(single, kind, false, test::column(many, k, n, n))),
                test::kForwardBound);
    }
  }

  void check(const CsrMatrix& a, FactorOptions options) {
    options.precision = Precision::in_single;
    Factorization f = factorization(a, options);
    EXPECT_EQ(f.info().precision, Precision::in_single);
    if (options.schedule != SolveSchedule::automatic && a.rows > 0) {
      EXPECT_EQ(f.info().lower_schedule, options.schedule);
      EXPECT_EQ(f.info().upper_schedule, options.schedule);
    }
    CsrMatrix other = a;
    other.values = test::other_values(a.values);
    other = test::made_dominant(other);
    for (const CsrMatrix* const values : {&a, static_cast<const CsrMatrix*>(&other)}) {
      ASSERT_TRUE(factor(f, values->values).ok());
      EXPECT_EQ(f.info().precision, Precision::in_single);
      check_parts(f, options.kind);
    }
    EXPECT_EQ(f.outcome(), SolveOutcome::success);
  }
};

INSTANTIATE_TEST_SUITE_P(On, PrecisionTest, testing::ValuesIn(test::once_per_backend()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(PrecisionTest, EveryScheduleAppliesARoundedFactor) {
  int first = 0;
  for (const Problem& problem : test::small_problems()) {
    const CsrMatrix a = with_long_values(problem.a);
    int number = first++;
    for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
      if (!has_single(row, GetParam().backend) || row.needs_blocks || row.schedule == SolveSchedule::cells) continue;
      for (const FactorKind kind : kKinds) {
        if (test::kSanitized && number++ % 3 != 0) continue;
        SCOPED_TRACE(problem.name + ", " + row.name + (kind == FactorKind::ic ? ", ic" : ", ilu"));
        check(a, {.kind = kind, .schedule = row.schedule});
      }
    }
  }
}

/// In their natural order; cells have no form in single precision for anything else.
TEST_P(PrecisionTest, CellsApplyARoundedFactorOfAGrid) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "the host has no cells";
  if (!test::device_has_cells()) GTEST_SKIP() << "this device cannot run cells";
  const std::vector<Problem> grids = {
      {"five_point", make_stencil({.stencil = Stencil::five_point, .nx = 61, .ny = 47, .wind = 0.5})},
      {"seven_point", make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 42, .nz = 11, .wind = 0.5})},
      {"twenty_seven_point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 14, .ny = 35, .nz = 6})}};
  for (const Problem& grid : grids) {
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(grid.name + (kind == FactorKind::ic ? ", ic" : ", ilu"));
      check(with_long_values(grid.a), {.kind = kind, .schedule = SolveSchedule::cells});
    }
  }
  const CsrMatrix other = test::mirrored(make_erdos_renyi_lower(1200, 0.003, 7), 0.5);
  EXPECT_THROW(factorization(other, {.schedule = SolveSchedule::cells, .precision = Precision::in_single}),
               Unsupported);
}

TEST_P(PrecisionTest, BlocksApplyARoundedFactor) {
  const std::vector<Problem> problems = {
      {"five_point", make_stencil({.stencil = Stencil::five_point, .nx = 76, .ny = 70, .wind = 0.5})},
      {"seven_point", make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11})},
      {"random", test::mirrored(make_erdos_renyi_lower(1200, 0.003, 7), 0.5)}};
  for (const Problem& problem : problems) {
    for (const Index size : {1, 40, 256}) {  // 256 of five_point: lines of 16 rows, and of 12
      const Ordered o = ordered(with_long_values(problem.a), size);
      for (const FactorKind kind : kKinds) {
        for (const Index levels : {0, 1}) {
          SCOPED_TRACE(problem.name + ", blocks of " + std::to_string(size) +
                       (kind == FactorKind::ic ? ", ic " : ", ilu ") + std::to_string(levels));
          FactorOptions options;
          options.kind = kind;
          options.levels = levels;
          options.fill = FillScope::blocks;
          options.blocks = o.blocks;
          options.schedule = SolveSchedule::blocks;
          check(o.a, options);
        }
      }
    }
  }
}

TEST_P(PrecisionTest, OrdersFillAndDiagonalFactorsAreTaken) {
  const CsrMatrix a = with_long_values(make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .wind = 0.5}));
  for (const FactorKind kind : kKinds) {
    SCOPED_TRACE(kind == FactorKind::ic ? "ic" : "ilu");
    check(a, {.kind = kind, .levels = 2});
    check(a, {.kind = kind, .diagonal_only = true});
    check(a, {.kind = kind, .factor_schedule = FactorSchedule::engine});
    std::vector<Index> order(static_cast<std::size_t>(a.rows));
    std::iota(order.begin(), order.end(), Index{0});
    std::reverse(order.begin(), order.end());
    Factorization f = factorization(a, {.kind = kind, .precision = Precision::in_single}, order, order);
    ASSERT_TRUE(factor(f, a.values).ok());
    const CsrMatrix turned = test::permuted(a, order, order);
    Factorization g = factorization(turned, {.kind = kind, .precision = Precision::in_single});
    ASSERT_TRUE(factor(g, turned.values).ok());
    std::vector<double> b = test::right_hand_side(a.rows);
    std::vector<double> x = apply(f, Apply::full, b);
    std::reverse(b.begin(), b.end());
    std::reverse(x.begin(), x.end());
    EXPECT_LE(test::difference(x, apply(g, Apply::full, b)), test::kForwardBound);
  }
}

TEST_P(PrecisionTest, OtherSchedulesAreRefused) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8});
  int refused = 0;
  for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
    if (!is_there(row, GetParam().backend) || has_single(row, GetParam().backend)) continue;
    SCOPED_TRACE(row.name);
    ++refused;
    try {
      factorization(a, {.schedule = row.schedule, .precision = Precision::in_single});
      ADD_FAILURE() << "taken";
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what())
                    .find(std::string("the schedule ") + row.name + " has no form for values in single precision"),
                std::string::npos)
          << error.what();
    }
    // Where the library chooses, double is what such a schedule gets.
    EXPECT_EQ(factorization(a, {.schedule = row.schedule, .precision = Precision::automatic}).info().precision,
              Precision::in_double);
  }
  if (GetParam().backend == Backend::cuda) {
    EXPECT_GT(refused, 0);
  }
}

TEST_P(PrecisionTest, DoubleIsTheDefaultAndWhatSmallProblemsGet) {
  const CsrMatrix a = with_long_values(make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30}));
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization plain = factorization(a, {});
  Factorization chosen = factorization(a, {.precision = Precision::automatic});
  Factorization single = factorization(a, {.precision = Precision::in_single});
  for (Factorization* const f : {&plain, &chosen, &single}) ASSERT_TRUE(factor(*f, a.values).ok());
  EXPECT_EQ(plain.info().precision, Precision::in_double);
  EXPECT_EQ(chosen.info().precision, Precision::in_double);
  EXPECT_EQ(chosen.info().precision_loss, PrecisionLoss::none);
  EXPECT_TRUE(test::same_bits(apply(plain, Apply::full, b), apply(chosen, Apply::full, b)));
  EXPECT_FALSE(test::same_bits(apply(plain, Apply::full, b), apply(single, Apply::full, b)));
  // The factorisation is in double. On CUDA the sweeps alone hold what it has given, in single precision.
  if (GetParam().backend == Backend::host) {
    EXPECT_TRUE(test::same_bits(plain.copy_factor().values, single.copy_factor().values));
  } else {
    EXPECT_LE(test::difference(plain.copy_factor().values, single.copy_factor().values), 1e-7);
  }
  const std::int64_t triangles = std::int64_t{a.entries()} - a.rows;
  EXPECT_EQ(plain.info().value_bytes, 8 * (triangles + a.rows));
  EXPECT_EQ(single.info().value_bytes, 4 * triangles + 8 * a.rows);
  EXPECT_EQ(single.info().value_bytes_in_double, plain.info().value_bytes);
}

TEST_P(PrecisionTest, HalvesNeedDouble) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8});
  for (const Precision precision : {Precision::in_single, Precision::automatic}) {
    Factorization f = factorization(a, {.precision = precision});
    ASSERT_TRUE(factor(f, a.values).ok());
    test::Array<double> b = place(test::right_hand_side(a.rows));
    test::Array<double> x = place(std::vector<double>(static_cast<std::size_t>(a.rows)));
    EXPECT_THROW(f.solve_lower(b.data(), x.data(), space(), stream()), InvalidInput);
    EXPECT_THROW(f.solve_upper(b.data(), x.data(), space(), stream()), InvalidInput);
    EXPECT_THROW(f.multiply_upper(b.data(), x.data(), space(), stream()), InvalidInput);
    EXPECT_THROW(f.set_diagonal(b.data(), space(), stream()), InvalidInput);
  }
}

/// A grid's matrix with rows 1 and 2 replaced: a_11, a_12 = a_21, a_22, and nothing else in them.
CsrMatrix with_pair(double first, double beside, double second) {
  CsrMatrix a;
  a.rows = a.cols = 40;
  for (Index i = 0; i < a.rows; ++i) {
    const bool pair = i == 1 || i == 2;
    for (Index j = std::max(i - 1, 0); j <= std::min(i + 1, a.cols - 1); ++j) {
      const bool other = j == 1 || j == 2;
      if (pair != other) continue;
      a.col_indices.push_back(j);
      if (pair) {
        a.values.push_back(i != j ? beside : i == 1 ? first : second);
      } else {
        a.values.push_back(i != j ? -1.0 : 4.0);
      }
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

TEST_P(PrecisionTest, WhatDoesNotFitGetsDouble) {
  struct Lost {
    const char* what;
    CsrMatrix a;
    PrecisionLoss loss;
  };
  const Lost cases[] = {{"overflow", with_pair(1e-25, 1e20, 1e70), PrecisionLoss::overflow},
                        {"underflow", with_pair(1e25, 1e-25, 4e-75), PrecisionLoss::underflow},
                        {"small, and does not count", with_pair(1.0, 1e-50, 1.0), PrecisionLoss::none},
                        {"all small", with_pair(1e-300, 1e-301, 1e-300), PrecisionLoss::none},
                        {"all large", with_pair(1e300, 1e299, 1e300), PrecisionLoss::none}};
  const CsrMatrix plain = with_pair(3.1, 1.3, 3.7);
  const std::vector<double> b = test::right_hand_side(plain.rows);
  for (const Lost& lost : cases) {
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(std::string(lost.what) + (kind == FactorKind::ic ? ", ic" : ", ilu"));
      const FactorOptions options{.kind = kind, .zero_pivot = 0.0, .precision = Precision::in_single};
      Factorization f = factorization(plain, options);
      ASSERT_TRUE(factor(f, plain.values).ok());
      for (const Apply part : parts_of(kind)) static_cast<void>(apply(f, part, b));
      EXPECT_EQ(f.info().precision, Precision::in_single);
      ASSERT_TRUE(factor(f, lost.a.values).ok());
      EXPECT_EQ(f.info().precision_loss, lost.loss);
      if (lost.loss == PrecisionLoss::none) {
        EXPECT_EQ(f.info().precision, Precision::in_single);
        EXPECT_EQ(f.info().precision_loss_row, -1);
        continue;
      }
      EXPECT_EQ(f.info().precision, Precision::in_double);
      EXPECT_TRUE(f.info().precision_loss_row == 1 || f.info().precision_loss_row == 2);
      EXPECT_EQ(f.info().value_bytes, f.info().value_bytes_in_double);
      Factorization in_double = factorization(plain, {.kind = kind, .zero_pivot = 0.0});
      ASSERT_TRUE(factor(in_double, lost.a.values).ok());
      for (const Apply part : parts_of(kind)) {
        EXPECT_TRUE(test::same_bits(apply(f, part, b), apply(in_double, part, b)));
      }
      // For good.
      ASSERT_TRUE(factor(f, plain.values).ok());
      ASSERT_TRUE(factor(in_double, plain.values).ok());
      EXPECT_EQ(f.info().precision, Precision::in_double);
      for (const Apply part : parts_of(kind)) {
        EXPECT_TRUE(test::same_bits(apply(f, part, b), apply(in_double, part, b)));
      }
    }
  }
}

TEST_P(PrecisionTest, NumbersThatAreNotFiniteEndAndAreReported) {
  const CsrMatrix a = with_long_values(make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30}));
  std::vector<double> b = test::right_hand_side(a.rows);
  b[17] = std::nan("");
  Factorization f = factorization(a, {.precision = Precision::in_single});
  ASSERT_TRUE(factor(f, a.values).ok());
  static_cast<void>(apply(f, Apply::full, b));
  EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
  std::vector<double> values = a.values;
  values[40] = std::nan("");
  EXPECT_EQ(factor(f, values).outcome, FactorOutcome::non_finite);
  static_cast<void>(apply(f, Apply::full, test::right_hand_side(a.rows)));
  EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
  ASSERT_TRUE(factor(f, a.values).ok());
  check_parts(f, FactorKind::ilu);
  EXPECT_EQ(f.outcome(), SolveOutcome::success);
}

TEST(PrecisionNames, AreThoseOfTheOption) {
  for (const Precision precision : {Precision::automatic, Precision::in_double, Precision::in_single}) {
    EXPECT_EQ(precision_from(to_string(precision)), precision);
  }
  EXPECT_STREQ(to_string(Precision::automatic), "auto");
  EXPECT_STREQ(to_string(Precision::in_double), "double");
  EXPECT_STREQ(to_string(Precision::in_single), "single");
  EXPECT_THROW(precision_from("half"), InvalidInput);
}

}  // namespace
}  // namespace taskdag
