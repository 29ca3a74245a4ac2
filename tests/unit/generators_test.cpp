// Generated problems: shape, values and distributions.
#include "taskdag/generators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "taskdag/error.hpp"

namespace taskdag {
namespace {

std::map<std::pair<Index, Index>, double> entries_of(const CsrMatrix& a) {
  std::map<std::pair<Index, Index>, double> entries;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.pattern().row_offsets[i]; e < a.pattern().row_offsets[i + 1]; ++e) {
      entries[{i, a.pattern().col_indices[e]}] = a.view().values[e];
    }
  }
  return entries;
}

bool is_symmetric(const CsrMatrix& a) {
  const auto entries = entries_of(a);
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    const auto mirrored = entries.find({entry.first.second, entry.first.first});
    return mirrored != entries.end() && mirrored->second == entry.second;
  });
}

/// Whether Gaussian elimination on the dense matrix meets positive pivots only.
bool is_positive_definite(const CsrMatrix& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
  for (const auto& [place, value] : entries_of(a)) {
    dense[static_cast<std::size_t>(place.first)][static_cast<std::size_t>(place.second)] = value;
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (!(dense[k][k] > 0.0)) return false;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double multiplier = dense[i][k] / dense[k][k];
      for (std::size_t j = k; j < n; ++j) dense[i][j] -= multiplier * dense[k][j];
    }
  }
  return true;
}

TEST(StencilTest, FivePointRowsAreThoseOfTheLaplacian) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 3, .ny = 2});
  validate(a.pattern(), {.square = true, .diagonal = true});
  EXPECT_THAT(a.row_offsets, testing::ElementsAre(0, 3, 7, 10, 13, 17, 20));
  EXPECT_THAT(a.col_indices, testing::ElementsAre(0, 1, 3, 0, 1, 2, 4, 1, 2, 5, 0, 3, 4, 1, 3, 4, 5, 2, 4, 5));
  EXPECT_THAT(a.values, testing::ElementsAre(4, -1, -1, -1, 4, -1, -1, -1, 4, -1, -1, 4, -1, -1, -1, 4, -1, -1, -1, 4));
}

TEST(StencilTest, InteriorRowsOfTheCubesHaveAllNeighbours) {
  for (const auto& [stencil, neighbours, diagonal] :
       {std::tuple{Stencil::seven_point, 6, 6.0}, std::tuple{Stencil::twenty_seven_point, 26, 26.0}}) {
    const CsrMatrix a = make_stencil({.stencil = stencil, .nx = 3, .ny = 4, .nz = 5});
    validate(a.pattern(), {.square = true, .diagonal = true});
    EXPECT_TRUE(is_symmetric(a));
    const auto entries = entries_of(a);
    const Index interior = (2 * 4 + 1) * 3 + 1;
    const auto in_row = std::count_if(entries.begin(), entries.end(), [interior = interior](const auto& entry) {
      return entry.first.first == interior;
    });
    EXPECT_EQ(in_row, neighbours + 1);
    for (const auto& [place, value] : entries) EXPECT_EQ(value, place.first == place.second ? diagonal : -1.0);
  }
  EXPECT_EQ(make_stencil({.stencil = Stencil::seven_point, .nx = 3, .ny = 4, .nz = 5}).entries(),
            60 + 2 * (2 * 20 + 3 * 15 + 4 * 12));
  EXPECT_EQ(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 3, .ny = 4, .nz = 5}).entries(), 7 * 10 * 13);
}

TEST(StencilTest, WindWeighsTheUpstreamNeighbourOfEachAxis) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 3, .ny = 3, .nz = 3, .wind = 0.5});
  auto entries = entries_of(a);
  const Index centre = 13;
  EXPECT_EQ((entries[{centre, centre}]), 26.0 + 1.5);
  for (const Index upstream : {12, 10, 4}) EXPECT_EQ((entries[{centre, upstream}]), -1.5);
  for (const Index other : {14, 16, 22, 0, 26, 9, 3}) EXPECT_EQ((entries[{centre, other}]), -1.0);
  auto flat = entries_of(make_stencil({.stencil = Stencil::five_point, .nx = 3, .ny = 3, .wind = 2.0}));
  EXPECT_EQ((flat[{4, 4}]), 8.0);
  EXPECT_EQ((flat[{4, 3}]), -3.0);
  EXPECT_EQ((flat[{4, 1}]), -3.0);
  EXPECT_EQ((flat[{4, 5}]), -1.0);
  EXPECT_EQ((flat[{4, 7}]), -1.0);
}

