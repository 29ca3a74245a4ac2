#include "reference/aggregation.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/index.hpp"
#include "kernels/ordering/seeds/seeds.hpp"

namespace taskdag::kernels {
namespace {

using Neighbours = std::vector<std::set<Index>>;

Neighbours neighbours_of(const CsrPattern& a) {
  Neighbours neighbours(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
      const Index j = a.col_indices[e];
      if (j == i) continue;
      neighbours[at(i)].insert(j);
      neighbours[at(j)].insert(i);
    }
  }
  return neighbours;
}

/// All rows that `row` reaches by at most `distance` couplings.
std::set<Index> ball(const Neighbours& neighbours, Index row, int distance) {
  std::set<Index> reached{row};
  for (int step = 0; step < distance; ++step) {
    const std::set<Index> before(reached);
    for (const Index inner : before) reached.insert(neighbours[at(inner)].begin(), neighbours[at(inner)].end());
  }
  return reached;
}

/// Row after row by descending priority, each that no root is near.
std::vector<Index> choose_roots(const Neighbours& neighbours, int distance) {
  std::vector<Index> order(neighbours.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [](Index a, Index b) { return seed_priority(a) > seed_priority(b); });
  std::vector<bool> near(neighbours.size());
  std::vector<Index> roots;
  for (const Index row : order) {
    if (near[at(row)] || neighbours[at(row)].empty()) continue;
    roots.push_back(row);
    for (const Index other : ball(neighbours, row, distance)) near[at(other)] = true;
  }
  std::sort(roots.begin(), roots.end());
  return roots;
}

/// Of the aggregates of the first neighbours that with most votes, of these that with the smallest hash; else the first
/// that any neighbour is in; −1 where none is in one.
Index elect(const std::set<Index>& neighbours, const std::vector<Index>& aggregate) {
  std::map<Index, int> votes;
  EdgeOffset voters = 0;
  for (const Index j : neighbours) {
    const Index candidate = aggregate[at(j)];
    if (voters++ < kVoters) {
      if (candidate >= 0) ++votes[candidate];
    } else if (votes.empty() && candidate >= 0) {
      return candidate;
    }
  }
  const auto hash = [](Index candidate) { return scramble(static_cast<std::uint32_t>(candidate)); };
  const auto best = std::max_element(votes.begin(), votes.end(), [&](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : hash(a.first) > hash(b.first);
  });
  return best != votes.end() ? best->first : -1;
}

}  // namespace

Aggregation reference_aggregation(const CsrPattern& a, int distance) {
  const Neighbours neighbours = neighbours_of(a);
  Aggregation result;
  result.roots = choose_roots(neighbours, distance);
  result.aggregate.assign(at(a.rows), -1);
  for (std::size_t k = 0; k < result.roots.size(); ++k) result.aggregate[at(result.roots[k])] = static_cast<Index>(k);
  for (int round = 0; round < distance; ++round) {
    const std::vector<Index> before(result.aggregate);
    for (Index row = 0; row < a.rows; ++row) {
      if (before[at(row)] < 0) result.aggregate[at(row)] = elect(neighbours[at(row)], before);
    }
  }
  return result;
}

}  // namespace taskdag::kernels
