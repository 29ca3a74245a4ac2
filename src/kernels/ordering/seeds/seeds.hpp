/// \file
/// Seeds: a maximal independent set of rows at a distance, and how blocks grow around them. The rules that both
/// backends follow, and the host's form; the device's is in seeds_cuda.hpp. Both give the same.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"

namespace taskdag::kernels {

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
TASKDAG_HD bool is_decided(std::uint32_t state) { return state == kNoSeed || state == kSeed; }

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

/// What the choice of seeds starts from.
TASKDAG_HD std::uint32_t first_state(Role role, Index row) {
  return role == Role::normal ? seed_priority(row) : kNoSeed;
}

/// The largest of what the row and its neighbours hold. Hubs hold nothing and hand nothing on.
TASKDAG_HD std::uint32_t largest_around(const GraphView& graph, Role role, const std::uint32_t* held, Index row) {
  std::uint32_t largest = held[row];
  if (role != Role::normal) return largest;
  const EdgeOffset end = graph.end(row);
  for (EdgeOffset e = graph.begin(row); e < end; ++e) {
    const std::uint32_t other = held[graph.neighbours[e]];
    largest = other > largest ? other : largest;
  }
  return largest;
}

/// The state after a round. `largest`: what there is within the distance: a row whose priority that is becomes a seed,
/// one near a seed drops out.
TASKDAG_HD std::uint32_t next_state(std::uint32_t state, std::uint32_t largest) {
  if (is_decided(state)) return state;
  if (largest == state) return kSeed;
  return largest == kSeed ? kNoSeed : state;
}

/// Of a long row, so many neighbours vote.
inline constexpr EdgeOffset kVoters = 64;

/// The block that a row without one joins: that of most of its neighbours, equal ones by a hash. −1: none of them has
/// one. Of a long row, the first neighbours vote.
TASKDAG_HD Index elect_block(const GraphView& graph, const Index* block, Index row) {
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

std::vector<Role> find_roles(const GraphView& graph, EdgeOffset hub_degree, host::ThreadPool& pool);

/// 1 for each seed: the lexicographically first independent set of that distance, by descending priority, which rounds
/// of local maxima with fixed priorities give, too (Luby 1986; Blelloch et al. 2012).
std::vector<char> choose_seeds(const GraphView& graph, const std::vector<Role>& role, int distance,
                               host::ThreadPool& pool);

/// Grows blocks by so many rounds: in each, normal rows without one (−1) join that of their neighbours.
void grow_blocks(const GraphView& graph, const std::vector<Role>& role, int rounds, host::ThreadPool& pool,
                 std::vector<Index>& block);

}  // namespace taskdag::kernels