TEST(StencilTest, RowsAreDominantAndStrictlySoAtTheBoundary) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 4, .ny = 3, .nz = 3, .wind = 0.7});
  const std::vector<double> ones(static_cast<std::size_t>(a.cols), 1.0);
  std::vector<double> sums(ones.size());
  multiply(a.view(), ones, sums);
  for (Index i = 0; i < a.rows; ++i) {
    const Index x = i % 4;
    const Index y = i / 4 % 3;
    const Index z = i / 12;
    const bool interior = x > 0 && x < 3 && y == 1 && z == 1;
    if (interior) {
      EXPECT_NEAR(sums.data()[i], 0.0, 1e-14);
    } else {
      EXPECT_GT(sums.data()[i], 0.5);
    }
  }
}

TEST(StencilTest, SeveralUnknownsAreDenseBlocksAndPositiveDefinite) {
  const StencilSpec spec{.stencil = Stencil::seven_point, .nx = 3, .ny = 2, .nz = 3, .unknowns_per_node = 3};
  const CsrMatrix a = make_stencil(spec);
  StencilSpec scalar = spec;
  scalar.unknowns_per_node = 1;
  const CsrMatrix nodes = make_stencil(scalar);
  validate(a.pattern(), {.square = true, .diagonal = true});
  EXPECT_EQ(a.rows, 3 * nodes.rows);
  EXPECT_EQ(a.entries(), 9 * nodes.entries());
  const auto of_nodes = entries_of(nodes);
  for (const auto& [place, value] : entries_of(a)) {
    const double block = of_nodes.at({place.first / 3, place.second / 3});
    EXPECT_DOUBLE_EQ(value, place.first % 3 == place.second % 3 ? block : block / 3.0);
  }
  EXPECT_TRUE(is_symmetric(a));
  EXPECT_TRUE(is_positive_definite(a));
  StencilSpec windy = spec;
  windy.wind = 0.5;
  EXPECT_FALSE(is_symmetric(make_stencil(windy)));
}

TEST(StencilTest, RefusesShapesWithoutSense) {
  EXPECT_THROW(make_stencil({}), InvalidInput);
  EXPECT_THROW(make_stencil({.nx = 3, .ny = -1}), InvalidInput);
  EXPECT_THROW(make_stencil({.nx = 3, .ny = 3, .nz = 2}), InvalidInput);
  EXPECT_THROW(make_stencil({.nx = 3, .ny = 3, .unknowns_per_node = 0}), InvalidInput);
  EXPECT_THROW(make_stencil({.nx = 3, .ny = 3, .wind = -0.5}), InvalidInput);
  EXPECT_THROW(make_stencil({.nx = 3, .ny = 3, .wind = std::nan("")}), InvalidInput);
}

TEST(StencilTest, RefusesOverflowBeforeMemoryIsAsked) {
  const Index huge = 2147483647;
  EXPECT_THROW(make_stencil({.nx = 65536, .ny = 65536}), InvalidInput);
  EXPECT_THROW(make_stencil({.stencil = Stencil::seven_point, .nx = huge, .ny = huge, .nz = huge}), InvalidInput);
  EXPECT_THROW(make_stencil({.stencil = Stencil::five_point, .nx = 30000, .ny = 30000}), InvalidInput);
  EXPECT_THROW(make_stencil({.stencil = Stencil::five_point, .nx = 1, .ny = 1, .unknowns_per_node = huge}),
               InvalidInput);
}

/// What both random triangles share: a valid lower triangle whose values have the ranges and means of the paper.
void expect_random_triangle(const CsrMatrix& a) {
  validate(a.pattern(), {.square = true, .diagonal = true});
  double off_diagonals = 0;
  double sum = 0;
  double squares = 0;
  double logarithms = 0;
  double negative = 0;
  for (const auto& [place, value] : entries_of(a)) {
    ASSERT_LE(place.second, place.first);
    if (place.first == place.second) {
      ASSERT_GE(std::abs(value), 0.5);
      ASSERT_LE(std::abs(value), 2.0);
      logarithms += std::log2(std::abs(value));
      negative += value < 0 ? 1 : 0;
    } else {
      ASSERT_LE(std::abs(value), 2.0);
      sum += value;
      squares += value * value;
      ++off_diagonals;
    }
  }
  // Six standard deviations of the means: uniform in [-2, 2] has variance 4/3, its square 64/45.
  EXPECT_NEAR(sum / off_diagonals, 0.0, 6 * std::sqrt(4.0 / 3.0 / off_diagonals));
  EXPECT_NEAR(squares / off_diagonals, 4.0 / 3.0, 6 * std::sqrt(64.0 / 45.0 / off_diagonals));
  EXPECT_NEAR(logarithms / a.rows, 0.0, 6 * std::sqrt(1.0 / 3.0 / a.rows));
  EXPECT_NEAR(negative / a.rows, 0.5, 6 * std::sqrt(0.25 / a.rows));
}

