// SOR iterations against the loop over the rows.
#include "reference/sor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sor_fixture.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::kNan;
using test::kSweeps;

class SorTest : public test::SorBackendTest {
 protected:
  [[nodiscard]] static bool on_host() { return GetParam().backend == Backend::host; }
};
INSTANTIATE_TEST_SUITE_P(On, SorTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

std::vector<double> start_vector(std::size_t rows) {
  std::vector<double> x(rows);
  for (std::size_t i = 0; i < rows; ++i) x[i] = std::sin(0.7 * static_cast<double>(i)) + 0.1;
  return x;
}

std::string describe(const std::string& name, SorSweep sweep, int iterations, const SorOptions& options) {
  return name + ", " + to_string(sweep) + ", " + std::to_string(iterations) + " its, omega " +
         std::to_string(options.omega) + ", shift " + std::to_string(options.shift) + ", " +
         to_string(options.schedule);
}

TEST_P(SorTest, IterationsAreThoseOfTheLoop) {
  for (const test::Problem& problem : test::small_problems()) {
    const CsrMatrix& a = problem.a;
    const std::vector<double> b = test::right_hand_side(a.rows);
    const std::vector<double> start = start_vector(b.size());
    for (const double omega : {0.8, 1.0, 1.5}) {
      for (const double shift : {0.0, 0.25, -0.125}) {
        if (shift != 0.0 && (omega == 1.5 || test::kSanitized)) continue;
        const SorOptions options{.omega = omega, .shift = shift};
        Sor sor = make(a, options);
        ASSERT_TRUE(load(sor, a).ok());
        for (const SorSweep sweep : kSweeps) {
          for (const int iterations : {1, 2, 5}) {
            SCOPED_TRACE(describe(problem.name, sweep, iterations, options));
            const std::vector<double> zero(b.size(), 0.0);
            EXPECT_LE(test::difference(from_zero(sor, sweep, iterations, b),
                                       kernels::reference_sor(a.view(), options, sweep, iterations, b, zero)),
                      test::kForwardBound);
            EXPECT_LE(test::difference(run(sor, sweep, iterations, SorStart::given, b, start),
                                       kernels::reference_sor(a.view(), options, sweep, iterations, b, start)),
                      test::kForwardBound);
          }
        }
        EXPECT_EQ(sor.outcome(), SolveOutcome::success);
      }
    }
  }
}

TEST_P(SorTest, EverySchedule) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 25, .wind = 1.0});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> start = start_vector(b.size());
  BlockOrdering ordering = block_multicolour(context(), a.pattern(), MemorySpace::host, {16});
  const auto blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  for (const SorSweep sweep : kSweeps) {
    for (const bool ordered : {false, true}) {
      std::optional<std::vector<double>> expected;
      for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
        if (schedule == SolveSchedule::blocks && !ordered) continue;
        SorOptions options{.omega = 1.3, .schedule = schedule};
        if (ordered) options.blocks = blocks;
        SCOPED_TRACE(describe(ordered ? "by blocks" : "natural", sweep, 3, options));
        Sor sor = make(a, options, ordered ? std::span<const Index>(ordering.order) : std::span<const Index>());
        ASSERT_TRUE(load(sor, a).ok());
        for (int repeat = 0; repeat < 2; ++repeat) {
          const std::vector<double> x = run(sor, sweep, 3, SorStart::given, b, start);
          if (!expected) expected = x;
          if (on_host()) {
            EXPECT_TRUE(test::same_bits(x, *expected));
          } else {
            EXPECT_LE(test::difference(x, *expected), test::kForwardBound);
          }
        }
      }
    }
  }
}

TEST_P(SorTest, AnOrderIsThatOfTheRows) {
  const CsrMatrix a =
      test::made_dominant(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5}));
  std::vector<Index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) std::swap(order[i], order[(i * 31 + 7) % order.size()]);
  const CsrMatrix renumbered = test::permuted(a, order, order);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> start = start_vector(b.size());
  const auto to_new = [&](const std::vector<double>& x) {
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[static_cast<std::size_t>(order[i])];
    return y;
  };
  const SorOptions options{.omega = 1.2};
  Sor sor = make(a, options, order);
  ASSERT_TRUE(load(sor, a).ok());
  for (const SorSweep sweep : kSweeps) {
    for (const SorStart from : {SorStart::zero, SorStart::given}) {
      const std::vector<double> first = from == SorStart::zero ? std::vector<double>(b.size(), 0.0) : to_new(start);
      EXPECT_LE(test::difference(to_new(run(sor, sweep, 2, from, b, start)),
                                 kernels::reference_sor(renumbered.view(), options, sweep, 2, to_new(b), first)),
                test::kForwardBound);
    }
  }
}

