#include "kernels/ordering/colouring/aggregation.hpp"

#include <cmath>

#include "base/index.hpp"
#include "kernels/ordering/seeds/rows.hpp"
#include "kernels/ordering/seeds/search.hpp"

namespace taskdag::kernels {

int seed_distance(std::span<const std::int64_t> within, Index balls, Index block_size) {
  // Rows that a seed gets, relative to a ball of half the distance: measured on grids of two and three dimensions.
  constexpr double kRowsPerBall = 1.75;
  int best = 1;
  double least = INFINITY;
  for (int distance = 1; distance <= 2 * (static_cast<int>(within.size()) - 1); ++distance) {
    const auto below = static_cast<std::size_t>(distance / 2);
    const auto above = static_cast<std::size_t>((distance + 1) / 2);
    const double ball = 0.5 * static_cast<double>(within[below] + within[above]) / balls;
    const double off = std::abs(std::log(kRowsPerBall * ball / block_size));
    if (off < least) {
      least = off;
      best = distance;
    }
  }
  return best;
}

namespace {

StencilSample sample_stencils(const GraphView& graph) {
  return kernels::sample_stencils(graph.nodes, [&](Index row, const auto& add) {
    for (EdgeOffset e = graph.begin(row); e < graph.end(row); ++e) add(graph.neighbours[e]);
  });
}

/// Sum over all balls at once: rows within r of any centre.
std::vector<std::int64_t> grow_balls(const GraphView& graph, const std::vector<Role>& role, Index balls) {
  std::vector<std::int64_t> within;
  Search search(graph, role);
  search.start(ball_centre(graph.nodes, balls, 0));
  for (Index b = 1; b < balls; ++b) search.join(ball_centre(graph.nodes, balls, b));
  std::int64_t total = 0;
  for (Index b = 0; b < balls; ++b) total += role[at(ball_centre(graph.nodes, balls, b))] != Role::hub ? 1 : 0;
  within.push_back(total);
  for (int round = 0; round < kBallRounds; ++round) {
    total += static_cast<std::int64_t>(search.step().size());
    within.push_back(total);
  }
  return within;
}

}  // namespace

Aggregates aggregate(const GraphView& graph, const BlockSize& size, host::ThreadPool& pool) {
  const Index rows = graph.nodes;
  const Index block_size = size.rows;
  Aggregates result;
  result.block_size = block_size;
  result.block.assign(at(rows), -1);
  if (const auto grid = find_grid(sample_stencils(graph), rows, size)) {
    result.shape = BlockShape::grid;
    result.block_size = grid->points;
    result.blocks = grid->blocks();
    for_each_row(pool, rows, [&](Index row) { result.block[at(row)] = grid->block_of(row); });
    return result;
  }

  const EdgeOffset most = hub_degree(rows, graph.offsets[rows], block_size);
  const std::vector<Role> role = find_roles(graph, most, pool);
  const Index balls = ball_count(rows, block_size);
  const int distance = seed_distance(grow_balls(graph, role, balls), balls, block_size);
  const std::vector<char> seed = choose_seeds(graph, role, distance, pool);

  // Blocks are numbered by their seeds; hubs are seeds that do not grow.
  std::vector<Index> hub_block;
  for (Index row = 0; row < rows; ++row) {
    if (seed[at(row)]) result.block[at(row)] = result.blocks++;
    if (role[at(row)] == Role::hub) hub_block.push_back(result.blocks++);
  }
  grow_blocks(graph, role, distance, pool, result.block);
  // Rows without neighbours share blocks.
  Index hubs = 0;
  Index alone = 0;
  for (Index row = 0; row < rows; ++row) {
    if (role[at(row)] == Role::hub) result.block[at(row)] = hub_block[at(hubs++)];
    if (role[at(row)] == Role::alone) result.block[at(row)] = result.blocks + alone++ / block_size;
  }
  result.blocks += pieces_of(alone, block_size);
  return result;
}

}  // namespace taskdag::kernels