TEST(ErdosRenyiTest, HasTheDistributionOfThePaper) {
  const Index n = 4000;
  const double p = 0.01;
  const CsrMatrix a = make_erdos_renyi_lower(n, p, 11);
  expect_random_triangle(a);
  const double pairs = 0.5 * n * (n - 1.0);
  EXPECT_NEAR(a.entries() - n, p * pairs, 6 * std::sqrt(pairs * p * (1 - p)));
  // Each half of the columns of the last quarter of the rows gets its share: the walk has no bias along a row.
  double left = 0;
  double right = 0;
  for (const auto& [place, value] : entries_of(a)) {
    if (place.first < 3000) continue;
    left += place.second < 1500 ? 1 : 0;
    right += place.second >= 1500 && place.second < 3000 ? 1 : 0;
  }
  EXPECT_NEAR(left, p * 1000 * 1500, 6 * std::sqrt(p * 1000 * 1500));
  EXPECT_NEAR(right, p * 1000 * 1500, 6 * std::sqrt(p * 1000 * 1500));
}

TEST(ErdosRenyiTest, ExtremeProbabilitiesGiveDiagonalAndFullTriangle) {
  EXPECT_EQ(make_erdos_renyi_lower(50, 0.0, 1).entries(), 50);
  EXPECT_EQ(make_erdos_renyi_lower(50, 1.0, 1).entries(), 50 * 51 / 2);
  EXPECT_EQ(make_erdos_renyi_lower(50, 1e-300, 1).entries(), 50);
  EXPECT_EQ(make_erdos_renyi_lower(0, 0.5, 1).rows, 0);
}

TEST(ErdosRenyiTest, SeedDeterminesTheMatrix) {
  const CsrMatrix a = make_erdos_renyi_lower(300, 0.05, 42);
  const CsrMatrix same = make_erdos_renyi_lower(300, 0.05, 42);
  EXPECT_EQ(a.col_indices, same.col_indices);
  EXPECT_EQ(a.values, same.values);
  EXPECT_NE(a.col_indices, make_erdos_renyi_lower(300, 0.05, 43).col_indices);
}

TEST(NarrowBandTest, HasTheDistributionOfThePaper) {
  const Index n = 20000;
  const double p = 0.14;
  const double b = 10;
  const CsrMatrix a = make_narrow_band_lower(n, p, b, 3);
  expect_random_triangle(a);
  std::map<Index, double> at_distance;
  for (const auto& [place, value] : entries_of(a)) at_distance[place.first - place.second] += 1;
  for (const Index d : {1, 2, 5, 10, 20, 30, 50}) {
    const double expected = p * std::exp((1 - d) / b) * (n - d);
    EXPECT_NEAR(at_distance[d], expected, 6 * std::sqrt(expected) + 1) << "distance " << d;
  }
}

TEST(NarrowBandTest, ExtremeParametersKeepTheirMeaning) {
  EXPECT_EQ(make_narrow_band_lower(50, 0.0, 10, 1).entries(), 50);
  // A band that does not decay is an Erdős–Rényi triangle; with probability 1 it is full.
  EXPECT_EQ(make_narrow_band_lower(50, 1.0, 1e300, 1).entries(), 50 * 51 / 2);
  // One that decays at once holds the first subdiagonal only.
  EXPECT_EQ(make_narrow_band_lower(50, 1.0, 1e-3, 1).entries(), 99);
}

TEST(NarrowBandTest, SeedDeterminesTheMatrix) {
  EXPECT_EQ(make_narrow_band_lower(300, 0.1, 5, 42).values, make_narrow_band_lower(300, 0.1, 5, 42).values);
  EXPECT_NE(make_narrow_band_lower(300, 0.1, 5, 42).values, make_narrow_band_lower(300, 0.1, 5, 43).values);
}

TEST(RandomTriangleTest, RefusesArgumentsWithoutSense) {
  EXPECT_THROW(make_erdos_renyi_lower(-1, 0.5, 1), InvalidInput);
  EXPECT_THROW(make_erdos_renyi_lower(10, -0.1, 1), InvalidInput);
  EXPECT_THROW(make_erdos_renyi_lower(10, 1.1, 1), InvalidInput);
  EXPECT_THROW(make_erdos_renyi_lower(10, std::nan(""), 1), InvalidInput);
  EXPECT_THROW(make_erdos_renyi_lower(1000000, 0.5, 1), InvalidInput);  // 2.5e11 entries
  EXPECT_THROW(make_narrow_band_lower(10, 0.5, 0.0, 1), InvalidInput);
  EXPECT_THROW(make_narrow_band_lower(10, 0.5, std::nan(""), 1), InvalidInput);
  EXPECT_THROW(make_narrow_band_lower(10, 2.0, 1.0, 1), InvalidInput);
}

}  // namespace
}  // namespace taskdag
