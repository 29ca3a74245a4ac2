/// \file
/// Finds portions that have the same pattern, which is stored once.
#include <tuple>
#include <utility>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

constexpr int kPatternThreads = 128;
constexpr int kKeyBits = 32;

/// The arrays that patterns lie in.
struct Patterns {
  const Step* step;
  const std::uint16_t* operand;
  PatternLists list;
  const Group* group;
  const std::uint16_t* started;
  const Index* outer_place;
};

/// Calls each(number, value of `a`, value of `b`) for all that the inner patterns of two portions consist of; the
/// numbers differ within a pattern. The calling thread's share of a block's work. Both have as many rows, steps and
/// inner entries as `a`.
template <class Each>
__device__ void for_inner(const Patterns& p, const Portion& a, const Portion& b, const Each& each) {
  const auto t = static_cast<Index>(threadIdx.x);
  const auto word = [](Step s) { return s.rows | Index{s.log2_lanes} << 16 | Index{s.entries} << 24; };
  Index number = 0;
  for (Index s = t; s < a.steps; s += kPatternThreads) {
    each(number + s, word(p.step[a.first + s]), word(p.step[b.first + s]));
  }
  number += a.steps;
  for (Index e = t; e < a.inner_entries; e += kPatternThreads) {
    each(number + e, Index{p.operand[a.inner + e]}, Index{p.operand[b.inner + e]});
  }
  number += a.inner_entries;
  for (Index r = t; r < a.rows; r += kPatternThreads) {
    each(number + r, p.list.rhs_rows[a.first + r], p.list.rhs_rows[b.first + r]);
    each(number + a.rows + r, p.list.x_rows[a.first + r], p.list.x_rows[b.first + r]);
    each(number + 2 * a.rows + r, Index{p.list.local[a.first + r]}, Index{p.list.local[b.first + r]});
  }
}

/// The same for outer patterns: both have as many groups, started rows and outer entries as `a`.
template <class Each>
__device__ void for_outer(const Patterns& p, const Portion& a, const Portion& b, const Each& each) {
  const auto t = static_cast<Index>(threadIdx.x);
  const auto word = [](Group g) { return g.first | Index{g.rows} << 16 | Index{g.log2_lanes} << 24; };
  Index number = 0;
  for (Index g = t; g < a.groups; g += kPatternThreads) {
    each(number + g, word(p.group[a.first + g]), word(p.group[b.first + g]));
    each(number + a.groups + g, p.group[a.first + g].offset, p.group[b.first + g].offset);
  }
  number += 2 * a.groups;
  for (Index s = t; s < a.started; s += kPatternThreads) {
    each(number + s, Index{p.started[a.first + s]}, Index{p.started[b.first + s]});
  }
  number += a.started;
  for (Index e = t; e < a.outer_entries; e += kPatternThreads) {
    each(number + e, p.outer_place[a.outer + e], p.outer_place[b.outer + e]);
    each(number + a.outer_entries + e, p.list.outer_element[a.outer + e], p.list.outer_element[b.outer + e]);
  }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
__device__ std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A block a portion: keys that are equal where patterns are, and seldom else.
__global__ void __launch_bounds__(kPatternThreads)
    hash_patterns(const Portion* portion, Patterns p, std::uint32_t* inner_key, std::uint32_t* outer_key,
                  Index* number) {
  const Portion mine = portion[blockIdx.x];
  __shared__ unsigned long long sum[2];
  if (threadIdx.x < 2) sum[threadIdx.x] = 0;
  __syncthreads();
  unsigned long long own = 0;
  const auto add = [&](Index k, Index value, Index) {
    own += mixed(std::uint64_t{static_cast<std::uint32_t>(k)} << 32 | static_cast<std::uint32_t>(value));
  };
  for_inner(p, mine, mine, add);
  atomicAdd(&sum[0], own);
  own = 0;
  for_outer(p, mine, mine, add);
  atomicAdd(&sum[1], own);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto key = [](unsigned long long total, Index size) {
    return static_cast<std::uint32_t>(mixed(total + static_cast<unsigned long long>(size)));
  };
  inner_key[blockIdx.x] = key(sum[0], mine.rows);
  outer_key[blockIdx.x] = key(sum[1], mine.started);
  number[blockIdx.x] = static_cast<Index>(blockIdx.x);
}

/// A block for each place among portions sorted by key: its portion takes the pattern of the first one with the key, if
/// that is its own. What is read of a portion here is never written.
template <bool kInner>
__global__ void __launch_bounds__(kPatternThreads)
    take_pattern(Portion* portion, Patterns p, const std::uint32_t* key, const Index* number) {
  const auto place = static_cast<Index>(blockIdx.x);
  const Index first = number[cuda::first_not_below(key, Index{0}, place, key[place])];
  const Index own = number[place];
  if (first == own) return;
  const Portion a = portion[own];
  const Portion b = portion[first];
  const bool same_size = kInner ? a.rows == b.rows && a.steps == b.steps && a.inner_entries == b.inner_entries
                                : a.groups == b.groups && a.started == b.started && a.outer_entries == b.outer_entries;
  if (!same_size) return;
  bool equal = true;
  const auto compare = [&](Index, Index x, Index y) { equal = equal && x == y; };
  if constexpr (kInner) {
    for_inner(p, a, b, compare);
  } else {
    for_outer(p, a, b, compare);
  }
  if (__syncthreads_and(equal ? 1 : 0) == 0 || threadIdx.x != 0) return;
  if constexpr (kInner) {
    portion[own].inner_pattern = b.first;
    portion[own].inner_pattern_entry = b.inner;
  } else {
    portion[own].outer_pattern = b.first;
    portion[own].outer_pattern_entry = b.outer;
  }
}

}  // namespace

