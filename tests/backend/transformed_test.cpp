// Eisenstat's trick: (E + L)⁻¹ A (E + U)⁻¹ v by two sweeps, against loops over the rows and against the halves.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(TransformedTest, test::everywhere_and_one_block());

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<double> diagonal_of(const CsrMatrix& a) {
  std::vector<double> d(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (std::size_t e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      if (a.col_indices[e] == i) d[at(i)] = a.values[e];
    }
  }
  return d;
}

/// Σ a_ij x_j over the columns with keep(j).
template <class Keep>
double row_sum(const CsrMatrix& a, Index i, const std::vector<double>& x, const Keep& keep) {
  double sum = 0.0;
  for (std::size_t e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
    const Index j = a.col_indices[e];
    if (keep(j)) sum += a.values[e] * x[at(j)];
  }
  return sum;
}

/// The definition, product with A and all. `e`: E.
std::vector<double> reference(const CsrMatrix& a, const std::vector<double>& e, const std::vector<double>& v) {
  std::vector<double> u(v.size());
  std::vector<double> y(v.size());
  for (Index i = a.rows - 1; i >= 0; --i) {
    u[at(i)] = (v[at(i)] - row_sum(a, i, u, [i](Index j) { return j > i; })) / e[at(i)];
  }
  for (Index i = 0; i < a.rows; ++i) {
    const double product = row_sum(a, i, u, [](Index) { return true; });
    y[at(i)] = (product - row_sum(a, i, y, [i](Index j) { return j < i; })) / e[at(i)];
  }
  return y;
}

std::vector<double> to_new(const std::vector<double>& x, const std::vector<Index>& order) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = order.empty() ? x[i] : x[at(order[i])];
  return y;
}

/// DIC looks at the upper triangle alone.
CsrMatrix symmetric_arrow(Index n) {
  CsrMatrix a = test::arrow(n);
  for (Index j = 0; j + 1 < n; ++j) {
    a.values[at(a.row_offsets[at(n - 1)] + j)] = a.values[at(a.row_offsets[at(j) + 1]) - 1];
  }
  return a;
}

/// What a Sor and a Factorization have in common.
template <class Solver>
class Tried {
 public:
  Tried(Solver& solver, test::DeviceStream* device, MemorySpace space, Stream stream)
      : solver_(solver), device_(device), space_(space), stream_(stream) {}

  void set_symmetric(const std::vector<double>& d) {
    solver_.set_diagonal(place(d).data(), space_, stream_, TransformScaling::symmetric);
  }
  void set_diagonal(const std::vector<double>& d) { solver_.set_diagonal(place(d).data(), space_, stream_); }
  std::vector<double> multiply(const std::vector<double>& v) {
    return with(v, [&](const double* in, double* out) { solver_.multiply_transformed(in, out, space_, stream_); });
  }
  std::vector<double> pivots(std::size_t rows) {
    test::Array<double> e = place(std::vector<double>(rows));
    solver_.pivots(e.data(), space_, stream_);
    return e.read();
  }
  /// By the halves and passes over vectors.
  std::vector<double> separately(const std::vector<double>& d, const std::vector<double>& v) {
    const std::vector<double> e = pivots(v.size());
    const std::vector<double> u =
        with(v, [&](const double* in, double* out) { solver_.solve_upper(in, out, space_, stream_); });
    std::vector<double> right(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) right[i] = v[i] - (2.0 * e[i] - d[i]) * u[i];
    std::vector<double> y =
        with(right, [&](const double* in, double* out) { solver_.solve_lower(in, out, space_, stream_); });
    for (std::size_t i = 0; i < v.size(); ++i) y[i] += u[i];
    return y;
  }

 private:
  [[nodiscard]] test::Array<double> place(const std::vector<double>& x) const { return {device_, x}; }
  template <class Work>
  std::vector<double> with(const std::vector<double>& from, const Work& work) {
    test::Array<double> in = place(from);
    test::Array<double> out = place(std::vector<double>(from.size(), std::numeric_limits<double>::quiet_NaN()));
    work(in.data(), out.data());
    return out.read();
  }

