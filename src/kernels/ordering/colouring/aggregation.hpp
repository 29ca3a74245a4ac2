/// \file
/// Compact blocks of rows: boxes of a grid, or grown from seeds. The rules that both backends follow, and the host's
/// form; the device's is in aggregation_cuda.hpp. Both give the same blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ordering/colouring/grid.hpp"
#include "kernels/ordering/seeds/seeds.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::kernels {

/// Which block each row is in.
struct Aggregates {
  BlockShape shape = BlockShape::grown;
  Index blocks = 0;
  Index block_size = 0;      ///< that was aimed at
  std::vector<Index> block;  ///< by row, 0 … blocks − 1; some may have no row
};

/// Rows with more neighbours are hubs.
inline EdgeOffset hub_degree(Index rows, EdgeOffset entries, Index block_size) {
  constexpr EdgeOffset kLeast = 64;
  constexpr EdgeOffset kTimesMean = 8;
  const EdgeOffset mean = rows > 0 ? entries / rows : 0;
  const EdgeOffset by_size = block_size > kLeast ? block_size : kLeast;
  return by_size > kTimesMean * mean ? by_size : kTimesMean * mean;
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
