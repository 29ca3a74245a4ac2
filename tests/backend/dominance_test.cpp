// How the diagonal compares with what stands beside it, on both backends.
#include "taskdag/dominance.hpp"

#include <cmath>
#include <limits>

#include "backends.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

class DominanceTest : public test::BackendTest {
 protected:
  [[nodiscard]] DiagonalDominance look(const CsrMatrix& a, const DominanceLimits& limits = {}) const {
    test::MatrixArrays arrays = place(a);
    return diagonal_dominance(context(), arrays.view(), space(), limits, stream());
  }
  [[nodiscard]] bool settles(const CsrMatrix& a) const {
    test::MatrixArrays arrays = place(a);
    return jacobi_settles(context(), arrays.view(), space(), stream());
  }
  [[nodiscard]] bool symmetric(const CsrMatrix& a) const {
    test::MatrixArrays arrays = place(a);
    return is_symmetric(context(), arrays.view(), space(), stream());
  }
};
INSTANTIATE_TEST_SUITE_P(On, DominanceTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

void expect_counts(const DiagonalDominance& found, const DiagonalDominance& expected) {
  EXPECT_EQ(found.rows, expected.rows);
  EXPECT_EQ(found.absent, expected.absent);
  EXPECT_EQ(found.zero, expected.zero);
  EXPECT_EQ(found.negative, expected.negative);
  EXPECT_EQ(found.strict, expected.strict);
  EXPECT_EQ(found.poor, expected.poor);
  EXPECT_EQ(found.first_absent, expected.first_absent);
}

TEST_P(DominanceTest, EachRowCountsForWhatItIs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  // strict; between; poor; below 0 and strict; 0; absent; not finite in each place; nothing beside; below 0 and poor
  const CsrMatrix a{10,
                    10,
                    {0, 2, 4, 6, 8, 10, 11, 13, 15, 16, 18},
                    {0, 1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 0, 9},
                    {2, -1, 2, 1, 7, 1, 1, -4, 1, 0, 3, nan, 1, 1, infinite, 5, 9, -1}};
  expect_counts(look(a), {10, 1, 3, 2, 3, 2, 5});
  expect_counts(look(a, {0.0, 0.0}), {10, 1, 3, 2, 1, 5, 5});
  expect_counts(look(a, {9.0, 9.0}), {10, 1, 3, 2, 6, 0, 5});
}

TEST_P(DominanceTest, TheFirstOfManyRowsWithoutADiagonalEntryIsNamed) {
  CsrMatrix a = test::tridiagonal(100000, -1.0, 4.0, -1.0);
  // The entry moves beside the diagonal: rows 70001 to the last but one.
  for (std::size_t i = 70001; i + 1 < 100000; ++i)
    for (Offset e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) a.col_indices[static_cast<std::size_t>(e)] -= 2;
  const DiagonalDominance found = look(a);
  EXPECT_EQ(found.absent, 100000 - 70002);
  EXPECT_EQ(found.first_absent, 70001);
}

TEST_P(DominanceTest, GridsAreDominantWhereTheyEnd) {
  const Index n = 40;
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n});
  expect_counts(look(grid), {n * n, 0, 0, 0, 4 * (n - 1), 0});
  CsrMatrix negative = grid;
  for (double& value : negative.values) value = -value;
  expect_counts(look(negative), {n * n, 0, 0, n * n, 4 * (n - 1), 0});
}

TEST_P(DominanceTest, LongRowsAndManyRows) {
  CsrMatrix long_rows{300, 300, {0}, {}, {}};
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 300; ++j) {
      long_rows.col_indices.push_back(j);
      long_rows.values.push_back(i == j ? (i % 2 == 0 ? 320.0 : 299.0) : 1.0);
    }
    long_rows.row_offsets.push_back(static_cast<Offset>(long_rows.col_indices.size()));
  }
  expect_counts(look(long_rows), {300, 0, 0, 0, 150, 0});
  expect_counts(look(test::tridiagonal(100000, -1.0, 4.0, -1.0)), {100000, 0, 0, 0, 100000, 0});
  expect_counts(look(CsrMatrix{0, 0, {0}, {}, {}}), {});
}