  Solver& solver_;
  test::DeviceStream* device_;
  MemorySpace space_;
  Stream stream_;
};

/// A solver that has taken the values of `a`: products are right, twice in a row, and end on what is not finite.
template <class Solver>
void expect_products(Tried<Solver> tried, Solver& solver, const CsrMatrix& a, const std::vector<Index>& order) {
  const CsrMatrix renumbered = order.empty() ? a : test::permuted(a, order, order);
  const std::vector<double> d = diagonal_of(a);
  const std::vector<double> v = test::right_hand_side(a.rows);
  const std::vector<double> e = to_new(tried.pivots(v.size()), order);
  tried.set_diagonal(d);
  std::vector<double> other = v;
  for (std::size_t i = 0; i < v.size(); ++i) other[i] = std::cos(0.3 * static_cast<double>(i)) - 0.2;
  for (const std::vector<double>& x : {v, v, other}) {
    const std::vector<double> y = tried.multiply(x);
    EXPECT_LE(test::difference(to_new(y, order), reference(renumbered, e, to_new(x, order))), test::kForwardBound);
    EXPECT_LE(test::difference(y, tried.separately(d, x)), test::kForwardBound);
  }
  EXPECT_EQ(solver.outcome(), SolveOutcome::success);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> x = v;
    x[x.size() / 2] = bad;
    const std::vector<double> expected = reference(renumbered, e, to_new(x, order));
    const std::vector<double> y = to_new(tried.multiply(x), order);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isfinite(y[i]), std::isfinite(expected[i])) << i;
    EXPECT_EQ(solver.outcome(), SolveOutcome::non_finite);
  }
  EXPECT_LE(test::difference(to_new(tried.multiply(v), order), reference(renumbered, e, to_new(v, order))),
            test::kForwardBound);
}

// The orders are natural, by blocks, by single rows of a colouring: two levels where the graph is bipartite.
TEST_P(TransformedTest, ProductsAreThoseOfTheDefinitionWithEverySchedule) {
  const CsrMatrix five = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 25});
  const CsrMatrix dense = symmetric_arrow(300);  // a row in parts
  const CsrMatrix wide = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 8, .ny = 7, .nz = 6});
  for (const CsrMatrix& a : {five, dense, wide}) {
    for (const Index block : {0, 1, 16}) {
      BlockOrdering ordering;
      std::shared_ptr<const RowBlocks> blocks;
      if (block > 0) {
        ordering = block_multicolour(context(), a.pattern(), MemorySpace::host, {block});
        blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
      }
      for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
        if (schedule == SolveSchedule::blocks && block == 0) continue;
        SCOPED_TRACE(std::to_string(a.rows) + " rows, blocks of " + std::to_string(block) + ", " + to_string(schedule));
        for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
          FactorOptions options;
          options.kind = kind;
          options.diagonal_only = true;
          options.schedule = schedule;
          options.blocks = blocks;
          Factorization f = factorization(a, options, ordering.order, ordering.order);
          ASSERT_TRUE(factor(f, a.values).ok());
          expect_products(Tried(f, device(), space(), stream()), f, a, ordering.order);
        }
        test::MatrixArrays arrays = place(a);
        const SorOptions options{.omega = 1.3, .schedule = schedule, .blocks = blocks};
        Sor sor(context(), arrays.pattern(), space(), options, ordering.order, stream());
        ASSERT_TRUE(sor.update_values(place(a.values).data(), space(), stream()).ok());
        expect_products(Tried(sor, device(), space(), stream()), sor, a, ordering.order);
      }
    }
  }
}

// In boxes of 16 by 16 points, whose rows the schedule of blocks reads as runs; those of the last boxes are shorter.
TEST_P(TransformedTest, ProductsOfBoxesAreThoseOfTheDefinition) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 76, .ny = 70});
  BlockOrdering ordering = block_multicolour(context(), a.pattern(), MemorySpace::host, {256});
  FactorOptions options;
  options.diagonal_only = true;
  options.schedule = SolveSchedule::blocks;
  options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  Factorization f = factorization(a, options, ordering.order, ordering.order);
  ASSERT_TRUE(factor(f, a.values).ok());
  expect_products(Tried(f, device(), space(), stream()), f, a, ordering.order);
}

