/// \file
/// The fixture of tests of CUDA sweeps that recognise a grid by its lines.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "base/handover.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"

namespace taskdag::test {

inline constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

/// The matrix without the entries that `drop` names.
template <class Drop>
CsrMatrix without(const CsrMatrix& a, const Drop& drop) {
  CsrMatrix result;
  result.rows = result.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      if (i != a.col_indices[e] && drop(i, a.col_indices[e])) continue;
      result.col_indices.push_back(a.col_indices[e]);
      result.values.push_back(a.values[e]);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.values.size()));
  }
  return result;
}

/// Makes a sweep of whatever grid it finds in a triangle.
using MakeSweep = std::function<std::unique_ptr<kernels::Sweep>(const kernels::SweepInput&)>;

class OnGridSweeps : public OnSweeps<> {
 protected:
  void SetUp() override {
    OnSweeps::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run cells";
  }

  /// Solves with and without pivots, twice with each, and in place.
  void expect_right(const CsrMatrix& a, Triangle triangle, const MakeSweep& make) {
    const DeviceTriangle on_device(a, triangle, stream());
    const auto sweep = make(on_device.input());
    const std::vector<double> b = right_hand_side(a.rows);
    for (const bool unit : {false, true, false}) {
      load(*sweep, a.values, unit ? std::vector<double>{} : inverse_diagonal(a));
      const TriangularOptions options{.triangle = triangle, .unit_diagonal = unit};
      for (int k = 0; k < 2; ++k) {
        EXPECT_LE(triangular_error(a, options, b, solve(*sweep, b)), 1.0);
        EXPECT_FALSE(non_finite_);
      }
      const auto x = upload(b, stream());
      run(*sweep, x.data(), x.data());
      EXPECT_LE(triangular_error(a, options, b, cuda::fetch_array(x.data(), b.size(), stream())), 1.0);
    }
  }

  /// Of sweeps with entries in single precision, whose pivots scale right-hand sides: with and without pivots.
  void expect_right_in_single(const CsrMatrix& a, Triangle triangle, const MakeSweep& make) {
    const DeviceTriangle on_device(a, triangle, stream());
    kernels::SweepInput input = on_device.input();
    input.precision = Precision::in_single;
    const auto sweep = make(input);
    CsrMatrix rounded = a;
    for (double& value : rounded.values) value = static_cast<double>(static_cast<float>(value));
    const std::vector<double> b = right_hand_side(a.rows);
    const std::vector<double> pivots = inverse_diagonal(a);
    for (const bool unit : {false, true, false}) {
      load(*sweep, a.values, unit ? std::vector<double>{} : pivots);
      std::vector<double> scaled = b;
      for (std::size_t i = 0; i < b.size(); ++i) scaled[i] *= unit ? 1.0 : pivots[i];
      EXPECT_LE(triangular_error(rounded, {.triangle = triangle, .unit_diagonal = true}, scaled, solve(*sweep, b)),
                1.0);
      EXPECT_FALSE(non_finite_);
    }
  }

  /// What is loaded and returned by looking entries up is what is by the sources that have been noted.
  void expect_the_same_without_sources(const CsrMatrix& a, Triangle triangle, Precision precision,
                                       const MakeSweep& make) {
    const DeviceTriangle on_device(a, triangle, stream());
    kernels::SweepInput input = on_device.input();
    input.precision = precision;
    const auto noted = make(input);
    const auto found = make(input);
    kernels::ReturnsValues* const returns = found->capabilities().returns_values;
    ASSERT_NE(returns, nullptr);
    returns->rely_on(input.pattern);
    EXPECT_LT(found->bytes(), noted->bytes());
    const std::vector<double> b = right_hand_side(a.rows);
    for (const bool unit : {false, true}) {
      const std::vector<double> pivots = unit ? std::vector<double>{} : inverse_diagonal(a);
      load(*noted, a.values, pivots);
      load(*found, a.values, pivots);
      EXPECT_TRUE(same_bits(solve(*found, b), solve(*noted, b)));
      EXPECT_EQ(returned(*found, a.values.size(), pivots), returned(*noted, a.values.size(), pivots));
    }
  }