/// 1 on the diagonal; what is beside it in rows 0, 2, …: `value` at the next row.
CsrMatrix pairs(Index rows, double value) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    if (i % 2 == 0) {
      a.col_indices.push_back(i + 1);
      a.values.push_back(value);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

TEST_P(DominanceTest, SweepsSettleWhereNothingComesBackToARow) {
  EXPECT_TRUE(settles(pairs(1000, 1e5)));
  EXPECT_TRUE(settles(test::tridiagonal(1000, -1.0, 20.0, -1.0)));
  EXPECT_TRUE(settles(CsrMatrix{0, 0, {0}, {}, {}}));
}

TEST_P(DominanceTest, SweepsDoNotSettleOnGridsNorWhereTheyGrowNorOnNaN) {
  EXPECT_FALSE(settles(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40})));
  EXPECT_FALSE(settles(test::tridiagonal(1000, -1.0, 3.0, -1.0)));
  EXPECT_FALSE(settles(test::tridiagonal(1000, -3.0, 2.0, 3.0)));
  CsrMatrix a = pairs(1000, 1.0);
  a.values[a.values.size() / 2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(settles(a));
}

TEST_P(DominanceTest, SymmetricIsWhatIsItsOwnTranspose) {
  EXPECT_TRUE(symmetric(CsrMatrix{0, 0, {0}, {}, {}}));
  EXPECT_TRUE(symmetric(CsrMatrix{2, 2, {0, 1, 2}, {0, 1}, {1.0, -2.0}}));
  EXPECT_TRUE(symmetric(CsrMatrix{2, 2, {0, 1, 2}, {1, 0}, {3.0, 3.0}}));
  for (const Stencil stencil : {Stencil::five_point, Stencil::seven_point, Stencil::twenty_seven_point}) {
    const CsrMatrix grid =
        make_stencil({.stencil = stencil, .nx = 20, .ny = 21, .nz = stencil == Stencil::five_point ? 1 : 19});
    EXPECT_TRUE(symmetric(grid));
    // One entry of the last row, however little it differs.
    CsrMatrix other = grid;
    const auto last = static_cast<std::size_t>(grid.row_offsets[static_cast<std::size_t>(grid.rows) - 1]);
    other.values[last] = std::nextafter(other.values[last], 1e9);
    EXPECT_FALSE(symmetric(other));
  }
  EXPECT_FALSE(symmetric(make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20, .wind = 0.5})));
}

TEST_P(DominanceTest, AMissingMirrorIsNoSymmetryOnEitherSide) {
  EXPECT_FALSE(symmetric(CsrMatrix{2, 2, {0, 2, 3}, {0, 1, 1}, {1.0, 5.0, 1.0}}));
  EXPECT_FALSE(symmetric(CsrMatrix{2, 2, {0, 1, 3}, {0, 0, 1}, {1.0, 5.0, 1.0}}));
  EXPECT_FALSE(symmetric(CsrMatrix{2, 2, {0, 1, 2}, {1, 1}, {1.0, 1.0}}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(symmetric(CsrMatrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1.0, nan, nan, 1.0}}));
}

TEST_P(DominanceTest, RefusesWhatIsNotSquareAndLimitsOutOfOrder) {
  EXPECT_THROW(static_cast<void>(look(CsrMatrix{1, 2, {0, 1}, {1}, {1.0}})), InvalidInput);
  EXPECT_THROW(static_cast<void>(settles(CsrMatrix{1, 2, {0, 1}, {1}, {1.0}})), InvalidInput);
  EXPECT_THROW(static_cast<void>(symmetric(CsrMatrix{1, 2, {0, 1}, {1}, {1.0}})), InvalidInput);
  const CsrMatrix one{1, 1, {0, 1}, {0}, {1.0}};
  EXPECT_THROW(static_cast<void>(look(one, {2.0, 1.0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(look(one, {-1.0, 1.0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(look(one, {std::numeric_limits<double>::quiet_NaN(), 1.0})), InvalidInput);
}

}  // namespace
}  // namespace taskdag