/// E^½ (E + L)⁻¹ A (E + U)⁻¹ E^½ v, by the definition.
std::vector<double> balanced_reference(const CsrMatrix& a, const std::vector<double>& e, std::vector<double> v) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= std::sqrt(e[i]);
  std::vector<double> y = reference(a, e, v);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= std::sqrt(e[i]);
  return y;
}

// Values change in between, and so does the scaling; rows have pivots of very different sizes.
TEST_P(TransformedTest, SymmetricScalingWithEverySchedule) {
  CsrMatrix five = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 25});
  for (Index i = 0; i < five.rows; ++i) {
    for (std::size_t e = at(five.row_offsets[at(i)]); e < at(five.row_offsets[at(i) + 1]); ++e) {
      five.values[e] *= std::exp2((i % 11) + (five.col_indices[e] % 11));
    }
  }
  const CsrMatrix dense = symmetric_arrow(300);  // a row in parts
  const CsrMatrix wide = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 8, .ny = 7, .nz = 6});
  for (const CsrMatrix& start : {five, dense, wide}) {
    for (const Index block : {0, 16}) {
      BlockOrdering ordering;
      std::shared_ptr<const RowBlocks> blocks;
      if (block > 0) {
        ordering = block_multicolour(context(), start.pattern(), MemorySpace::host, {block});
        blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
      }
      for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
        if (schedule == SolveSchedule::blocks && block == 0) continue;
        for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
          SCOPED_TRACE(std::to_string(start.rows) + " rows, blocks of " + std::to_string(block) + ", " +
                       to_string(schedule) + (kind == FactorKind::ic ? ", dic" : ", dilu"));
          CsrMatrix a = start;
          FactorOptions options;
          options.kind = kind;
          options.diagonal_only = true;
          options.schedule = schedule;
          options.blocks = blocks;
          Factorization f = factorization(a, options, ordering.order, ordering.order);
          Tried tried(f, device(), space(), stream());
          const std::vector<double> v = test::right_hand_side(a.rows);
          for (const double times : {1.0, 3.0}) {
            for (double& value : a.values) value *= times;
            ASSERT_TRUE(factor(f, a.values).ok());
            EXPECT_THROW(tried.multiply(v), InvalidInput);
            const CsrMatrix renumbered = ordering.order.empty() ? a : test::permuted(a, ordering.order, ordering.order);
            const std::vector<double> e = to_new(tried.pivots(v.size()), ordering.order);
            const std::vector<double> right = to_new(v, ordering.order);
            tried.set_symmetric(diagonal_of(a));
            for (int again = 0; again < 2; ++again) {
              EXPECT_LE(
                  test::difference(to_new(tried.multiply(v), ordering.order), balanced_reference(renumbered, e, right)),
                  test::kForwardBound);
            }
            tried.set_diagonal(diagonal_of(a));
            EXPECT_LE(test::difference(to_new(tried.multiply(v), ordering.order), reference(renumbered, e, right)),
                      test::kForwardBound);
          }
          EXPECT_EQ(f.outcome(), SolveOutcome::success);
        }
      }
    }
  }
}

TEST_P(TransformedTest, SymmetricScalingNeedsPositivePivots) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5});
  for (std::size_t e = at(a.row_offsets[7]); e < at(a.row_offsets[8]); ++e) {
    if (a.col_indices[e] == 7) a.values[e] = -40.0;
  }
  FactorOptions options;
  options.diagonal_only = true;
  Factorization f = factorization(a, options);
  ASSERT_TRUE(factor(f, a.values).ok());
  Tried tried(f, device(), space(), stream());
  try {
    tried.set_symmetric(diagonal_of(a));
    ADD_FAILURE() << "a negative pivot is taken";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("row 7 "), std::string::npos) << error.what();
  }
  EXPECT_THROW(tried.multiply(test::right_hand_side(a.rows)), InvalidInput);
  tried.set_diagonal(diagonal_of(a));
  EXPECT_NO_THROW(tried.multiply(test::right_hand_side(a.rows)));
}

