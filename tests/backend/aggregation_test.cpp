// Aggregates: those of the serial reference everywhere, and what they promise whatever made them.
#include "reference/aggregation.hpp"

#include <algorithm>
#include <utility>

#include "backends.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

/// Rows that are coupled by these pairs, in one direction where `both` is false. No diagonal where `diagonal` is false.
CsrMatrix from_pairs(Index rows, std::vector<std::pair<Index, Index>> pairs, bool both, bool diagonal) {
  const std::size_t given = pairs.size();
  for (std::size_t k = 0; both && k < given; ++k) pairs.emplace_back(pairs[k].second, pairs[k].first);
  for (Index i = 0; diagonal && i < rows; ++i) pairs.emplace_back(i, i);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  CsrMatrix a;
  a.rows = a.cols = rows;
  a.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& [row, column] : pairs) {
    ++a.row_offsets[static_cast<std::size_t>(row) + 1];
    a.col_indices.push_back(column);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) a.row_offsets[i + 1] += a.row_offsets[i];
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

/// So many couplings between rows that a fixed sequence of numbers chooses; many rows stay without any.
CsrMatrix random_graph(Index rows, int couplings, std::uint32_t state, bool both, bool diagonal) {
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<Index>((state >> 8U) % static_cast<std::uint32_t>(rows));
  };
  std::vector<std::pair<Index, Index>> pairs;
  for (int k = 0; k < couplings; ++k) {
    const Index row = next();
    pairs.emplace_back(row, next());
  }
  return from_pairs(rows, pairs, both, diagonal);
}

/// Stars beside each other, the middle of each being its last row.
CsrMatrix stars(Index count, Index rays) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index star = 0; star < count; ++star) {
    const Index middle = (star + 1) * (rays + 1) - 1;
    for (Index ray = 1; ray <= rays; ++ray) pairs.emplace_back(middle, middle - ray);
  }
  return from_pairs(count * (rays + 1), pairs, true, true);
}

std::vector<test::Problem> problems() {
  std::vector<test::Problem> all = test::small_problems();
  all.push_back({"no_rows", {}});
  all.push_back({"one_row", from_pairs(1, {}, true, true)});
  all.push_back({"one_empty_row", from_pairs(1, {}, true, false)});
  all.push_back({"one_pair", from_pairs(2, {{0, 1}}, false, false)});
  all.push_back({"empty_rows", from_pairs(500, {}, true, false)});
  all.push_back({"diagonal", from_pairs(500, {}, true, true)});
  all.push_back({"stars", stars(40, 100)});
  all.push_back({"arrow", test::arrow(3000)});
  all.push_back({"five_point", make_stencil({.stencil = Stencil::five_point, .nx = 61, .ny = 47, .nz = 1})});
  all.push_back({"seven_point", make_stencil({.stencil = Stencil::seven_point, .nx = 17, .ny = 16, .nz = 15})});
  all.push_back(
      {"three_unknowns",
       make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 8, .nz = 6, .unknowns_per_node = 3})});
  all.push_back({"disconnected", random_graph(3000, 2000, 1, true, true)});
  all.push_back({"random", random_graph(3000, 9000, 2, true, false)});
  all.push_back({"dense", random_graph(400, 20000, 3, true, true)});
  all.push_back({"unsymmetric", random_graph(3000, 6000, 4, false, true)});
  return all;
}

/// By row how far the nearest root is, counted up to `most` + 1.
std::vector<int> distances(const CsrMatrix& a, const std::vector<Index>& roots, int most) {
  std::vector<int> distance(static_cast<std::size_t>(a.rows), most + 1);
  for (const Index root : roots) distance[static_cast<std::size_t>(root)] = 0;
  for (int step = 0; step < most; ++step) {
    for (std::size_t i = 0; i < distance.size(); ++i) {
      for (Offset e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
        int& other = distance[static_cast<std::size_t>(a.col_indices[static_cast<std::size_t>(e)])];
        if (distance[i] == step) other = std::min(other, step + 1);
        if (other == step) distance[i] = std::min(distance[i], step + 1);
      }
    }
  }
  return distance;
}