void share_patterns(Layout& layout, const PatternLists& lists, cudaStream_t stream) {
  const auto portions = static_cast<std::size_t>(layout.portions());
  if (portions < 2) return;
  const Patterns patterns{layout.step.data(),  layout.operand.data(), lists,
                          layout.group.data(), layout.started.data(), layout.outer_place.data()};
  const cuda::ScratchArray<std::uint32_t> inner_key(portions, stream);
  const cuda::ScratchArray<std::uint32_t> outer_key(portions, stream);
  const cuda::ScratchArray<std::uint32_t> sorted_key(portions, stream);
  const cuda::ScratchArray<Index> number(portions, stream);
  const cuda::ScratchArray<Index> sorted_number(portions, stream);
  const auto blocks = static_cast<unsigned>(portions);
  hash_patterns<<<blocks, kPatternThreads, 0, stream>>>(layout.portion.data(), patterns, inner_key.data(),
                                                        outer_key.data(), number.data());
  cuda::check_launch("hash_patterns");
  const auto take = [&](auto kernel, const cuda::ScratchArray<std::uint32_t>& key) {
    cuda::sort_pairs(key.data(), sorted_key.data(), number.data(), sorted_number.data(), layout.portions(), kKeyBits,
                     stream);
    kernel<<<blocks, kPatternThreads, 0, stream>>>(layout.portion.data(), patterns, sorted_key.data(),
                                                   sorted_number.data());
    cuda::check_launch("take_pattern");
  };
  take(take_pattern<true>, inner_key);
  take(take_pattern<false>, outer_key);
}

