// Hops between runs of rows, against a walk over the rows on the host.
#include "kernels/sptrsv/schedules/cells/cut/hops.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::candidate;
using kernels::cells::kCandidates;
using kernels::cells::most_hops;

constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

/// As Runs numbers them, in the direction of the sweep.
std::vector<int> cells_of(const CsrMatrix& a, Triangle triangle, int cells) {
  const auto weight = [&](Index row) { return std::int64_t{a.row_offsets[at(row)]} + 2 * std::int64_t{row}; };
  std::vector<int> result;
  for (Index i = 0; i < a.rows; ++i) {
    const auto cell = static_cast<int>(weight(i) * cells / weight(a.rows));
    result.push_back(triangle == Triangle::lower ? cell : cells - 1 - cell);
  }
  return result;
}

int walk(const CsrMatrix& a, Triangle triangle, const std::vector<int>& finest, int cells, int coarse) {
  std::vector<int> hops(at(a.rows), 0);
  for (Index step = 0; step < a.rows; ++step) {
    const Index i = triangle == Triangle::lower ? step : a.rows - 1 - step;
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      const Index j = a.col_indices[e];
      if (triangle == Triangle::lower ? j >= i : j <= i) continue;
      const bool crosses = finest[at(i)] * coarse / cells != finest[at(j)] * coarse / cells;
      hops[at(i)] = std::max(hops[at(i)], hops[at(j)] + (crosses ? 1 : 0));
    }
  }
  return a.rows == 0 ? 0 : *std::max_element(hops.begin(), hops.end());
}

class HopsTest : public test::OnDevice<> {};

TEST_F(HopsTest, AreThoseOfAWalkOverTheRows) {
  std::vector<test::Problem> problems = test::small_problems();
  for (test::Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  problems.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 120, .ny = 90})});
  problems.push_back({"a chain", make_stencil({.stencil = Stencil::five_point, .nx = 20000, .ny = 1})});
  for (const test::Problem& problem : problems) {
    for (const Triangle triangle : kTriangles) {
      for (const int cells : {1, 2, 7, 132, kernels::cells::kMostRuns}) {
        SCOPED_TRACE(problem.name + ", " + (triangle == Triangle::lower ? "lower" : "upper") + ", " +
                     std::to_string(cells) + " cells");
        if (problem.a.rows == 0) continue;
        const test::DeviceTriangle device(problem.a, triangle, stream());
        const kernels::SweepInput input = device.input();
        const std::array<int, kCandidates> hops =
            most_hops(input, {input.pattern.row_offsets, problem.a.rows, triangle == Triangle::lower, cells}, stream());
        const std::vector<int> finest = cells_of(problem.a, triangle, cells);
        for (int k = 0; k < kCandidates; ++k) {
          EXPECT_EQ(hops[at(k)], walk(problem.a, triangle, finest, cells, candidate(cells, k))) << "candidate " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