  /// Right-hand side and result each in an order of its own, both triangles.
  void expect_right_in_other_orders(const CsrMatrix& a, const MakeSweep& make) {
    const auto n = at(a.rows);
    std::vector<Index> from(n);
    std::vector<Index> to(n);
    for (std::size_t i = 0; i < n; ++i) {
      from[i] = static_cast<Index>((i * 7 + 3) % n);
      to[i] = static_cast<Index>((i * 11 + 5) % n);
    }
    ASSERT_NE(n % 7, 0U);
    ASSERT_NE(n % 11, 0U);
    const auto from_device = upload(from, stream());
    const auto to_device = upload(to, stream());
    for (const Triangle triangle : kTriangles) {
      const DeviceTriangle on_device(a, triangle, stream());
      kernels::SweepInput input = on_device.input();
      input.rhs_index = from_device.data();
      input.x_index = to_device.data();
      const auto sweep = make(input);
      load(*sweep, a.values, inverse_diagonal(a));
      const std::vector<double> b = right_hand_side(a.rows);
      const std::vector<double> x = solve(*sweep, b);
      std::vector<double> b_by_row(n);
      std::vector<double> x_by_row(n);
      for (std::size_t i = 0; i < n; ++i) {
        b_by_row[i] = b[at(from[i])];
        x_by_row[i] = x[at(to[i])];
      }
      EXPECT_LE(triangular_error(a, {.triangle = triangle}, b_by_row, x_by_row), 1.0);
    }
  }

  /// A NaN, the NaN of `not yet` and an infinity in each of these rows of the right-hand side, lower triangle.
  void expect_what_is_not_finite_to_stay(const CsrMatrix& a, const std::vector<Index>& rows, const MakeSweep& make) {
    const DeviceTriangle on_device(a, Triangle::lower, stream());
    const auto sweep = make(on_device.input());
    load(*sweep, a.values, inverse_diagonal(a));
    for (const double bad : {std::nan(""), not_yet(), std::numeric_limits<double>::infinity()}) {
      for (const Index row : rows) {
        std::vector<double> b = right_hand_side(a.rows);
        b[at(row)] = bad;
        const std::vector<double> x = solve(*sweep, b);
        EXPECT_TRUE(non_finite_);
        const std::vector<double> expected = reference_solve(a, {}, b);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i << " for " << bad << " in " << row;
      }
    }
  }

  /// Lower triangle, squares as entries, then products of entries that are each other's mirror image.
  void expect_right_reciprocals(const CsrMatrix& a, Precision precision, const MakeSweep& make) {
    const DeviceTriangle on_device(a, Triangle::lower, stream());
    kernels::SweepInput input = on_device.input();
    input.precision = precision;
    const auto sweep = make(input);
    const auto values = upload(a.values, stream());
    const std::vector<double> b(at(a.rows), 1.7);
    const auto rhs = upload(b, stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    const auto x = upload(std::vector<double>(b.size(), -7.0), stream());
    kernels::SolvesReciprocals* const reciprocals = sweep->capabilities().solves_reciprocals;
    ASSERT_NE(reciprocals, nullptr);
    EXPECT_TRUE(reciprocals->finds_partners());
    EXPECT_EQ(reciprocals->product_places() > 0, precision == Precision::in_single);
    const cuda::DeviceArray<double> room(reciprocals->product_places(), stream());
    for (const bool mirrored : {false, true}) {
      kernels::ValueProducts products{.values = values.data(), .room = room.data()};
      if (mirrored) products.mirrored = input.pattern;
      reciprocals->load_products(products, stream());
      reciprocals->solve_reciprocals(rhs.data(), x.data(), flag.data(), stream());
      const std::vector<double> found = cuda::fetch_array(x.data(), b.size(), stream());
      EXPECT_LE(difference(found, expected_reciprocals(a, b, mirrored)), kForwardBound);
      EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
    }
  }

 private:
  /// What ReturnsValues returns; −7 where it returns nothing.
  std::vector<double> returned(kernels::Sweep& sweep, std::size_t entries, const std::vector<double>& pivots) {
    const auto inverse = upload(pivots, stream());
    const auto result = upload(std::vector<double>(entries, -7.0), stream());
    sweep.capabilities().returns_values->return_values(inverse.data(), result.data(), stream());
    return cuda::fetch_array(result.data(), entries, stream());
  }
  static double entry_of(const CsrMatrix& a, Index row, Index column) {
    for (auto e = at(a.row_offsets[at(row)]); e < at(a.row_offsets[at(row) + 1]); ++e) {
      if (a.col_indices[e] == column) return a.values[e];
    }
    return 0.0;
  }
  static std::vector<double> expected_reciprocals(const CsrMatrix& a, const std::vector<double>& rhs, bool mirrored) {
    std::vector<double> expected(rhs.size());
    for (Index i = 0; i < a.rows; ++i) {
      double sum = rhs[at(i)];
      for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
        const Index j = a.col_indices[e];
        if (j < i) sum -= a.values[e] * (mirrored ? entry_of(a, j, i) : a.values[e]) * expected[at(j)];
      }
      expected[at(i)] = 1.0 / sum;
    }
    return expected;
  }
};

}  // namespace taskdag::test