TEST_P(TransformedTest, NewValuesNeedTheirDiagonal) {
  CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7});
  FactorOptions options;
  options.diagonal_only = true;
  Factorization f = factorization(a, options);
  Tried tried(f, device(), space(), stream());
  const std::vector<double> v = test::right_hand_side(a.rows);
  for (const double times : {1.0, 3.0}) {
    for (double& value : a.values) value *= times;
    ASSERT_TRUE(factor(f, a.values).ok());
    EXPECT_THROW(tried.multiply(v), InvalidInput);
    tried.set_diagonal(diagonal_of(a));
    EXPECT_LE(test::difference(tried.multiply(v), reference(a, tried.pivots(v.size()), v)), test::kForwardBound);
  }
  test::Array<double> same = place(v);
  EXPECT_THROW(f.multiply_transformed(same.data(), same.data(), space(), stream()), InvalidInput);
  EXPECT_THROW(f.set_diagonal(nullptr, space(), stream()), InvalidInput);
}

// Rows of a node are scaled so that the transposed sweeps, not the others, would lose digits where rows are rewritten:
// their first application may put other sweeps in the place of those that the products were prepared for.
TEST_P(TransformedTest, AFirstTransposedApplicationMayComeBetween) {
  CsrMatrix a =
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 5, .ny = 5, .nz = 5, .unknowns_per_node = 3});
  for (Index i = 0; i < a.rows; ++i) {
    const double scale = i % 3 == 0 ? 1e4 : i % 3 == 1 ? 1e2 : 1.0;
    for (std::size_t e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) a.values[e] *= scale;
  }
  const std::vector<double> v = test::right_hand_side(a.rows);
  for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
    if (schedule == SolveSchedule::blocks) continue;
    SCOPED_TRACE(to_string(schedule));
    FactorOptions options;
    options.diagonal_only = true;
    options.schedule = schedule;
    Factorization f = factorization(a, options);
    ASSERT_TRUE(factor(f, a.values).ok());
    Tried tried(f, device(), space(), stream());
    tried.set_diagonal(diagonal_of(a));
    const std::vector<double> expected = reference(a, tried.pivots(v.size()), v);
    EXPECT_LE(test::difference(tried.multiply(v), expected), test::kForwardBound);
    apply(f, Apply::transposed, v);
    EXPECT_LE(test::difference(tried.multiply(v), expected), test::kForwardBound);
    EXPECT_EQ(f.outcome(), SolveOutcome::success);
  }
}

TEST_P(TransformedTest, SorNeedsTheDiagonalToo) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 11, .wind = 1.0});
  test::MatrixArrays arrays = place(a);
  // E has the shift, the matrix has not.
  Sor sor(context(), arrays.pattern(), space(), {.omega = 1.2, .shift = 0.5}, {}, stream());
  Tried tried(sor, device(), space(), stream());
  const std::vector<double> v = test::right_hand_side(a.rows);
  ASSERT_TRUE(sor.update_values(place(a.values).data(), space(), stream()).ok());
  EXPECT_THROW(tried.multiply(v), InvalidInput);
  tried.set_diagonal(diagonal_of(a));
  EXPECT_LE(test::difference(tried.multiply(v), reference(a, tried.pivots(v.size()), v)), test::kForwardBound);
  ASSERT_TRUE(sor.update_values(place(a.values).data(), space(), stream()).ok());
  EXPECT_THROW(tried.multiply(v), InvalidInput);
}

TEST_P(TransformedTest, AMatrixWithoutRowsIsDoneAtOnce) {
  const CsrMatrix none{0, 0, {0}, {}, {}};
  Factorization f = factorization(none, {});
  ASSERT_TRUE(factor(f, {}).ok());
  f.set_diagonal(nullptr, space(), stream());
  f.multiply_transformed(nullptr, nullptr, space(), stream());
  EXPECT_EQ(f.outcome(), SolveOutcome::success);
}

}  // namespace
}  // namespace taskdag
