/// \file
/// Compact blocks of rows: boxes of a grid, or grown from seeds. The rules that both backends follow, and the host's
/// form; the device's is in aggregation_cuda.hpp. Both give the same blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ordering/colouring/grid.hpp"
#include "kernels/ordering/graph/adjacency.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::kernels {

/// Which block each row is in.
struct Aggregates {
  BlockShape shape = BlockShape::grown;
  Index blocks = 0;
  Index block_size = 0;      ///< that was aimed at
  std::vector<Index> block;  ///< by row, 0 … blocks − 1; some may have no row
};

/// A bijection of 32-bit numbers that leaves no pattern (the finaliser of MurmurHash3; Appleby).
TASKDAG_HD std::uint32_t scramble(std::uint32_t h) {
  h ^= h >> 16U;
  h *= 0x85EBCA6BU;
  h ^= h >> 13U;
  h *= 0xC2B2AE35U;
  return h ^ (h >> 16U);
}

/// States of a row while seeds are chosen; what lies between is the priority of a row that is undecided.
inline constexpr std::uint32_t kNoSeed = 0;
inline constexpr std::uint32_t kSeed = 0xFFFFFFFFU;

/// Unique, and neither kNoSeed nor kSeed: scramble() gives those for 0 and 0x331DA083, which this range leaves out.
TASKDAG_HD std::uint32_t seed_priority(Index row) { return scramble(static_cast<std::uint32_t>(row) + 0x40000000U); }

/// Roles of a row.
enum class Role : std::uint8_t {
  normal,
  hub,    ///< so many neighbours that everything would be near it: a block by itself, left out of all distances
  alone,  ///< no neighbour, or hubs only
};

TASKDAG_HD Role role_of(const GraphView& graph, Index row, EdgeOffset hub_degree) {
  const EdgeOffset begin = graph.begin(row);
  const EdgeOffset end = graph.end(row);
  if (end - begin > hub_degree) return Role::hub;
  for (EdgeOffset e = begin; e < end; ++e) {
    if (graph.degree(graph.neighbours[e]) <= hub_degree) return Role::normal;
  }
  return Role::alone;
}

/// Rows with more neighbours are hubs.
inline EdgeOffset hub_degree(Index rows, EdgeOffset entries, Index block_size) {
  constexpr EdgeOffset kLeast = 64;
  constexpr EdgeOffset kTimesMean = 8;
  const EdgeOffset mean = rows > 0 ? entries / rows : 0;
  const EdgeOffset by_size = block_size > kLeast ? block_size : kLeast;
  return by_size > kTimesMean * mean ? by_size : kTimesMean * mean;
}

/// The block that a row without one joins: that of most of its neighbours, equal ones by a hash. −1: none of them has
/// one. Of a long row, the first neighbours vote.
TASKDAG_HD Index elect_block(const GraphView& graph, const Index* block, Index row) {
  constexpr EdgeOffset kVoters = 64;
  const EdgeOffset begin = graph.begin(row);
  const EdgeOffset end = graph.end(row);
  const EdgeOffset last = end - begin > kVoters ? begin + kVoters : end;
  Index best = -1;
  int most = 0;
  for (EdgeOffset e = begin; e < last; ++e) {
    const Index candidate = block[graph.neighbours[e]];
    if (candidate < 0 || candidate == best) continue;
    int votes = 0;
    for (EdgeOffset f = begin; f < last; ++f) votes += block[graph.neighbours[f]] == candidate ? 1 : 0;
    const bool tie =
        votes == most && scramble(static_cast<std::uint32_t>(candidate)) < scramble(static_cast<std::uint32_t>(best));
    if (votes > most || tie) {
      best = candidate;
      most = votes;
    }
  }
  for (EdgeOffset e = last; best < 0 && e < end; ++e) best = block[graph.neighbours[e]];
  return best;
}

/// Rounds for which balls are grown to learn how fast they do, and rows that they are grown around.
inline constexpr int kBallRounds = 24;
TASKDAG_HD Index ball_count(Index rows, Index block_size) {
  const std::int64_t most = std::int64_t{rows} / (8 * std::int64_t{block_size});
  return static_cast<Index>(most < 1 ? 1 : (most > 64 ? 64 : most));
}
/// One in each of `balls` equal ranges of the rows, anywhere in it: at equal distances all may be rows of one kind
/// where a numbering has a period, such as those at a boundary.
TASKDAG_HD Index ball_centre(Index rows, Index balls, Index ball) {
  const std::int64_t first = std::int64_t{ball} * rows / balls;
  const std::int64_t last = (std::int64_t{ball} + 1) * rows / balls;
  return static_cast<Index>(first + scramble(static_cast<std::uint32_t>(ball) + 1U) % (last - first));
}

/// The distance that seeds keep so that blocks have about `block_size` rows. within[r]: rows at most r away from one of
/// `balls` rows.
int seed_distance(std::span<const std::int64_t> within, Index balls, Index block_size);

/// Blocks of about `size` > 1 rows on the threads of `pool`.
Aggregates aggregate(const GraphView& graph, const BlockSize& size, host::ThreadPool& pool);

}  // namespace taskdag::kernels