TEST_P(SorTest, NewValuesTakeThePlaceOfTheOldOnes) {
  CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7});
  const std::vector<double> b = test::right_hand_side(a.rows);
  Sor sor = make(a, {});
  ASSERT_TRUE(load(sor, a).ok());
  from_zero(sor, SorSweep::symmetric, 2, b);
  a.values = test::other_values(a.values);
  ASSERT_TRUE(load(sor, a).ok());
  const std::vector<double> zero(b.size(), 0.0);
  EXPECT_LE(test::difference(from_zero(sor, SorSweep::symmetric, 2, b),
                             kernels::reference_sor(a.view(), {}, SorSweep::symmetric, 2, b, zero)),
            test::kForwardBound);
}

TEST_P(SorTest, DiagonalsThatCannotBeDividedByAreReported) {
  CsrMatrix a = test::tridiagonal(6, -1.0, 2.0, -1.0);
  const auto set_diagonal = [&](Index i, double value) {
    auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
    while (a.col_indices[e] != i) ++e;
    a.values[e] = value;
  };
  Sor sor = make(a, {.omega = 1.5, .shift = -2.0});
  EXPECT_EQ(load(sor, a).outcome, FactorOutcome::zero_pivot);  // 2 - 2
  Sor plain = make(a, {.shift = -2.0});
  EXPECT_TRUE(load(plain, a).ok());  // a shift below 0 counts for nothing with omega 1
  set_diagonal(2, 0.0);
  set_diagonal(4, 0.0);
  FactorStatus status = load(plain, a);
  EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
  EXPECT_EQ(status.first_row, 2);
  EXPECT_EQ(status.last_row, 4);
  EXPECT_FALSE(test::all_finite(from_zero(plain, SorSweep::forward, 1, test::right_hand_side(6))));
  EXPECT_EQ(plain.outcome(), SolveOutcome::non_finite);
  EXPECT_EQ(plain.outcome(), SolveOutcome::success);
  set_diagonal(1, kNan);
  status = load(plain, a);
  EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
  EXPECT_EQ(status.first_row, 1);
}

TEST_P(SorTest, ANanInTheVectorEndsInTheResult) {
  const CsrMatrix a = test::tridiagonal(50, -1.0, 2.0, -1.0);
  std::vector<double> b = test::right_hand_side(a.rows);
  b[20] = kNan;
  Sor sor = make(a, {});
  ASSERT_TRUE(load(sor, a).ok());
  const std::vector<double> x = from_zero(sor, SorSweep::forward, 1, b);
  EXPECT_TRUE(std::isfinite(x[19]));
  EXPECT_TRUE(std::isnan(x[20]));
  EXPECT_EQ(sor.outcome(), SolveOutcome::non_finite);
}