namespace {

/// A block a move.
template <class T>
__global__ void __launch_bounds__(kPatternThreads) move_lists(const KeptPatterns::Move* move, const T* from, T* to) {
  const KeptPatterns::Move mine = move[blockIdx.x];
  for (auto k = static_cast<Index>(threadIdx.x); k < mine.count; k += kPatternThreads) {
    to[mine.to + k] = from[mine.from + k];
  }
}

/// Places of patterns one after the other.
class Placing {
 public:
  /// @returns where `count` elements that begin at `from` go
  Index place(Index from, Index count) {
    const Index to = total_;
    moves_.push_back({from, to, count});
    total_ += (count + kAlign - 1) / kAlign * kAlign;
    return to;
  }
  [[nodiscard]] Index total() const { return total_; }
  [[nodiscard]] const std::vector<KeptPatterns::Move>& moves() const { return moves_; }

 private:
  std::vector<KeptPatterns::Move> moves_;
  Index total_ = 0;
};

}  // namespace

KeptPatterns::KeptPatterns(Layout& layout, cudaStream_t stream) {
  if (layout.portions() < 2) return;
  std::vector<Portion> portions = cuda::fetch_array(layout.portion.data(), at(layout.portions()), stream);
  Placing inner_places;
  Placing inner_entries;
  Placing outer_places;
  Placing outer_entries;
  // A pattern's first portion is the one whose own place it has; the others may come before it.
  std::vector<std::pair<Index, Index>> inner(at(layout.places / kAlign));
  std::vector<std::pair<Index, Index>> outer(at(layout.places / kAlign));
  for (const Portion& portion : portions) {
    if (portion.inner_pattern == portion.first) {
      inner[at(portion.first / kAlign)] = {inner_places.place(portion.first, portion.rows),
                                           inner_entries.place(portion.inner, portion.inner_entries)};
    }
    if (portion.outer_pattern == portion.first) {
      outer[at(portion.first / kAlign)] = {outer_places.place(portion.first, portion.rows),
                                           outer_entries.place(portion.outer, portion.outer_entries)};
    }
  }
  constexpr double kMuchLess = 0.5;
  const double all = 2.0 * layout.places;
  moves_ = static_cast<double>(inner_places.total()) + outer_places.total() <= kMuchLess * all;
  if (!moves_) return;
  for (Portion& portion : portions) {
    std::tie(portion.inner_pattern, portion.inner_pattern_entry) = inner[at(portion.inner_pattern / kAlign)];
    std::tie(portion.outer_pattern, portion.outer_pattern_entry) = outer[at(portion.outer_pattern / kAlign)];
  }
  layout.portion = cuda::upload(portions, stream);
  const auto take = [&](Moves& moves, const Placing& placing) {
    moves = {cuda::upload(placing.moves(), stream), placing.total()};
  };
  take(inner_places_, inner_places);
  take(inner_entries_, inner_entries);
  take(outer_places_, outer_places);
  take(outer_entries_, outer_entries);
  std::vector<Move> runs = inner_places.moves();
  for (Move& move : runs) move = {move.from / kRun, move.to / kRun, (move.count + kRun - 1) / kRun};
  inner_runs_ = {cuda::upload(runs, stream), inner_places.total() / kRun};
  move(layout.step, inner_places_, stream);
  move(layout.operand, inner_entries_, stream);
  move(layout.group, outer_places_, stream);
  move(layout.started, outer_places_, stream);
  move(layout.outer_place, outer_entries_, stream);
}

template <class T>
void KeptPatterns::move(cuda::DeviceArray<T>& list, const Moves& moves, cudaStream_t stream) const {
  if (!moves_ || list.size() == 0) return;
  cuda::DeviceArray<T> moved(at(moves.total), stream);
  move_lists<<<static_cast<unsigned>(moves.move.size()), kPatternThreads, 0, stream>>>(moves.move.data(), list.data(),
                                                                                       moved.data());
  cuda::check_launch("move_lists");
  list = std::move(moved);
}
template void KeptPatterns::move(cuda::DeviceArray<Index>&, const Moves&, cudaStream_t) const;
template void KeptPatterns::move(cuda::DeviceArray<std::uint16_t>&, const Moves&, cudaStream_t) const;

}  // namespace taskdag::kernels::supersteps
