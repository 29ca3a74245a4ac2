// The schedule flat where levels are wide enough to be launches of their own, against the serial reference.
#include "kernels/sptrsv/schedules/flat/flat.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/stream.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "measure.hpp"

namespace taskdag {
namespace {

using test::upload;

using FlatTest = test::OnDevice<>;

constexpr Index kWide = 100000;  // rows; more than one launch's worth of warps on any device

/// Levels of so many rows; each row needs a row of the level before and `more` rows of any level above its own.
CsrMatrix levels_of(const std::vector<Index>& widths, int more) {
  CsrMatrix a{0, 0, {0}, {}, {}};
  std::mt19937 random(7);
  Index before = 0;
  Index begin = 0;
  for (const Index width : widths) {
    for (Index i = begin; i < begin + width; ++i) {
      std::vector<Index> columns;
      if (begin > 0) {
        columns.push_back(std::uniform_int_distribution<Index>(before, begin - 1)(random));
        for (int k = 0; k < more; ++k) columns.push_back(std::uniform_int_distribution<Index>(0, begin - 1)(random));
      }
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      for (const Index j : columns) {
        a.col_indices.push_back(j);
        a.values.push_back(-0.5 / static_cast<double>(columns.size()));
      }
      a.col_indices.push_back(i);
      a.values.push_back(2.0);
      a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
    }
    before = begin;
    begin += width;
  }
  a.rows = a.cols = begin;
  return a;
}

TEST_F(FlatTest, WideLevelsAndNarrowOnesSeeEachOthersResults) {
  const std::vector<std::vector<Index>> shapes = {
      {kWide},                                // no dependencies
      {kWide, kWide, kWide, kWide},           // launches that overlap
      {3, kWide},                             // all rows need the same few
      {kWide, 5, 4, 6, kWide, kWide, 7, 1},   // stretches of narrow levels between them and behind
      {40, 30, 50, kWide, 20, kWide, kWide},  // and before
  };
  for (const auto& widths : shapes) {
    for (const int more : {0, 2, 11}) {
      SCOPED_TRACE(std::to_string(widths.size()) + " levels, " + std::to_string(more));
      const CsrMatrix a = levels_of(widths, more);
      const auto rows = static_cast<std::size_t>(a.rows);
      const test::DeviceTriangle triangle(a, Triangle::lower, stream());
      kernels::FlatSweep sweep(triangle.input(), stream());
      const auto values = upload(a.values, stream());
      const auto pivots = upload(test::inverse_diagonal(a), stream());
      sweep.load_values(values.data(), pivots.data(), stream());
      const auto flag = upload(std::vector<int>{0}, stream());
      // Each time another right-hand side: what a solve leaves behind must not pass for a result of the next. Vectors
      // at new places and at the same ones, because several launches become a graph that remembers them.
      std::vector<cuda::DeviceArray<double>> rhs;
      std::vector<cuda::DeviceArray<double>> x;
      for (int solve = 0; solve < 12; ++solve) {
        std::vector<double> b(rows);
        for (std::size_t i = 0; i < rows; ++i) b[i] = 1.0 + solve + static_cast<double>((i * 37) % 101);
        if (solve < 9) {
          rhs.push_back(upload(b, stream()));
          x.push_back(upload(std::vector<double>(rows, -7.0), stream()));
        } else {
          cuda::copy_to_device(rhs.back().data(), b.data(), rows, stream());
        }
        if (solve == 7) sweep.load_values(values.data(), pivots.data(), stream());
        sweep.solve(rhs.back().data(), x.back().data(), flag.data(), stream());
        ASSERT_LE(test::triangular_error(a, {.triangle = Triangle::lower}, b,
                                         cuda::fetch_array(x.back().data(), rows, stream())),
                  1.0);
      }
      EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
    }
  }
}

}  // namespace
}  // namespace taskdag
