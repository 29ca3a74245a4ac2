#include "kernels/ordering/colouring/aggregation.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"

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

constexpr Index kRowChunk = 4096;

template <class Body>
void for_rows(host::ThreadPool& pool, Index rows, const Body& body) {
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(rows, kRowChunk, first, last)) {
      for (Index row = first; row < last; ++row) body(row);
    }
  });
}

StencilSample sample_stencils(const GraphView& graph) {
  return kernels::sample_stencils(graph.nodes, [&](Index row, const auto& add) {
    for (EdgeOffset e = graph.begin(row); e < graph.end(row); ++e) add(graph.neighbours[e]);
  });
}

/// Breadth-first searches, one after the other, that share their memory.
class Search {
 public:
  explicit Search(const GraphView& graph, const std::vector<Role>& role)
      : graph_(graph), role_(role), seen_(at(graph.nodes), -1) {}

  void start(Index row) {
    ++number_;
    queue_.clear();
    add(row);
    level_ = 0;
  }
  /// Goes one step further. @returns the rows that are new
  std::span<const Index> step() {
    const std::size_t end = queue_.size();
    for (std::size_t k = level_; k < end; ++k) {
      const Index row = queue_[k];
      for (EdgeOffset e = graph_.begin(row); e < graph_.end(row); ++e) add(graph_.neighbours[e]);
    }
    level_ = end;
    return std::span<const Index>(queue_).subspan(end);
  }
  void join(Index row) { add(row); }

 private:
  void add(Index row) {
    if (seen_[at(row)] == number_ || role_[at(row)] == Role::hub) return;
    seen_[at(row)] = number_;
    queue_.push_back(row);
  }

  const GraphView& graph_;
  const std::vector<Role>& role_;
  std::vector<Index> seen_;
  std::vector<Index> queue_;
  std::size_t level_ = 0;
  Index number_ = -1;
};

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

/// Rows by descending priority: sorted into as many buckets as there are rows, then inside the buckets.
std::vector<Index> by_priority(Index rows) {
  unsigned shift = 31;
  while (shift > 0 && (std::uint64_t{kSeed} >> shift) < std::uint64_t{static_cast<std::uint32_t>(rows)}) --shift;
  const auto bucket = [&](Index row) { return static_cast<std::size_t>((kSeed - seed_priority(row)) >> shift); };
  std::vector<Index> first((std::size_t{kSeed} >> shift) + 2, 0);
  for (Index row = 0; row < rows; ++row) ++first[bucket(row) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Index> order(at(rows));
  std::vector<Index> next(first);
  for (Index row = 0; row < rows; ++row) order[at(next[bucket(row)]++)] = row;
  const auto higher = [](Index a, Index b) { return seed_priority(a) > seed_priority(b); };
  for (std::size_t b = 0; b + 1 < first.size(); ++b) {
    if (first[b + 1] - first[b] > 1) std::sort(order.begin() + first[b], order.begin() + first[b + 1], higher);
  }
  return order;
}

/// The lexicographically first independent set of that distance, by descending priority: what rounds of local maxima
/// with fixed priorities give, too (Luby 1986; Blelloch et al. 2012).
std::vector<char> choose_seeds(const GraphView& graph, const std::vector<Role>& role, int distance) {
  std::vector<char> seed(at(graph.nodes), 0);
  std::vector<char> near(at(graph.nodes), 0);
  Search search(graph, role);
  for (const Index row : by_priority(graph.nodes)) {
    if (near[at(row)] || role[at(row)] != Role::normal) continue;
    seed[at(row)] = 1;
    search.start(row);
    for (int step = 0; step < distance; ++step) {
      for (const Index other : search.step()) near[at(other)] = 1;
    }
  }
  return seed;
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
    for_rows(pool, rows, [&](Index row) { result.block[at(row)] = grid->block_of(row); });
    return result;
  }

  const EdgeOffset most = hub_degree(rows, graph.offsets[rows], block_size);
  std::vector<Role> role(at(rows));
  for_rows(pool, rows, [&](Index row) { role[at(row)] = role_of(graph, row, most); });
  const Index balls = ball_count(rows, block_size);
  const int distance = seed_distance(grow_balls(graph, role, balls), balls, block_size);
  const std::vector<char> seed = choose_seeds(graph, role, distance);

  // Blocks are numbered by their seeds; hubs are seeds that do not grow.
  std::vector<Index> hub_block;
  for (Index row = 0; row < rows; ++row) {
    if (seed[at(row)]) result.block[at(row)] = result.blocks++;
    if (role[at(row)] == Role::hub) hub_block.push_back(result.blocks++);
  }
  std::vector<Index> grown(result.block);
  for (int round = 0; round < distance; ++round) {
    for_rows(pool, rows, [&](Index row) {
      if (result.block[at(row)] < 0 && role[at(row)] == Role::normal) {
        grown[at(row)] = elect_block(graph, result.block.data(), row);
      }
    });
    for_rows(pool, rows, [&](Index row) { result.block[at(row)] = grown[at(row)]; });
  }
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
