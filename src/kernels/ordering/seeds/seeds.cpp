#include "kernels/ordering/seeds/seeds.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/index.hpp"
#include "kernels/ordering/seeds/rows.hpp"
#include "kernels/ordering/seeds/search.hpp"

namespace taskdag::kernels {
namespace {

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

/// One row after the other, each with a search around it.
std::vector<char> choose_in_order(const GraphView& graph, const std::vector<Role>& role, int distance) {
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

/// By rounds of all rows. held[s]: the largest state within s of each row, kept from round to round: once that is a
/// seed, or all there is decided, it stays.
std::vector<char> choose_by_rounds(const GraphView& graph, const std::vector<Role>& role, int distance,
                                   host::ThreadPool& pool) {
  const Index rows = graph.nodes;
  std::vector<std::vector<std::uint32_t>> held(static_cast<std::size_t>(distance) + 1);
  for (auto& states : held) states.resize(at(rows));
  for_each_row(pool, rows, [&](Index row) {
    const std::uint32_t first = first_state(role[at(row)], row);
    for (auto& states : held) states[at(row)] = first;
  });
  std::atomic<bool> open{true};
  while (open.exchange(false)) {
    for (std::size_t step = 1; step < held.size(); ++step) {
      for_each_row(pool, rows, [&](Index row) {
        std::uint32_t& state = held[step][at(row)];
        if (!is_decided(state)) state = largest_around(graph, role[at(row)], held[step - 1].data(), row);
      });
    }
    for_each_row(pool, rows, [&](Index row) {
      std::uint32_t& state = held[0][at(row)];
      state = next_state(state, held.back()[at(row)]);
      if (!is_decided(state)) open.store(true, std::memory_order_relaxed);
    });
  }
  std::vector<char> seed(at(rows));
  for_each_row(pool, rows, [&](Index row) { seed[at(row)] = held[0][at(row)] == kSeed ? 1 : 0; });
  return seed;
}

}  // namespace

std::vector<Role> find_roles(const GraphView& graph, EdgeOffset hub_degree, host::ThreadPool& pool) {
  std::vector<Role> role(at(graph.nodes));
  for_each_row(pool, graph.nodes, [&](Index row) { role[at(row)] = role_of(graph, row, hub_degree); });
  return role;
}

std::vector<char> choose_seeds(const GraphView& graph, const std::vector<Role>& role, int distance,
                               host::ThreadPool& pool) {
  // Threads share rounds out, and these keep an array a step. With more steps a search, which sees a row near a seed
  // once, takes less time on one thread.
  constexpr int kFewSteps = 3;
  return distance <= kFewSteps ? choose_by_rounds(graph, role, distance, pool) : choose_in_order(graph, role, distance);
}

void grow_blocks(const GraphView& graph, const std::vector<Role>& role, int rounds, host::ThreadPool& pool,
                 std::vector<Index>& block) {
  std::vector<Index> grown(block);
  for (int round = 0; round < rounds; ++round) {
    for_each_row(pool, graph.nodes, [&](Index row) {
      if (block[at(row)] < 0 && role[at(row)] == Role::normal) grown[at(row)] = elect_block(graph, block.data(), row);
    });
    for_each_row(pool, graph.nodes, [&](Index row) { block[at(row)] = grown[at(row)]; });
  }
}

}  // namespace taskdag::kernels