TEST_P(SorTest, WrongInputIsRefused) {
  const CsrMatrix a = test::tridiagonal(4, -1.0, 2.0, -1.0);
  const auto make = [&](const SorOptions& options, std::span<const Index> order = {}) {
    return SorTest::make(a, options, order);
  };
  for (const double omega : {0.0, 2.0, -1.0, kNan}) EXPECT_THROW(make({.omega = omega}), InvalidInput);
  EXPECT_THROW(make({.shift = kNan}), InvalidInput);
  EXPECT_THROW(make({.schedule = on_host() ? SolveSchedule::flat : SolveSchedule::level_set}), InvalidInput);
  EXPECT_THROW(make({.schedule = SolveSchedule::blocks}), InvalidInput);
  const std::vector<Index> short_order = {0, 1, 2};
  const std::vector<Index> no_order = {0, 1, 2, 2};
  EXPECT_THROW(make({}, short_order), InvalidInput);
  EXPECT_THROW(make({}, no_order), InvalidInput);
  // All rows in one colour, though neighbours are coupled.
  SorOptions coupled;
  coupled.blocks = std::make_shared<const RowBlocks>(RowBlocks{{0, 1, 2, 3, 4}, {0, 4}});
  if (on_host()) {  // CUDA takes a caller's word for it, as in factorisations
    EXPECT_THROW(make(coupled), InvalidInput);
  }
  const CsrMatrix hollow{2, 2, {0, 1, 2}, {1, 0}, {1, 1}};
  EXPECT_THROW(SorTest::make(hollow, {}), InvalidInput);
  if (on_host()) {
    EXPECT_THROW(Sor(context(), a.pattern(), MemorySpace::device, {}), InvalidInput);
  }

  Sor sor = make({});
  test::Array<double> b = place(std::vector<double>(4, 1.0));
  test::Array<double> x = place(std::vector<double>(4));
  const auto iterate = [&](int iterations, const double* from, double* to) {
    sor.iterate(SorSweep::forward, iterations, SorStart::zero, from, to, space(), stream());
  };
  EXPECT_THROW(iterate(1, b.data(), x.data()), InvalidInput);  // no values yet
  ASSERT_TRUE(load(sor, a).ok());
  EXPECT_THROW(iterate(0, b.data(), x.data()), InvalidInput);
  EXPECT_THROW(iterate(1, b.data(), b.data()), InvalidInput);
  EXPECT_THROW(iterate(1, nullptr, x.data()), InvalidInput);
  EXPECT_THROW(sor.update_values(nullptr, space()), InvalidInput);
  iterate(1, b.data(), x.data());
}

TEST_P(SorTest, AMatrixWithoutRowsIsDoneAtOnce) {
  const CsrMatrix none{0, 0, {0}, {}, {}};
  Sor sor = make(none, {});
  EXPECT_TRUE(sor.update_values(nullptr, space(), stream()).ok());
  sor.iterate(SorSweep::symmetric, 3, SorStart::given, nullptr, nullptr, space(), stream());
  EXPECT_EQ(sor.info().rows, 0);
}

TEST_P(SorTest, HalvesMakeUpASymmetricIteration) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 5, .wind = 1.0});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const SorOptions options{.omega = 1.3, .shift = 0.5};
  std::vector<Index> order(b.size());
  std::iota(order.rbegin(), order.rend(), 0);
  for (const bool ordered : {false, true}) {
    Sor sor = make(a, options, ordered ? std::span<const Index>(order) : std::span<const Index>());
    ASSERT_TRUE(load(sor, a).ok());
    const auto half = [&](auto&& apply, const std::vector<double>& from) {
      test::Array<double> in = place(from);
      test::Array<double> out = place(std::vector<double>(from.size(), kNan));
      apply(in.data(), out.data());
      return out.read();
    };
    test::Array<double> pivots = place(std::vector<double>(b.size()));
    sor.pivots(pivots.data(), space(), stream());
    const std::vector<double> e = pivots.read();
    std::vector<double> middle =
        half([&](const double* in, double* out) { sor.solve_lower(in, out, space(), stream()); }, b);
    for (std::size_t i = 0; i < e.size(); ++i) middle[i] *= (2.0 - options.omega) * e[i];  // 2 E − ω E
    const std::vector<double> x =
        half([&](const double* in, double* out) { sor.solve_upper(in, out, space(), stream()); }, middle);
    EXPECT_LE(test::difference(x, from_zero(sor, SorSweep::symmetric, 1, b)), test::kForwardBound);
    const std::vector<double> back =
        half([&](const double* in, double* out) { sor.multiply_upper(in, out, space(), stream()); }, x);
    EXPECT_LE(test::difference(back, middle), test::kForwardBound);
    test::Array<double> same = place(x);
    EXPECT_THROW(sor.multiply_upper(same.data(), same.data(), space(), stream()), InvalidInput);
  }
}

TEST_P(SorTest, TheEngineSaysWhatItRan) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  Sor sor = make(a, {.schedule = SolveSchedule::engine});
  ASSERT_TRUE(load(sor, a).ok());
  from_zero(sor, SorSweep::symmetric, 2, test::right_hand_side(a.rows));
  std::uint64_t tasks = 0;
  for (const EngineRun& one : sor.engine_runs()) tasks += one.report.executed();
  EXPECT_GT(tasks, 0U);
  EXPECT_EQ(sor.info().lower_schedule, SolveSchedule::engine);
}

}  // namespace
}  // namespace taskdag