std::vector<bool> coupled_rows(const CsrMatrix& a) {
  std::vector<bool> coupled(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < coupled.size(); ++i) {
    for (Offset e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
      const auto j = static_cast<std::size_t>(a.col_indices[static_cast<std::size_t>(e)]);
      if (j != i) coupled[i] = coupled[j] = true;
    }
  }
  return coupled;
}

/// Every row that is coupled to another one is near a root and in an aggregate, and no other row is.
void expect_maximal(const CsrMatrix& a, const Aggregation& found, int distance) {
  const std::vector<bool> coupled = coupled_rows(a);
  const std::vector<int> nearest = distances(a, found.roots, distance);
  ASSERT_TRUE(std::is_sorted(found.roots.begin(), found.roots.end()));
  ASSERT_EQ(found.aggregate.size(), coupled.size());
  for (std::size_t row = 0; row < coupled.size(); ++row) {
    ASSERT_EQ(nearest[row] <= distance, coupled[row]) << "row " << row;
    ASSERT_EQ(found.aggregate[row] >= 0, coupled[row]) << "row " << row;
    ASSERT_LT(found.aggregate[row], found.count());
  }
}

/// Of a few roots, since the search from each goes through all rows: no other root is near, and the rows of the
/// aggregate are.
void expect_independent_and_near(const CsrMatrix& a, const Aggregation& found, int distance) {
  for (std::size_t k = 0; k < found.roots.size(); k += 1 + found.roots.size() / 8) {
    const Index root = found.roots[k];
    const std::vector<int> from_root = distances(a, {root}, distance);
    ASSERT_EQ(found.aggregate[static_cast<std::size_t>(root)], static_cast<Index>(k));
    for (const Index other : found.roots) {
      ASSERT_TRUE(other == root || from_root[static_cast<std::size_t>(other)] > distance) << root << " and " << other;
    }
    for (std::size_t row = 0; row < from_root.size(); ++row) {
      ASSERT_TRUE(found.aggregate[row] != static_cast<Index>(k) || from_root[row] <= distance) << "row " << row;
    }
  }
}

constexpr int kDistances[] = {1, 2, 3, 5};

TASKDAG_BACKEND_SUITE(AggregationTest, test::everywhere());

TEST_P(AggregationTest, IsThatOfTheReference) {
  for (const test::Problem& problem : problems()) {
    for (const int distance : kDistances) {
      SCOPED_TRACE(problem.name + ", distance " + std::to_string(distance));
      test::MatrixArrays a = place(problem.a);
      const Aggregation expected = kernels::reference_aggregation(problem.a.pattern(), distance);
      for (int round = 0; round < 2; ++round) {
        const Aggregation found = aggregate_rows(context(), a.pattern(), space(), {distance}, stream());
        EXPECT_EQ(found.aggregate, expected.aggregate);
        EXPECT_EQ(found.roots, expected.roots);
      }
    }
  }
}

TEST_P(AggregationTest, KeepsWhatItPromises) {
  for (const test::Problem& problem : problems()) {
    for (const int distance : kDistances) {
      SCOPED_TRACE(problem.name + ", distance " + std::to_string(distance));
      test::MatrixArrays a = place(problem.a);
      const Aggregation found = aggregate_rows(context(), a.pattern(), space(), {distance}, stream());
      expect_maximal(problem.a, found, distance);
      expect_independent_and_near(problem.a, found, distance);
    }
  }
}

TEST_P(AggregationTest, RefusesWhatItCannotTake) {
  const CsrMatrix square = test::tridiagonal(9, -1.0, 2.0, -1.0);
  test::MatrixArrays a = place(square);
  EXPECT_THROW((void)aggregate_rows(context(), a.pattern(), space(), {0}, stream()), InvalidInput);
  EXPECT_THROW((void)aggregate_rows(context(), a.pattern(), space(), {-1}, stream()), InvalidInput);
  CsrPattern wide = a.pattern();
  wide.cols = 10;
  EXPECT_THROW((void)aggregate_rows(context(), wide, space(), {}, stream()), InvalidInput);
  if (context().backend() == Backend::host) {
    EXPECT_THROW((void)aggregate_rows(context(), a.pattern(), MemorySpace::device, {}, stream()), InvalidInput);
  }
}

}  // namespace
}  // namespace taskdag
