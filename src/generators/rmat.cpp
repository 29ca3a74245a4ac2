/// \file
/// Random graphs by the recursive matrix model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

void validate_spec(const RmatSpec& spec) {
  if (spec.scale < 1 || spec.scale > 28) throw InvalidInput("the scale of an R-MAT graph is 1 to 28");
  if (spec.edges_per_vertex < 0) throw InvalidInput("an R-MAT graph has no negative number of edges");
  const double rest = 1.0 - spec.a - spec.b - spec.c;
  if (!(spec.a >= 0.0 && spec.b >= 0.0 && spec.c >= 0.0 && rest >= -1e-12)) {
    throw InvalidInput("the quadrants' probabilities of an R-MAT graph add up to more than 1, or one is negative");
  }
}

std::vector<Index> random_permutation(Index size, Random& random) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) order.data()[i] = i;
  for (Index i = size - 1; i > 0; --i) {
    const auto other = static_cast<Index>(random.bits() % (static_cast<std::uint64_t>(i) + 1));
    std::swap(order.data()[i], order.data()[other]);
  }
  return order;
}

struct Edge {
  Index row;
  Index col;
};

Edge draw(const RmatSpec& spec, Random& random) {
  Edge edge{0, 0};
  for (int level = 0; level < spec.scale; ++level) {
    const double drawn = random.uniform();
    const bool below = drawn >= spec.a + spec.b;
    const bool right = below ? drawn >= spec.a + spec.b + spec.c : drawn >= spec.a;
    edge.row = 2 * edge.row + (below ? 1 : 0);
    edge.col = 2 * edge.col + (right ? 1 : 0);
  }
  return edge;
}

/// Rows sorted, repetitions dropped.
CsrMatrix without_repetitions(Index rows, const std::vector<std::int64_t>& first, std::vector<Index>& columns) {
  CsrMatrix a;
  a.rows = rows;
  a.cols = rows;
  a.row_offsets.reserve(static_cast<std::size_t>(rows) + 1);
  std::int64_t kept = 0;
  for (Index row = 0; row < rows; ++row) {
    Index* begin = columns.data() + first.data()[row];
    Index* end = columns.data() + first.data()[row + 1];
    std::sort(begin, end);
    const Index* last = std::unique(begin, end);
    for (const Index* column = begin; column != last; ++column) columns.data()[kept++] = *column;
    a.row_offsets.push_back(static_cast<Offset>(kept));
  }
  columns.resize(static_cast<std::size_t>(kept));
  a.col_indices = std::move(columns);
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

}  // namespace

CsrMatrix make_rmat(const RmatSpec& spec) {
  validate_spec(spec);
  const Index rows = Index{1} << spec.scale;
  const std::int64_t draws = std::int64_t{rows} * spec.edges_per_vertex;
  checked_offset(2 * draws, "the R-MAT graph");
  Random random(spec.seed);
  const std::vector<Index> name = random_permutation(rows, random);

  std::vector<Edge> edges;
  edges.reserve(static_cast<std::size_t>(draws));
  std::vector<std::int64_t> first(static_cast<std::size_t>(rows) + 1, 0);
  for (std::int64_t k = 0; k < draws; ++k) {
    const Edge drawn = draw(spec, random);
    if (drawn.row == drawn.col) continue;
    const Edge edge{name.data()[drawn.row], name.data()[drawn.col]};
    edges.push_back(edge);
    ++first.data()[edge.row + 1];
    ++first.data()[edge.col + 1];
  }
  for (Index row = 0; row < rows; ++row) first.data()[row + 1] += first.data()[row];
  std::vector<std::int64_t> next(first);
  std::vector<Index> columns(2 * edges.size());
  for (const Edge& edge : edges) {
    columns.data()[next.data()[edge.row]++] = edge.col;
    columns.data()[next.data()[edge.col]++] = edge.row;
  }
  return without_repetitions(rows, first, columns);
}

}  // namespace taskdag
