/// \file
/// Finds for each portion the portions that hold its operands.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cuda/check.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

constexpr int kThreads = 128;
constexpr Index kBits = 32;
/// Portions that a block looks for in one pass over its operands: a bit each in shared memory.
constexpr Index kMostPortions = 8192 * kBits;

__device__ Index portion_of(Index place, const Portion* portion, Index portions) {
  Index first = 0;
  Index last = portions - 1;
  while (first < last) {
    const Index middle = last - (last - first) / 2;
    if (portion[middle].first <= place) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

/// A block's work: which of the first `last` portions hold the places that place(0), … place(count - 1) give (−1:
/// none), each once, in any order, to `list`. at_once: portions that `needed` has bits for. @returns how many, in every
/// thread
template <class Place>
__device__ Index list_portions(const Place& place, Index count, const Portion* portion, Index portions, Index last,
                               Index at_once, unsigned* needed, Index* list) {
  __shared__ Index found;
  const auto t = static_cast<Index>(threadIdx.x);
  if (t == 0) found = 0;
  for (Index from = 0; from < last; from += at_once) {
    for (Index word = t; word < at_once / kBits; word += kThreads) needed[word] = 0;
    __syncthreads();
    for (Index e = t; e < count; e += kThreads) {
      const Index p = place(e);
      const Index other = p >= 0 ? portion_of(p, portion, portions) - from : -1;
      if (other >= 0 && other < at_once) atomicOr(needed + other / kBits, 1U << (other % kBits));
    }
    __syncthreads();
    for (Index word = t; word < at_once / kBits; word += kThreads) {
      for (unsigned remaining = needed[word]; remaining != 0; remaining &= remaining - 1) {
        list[atomicAdd(&found, 1)] = from + word * kBits + __ffs(static_cast<int>(remaining)) - 1;
      }
    }
    __syncthreads();
  }
  __syncthreads();
  return found;
}

/// A block a portion: which other portions hold its operands.
__global__ void __launch_bounds__(kThreads)
    list_waits(Portion* portion, Index portions, Index at_once, const Index* outer_place, Index* wait) {
  extern __shared__ unsigned needed[];
  const Portion mine = portion[blockIdx.x];
  const auto operand = [&](Index e) { return outer_place[mine.outer + e]; };
  const Index waits = list_portions(operand, mine.outer_entries, portion, portions, static_cast<Index>(blockIdx.x),
                                    at_once, needed, wait + mine.outer);
  if (threadIdx.x == 0) portion[blockIdx.x].waits = waits;
}

struct ByPlace {
  const Index* index;
  [[nodiscard]] __device__ Index element(const Portion& portion, Index r) const { return index[portion.first + r]; }
};

/// A block a portion: which portions of another layout hold its right-hand side.
template <class Rows>
__global__ void __launch_bounds__(kThreads) list_sources(const Portion* portion, Rows rows, const Portion* others,
                                                         Index portions, Index at_once, Index* source, Index* count) {
  extern __shared__ unsigned needed[];
  const Portion mine = portion[blockIdx.x];
  const auto operand = [&](Index r) { return rows.element(mine, r); };
  const Index found =
      list_portions(operand, mine.rows, others, portions, portions, at_once, needed, source + mine.first);
  if (threadIdx.x == 0) count[blockIdx.x] = found;
}

/// Portions that a block looks for at once.
Index portions_at_once(Index portions) { return std::min((portions + kBits - 1) / kBits * kBits, kMostPortions); }

/// A block a portion.
__global__ void __launch_bounds__(kThreads) pack_lists(const Portion* portion, const Index* count, bool by_place,
                                                       const Index* list, Index stride, Index* packed) {
  const Portion mine = portion[blockIdx.x];
  const Index size = count ? count[blockIdx.x] : mine.waits;
  const Index* const from = list + (by_place ? mine.first : mine.outer);
  for (auto k = static_cast<Index>(threadIdx.x); k < size; k += kThreads) packed[blockIdx.x * stride + k] = from[k];
}

/// Lists that lie as far apart as portions are long, put side by side, where that is less. `most`: of one list. count:
/// by portion; null: Portion::waits. @returns from one to the next; 0 where they stay as they are
Index pack(const Layout& layout, const Index* count, Index most, cuda::DeviceArray<Index>& list, cudaStream_t stream) {
  const std::int64_t size = std::int64_t{layout.portions()} * std::max(most, 1);
  if (size >= static_cast<std::int64_t>(list.size())) return 0;
  cuda::DeviceArray<Index> packed(static_cast<std::size_t>(size), stream);
  const Index stride = std::max(most, 1);
  pack_lists<<<static_cast<unsigned>(layout.portions()), kThreads, 0, stream>>>(
      layout.portion.data(), count, count != nullptr, list.data(), stride, packed.data());
  cuda::check_launch("pack_lists");
  list = std::move(packed);
  return stride;
}

template <class Rows>
Sources find(const Layout& layout, const Rows& rows, const Layout& before, cudaStream_t stream) {
  Sources result{.portion = {static_cast<std::size_t>(layout.places), stream},
                 .count = {static_cast<std::size_t>(layout.portions()), stream}};
  if (layout.portions() == 0) return result;
  const Index at_once = portions_at_once(before.portions());
  list_sources<<<static_cast<unsigned>(layout.portions()), kThreads,
                 static_cast<std::size_t>(at_once / kBits) * sizeof(unsigned), stream>>>(
      layout.portion.data(), rows, before.portion.data(), before.portions(), at_once, result.portion.data(),
      result.count.data());
  cuda::check_launch("list_sources");
  const std::vector<Index> counts = cuda::fetch_array(result.count.data(), result.count.size(), stream);
  const Index most = *std::max_element(counts.begin(), counts.end());
  result.stride = pack(layout, result.count.data(), most, result.portion, stream);
  return result;
}

}  // namespace

void find_waits(Layout& layout, cudaStream_t stream) {
  layout.wait = {static_cast<std::size_t>(layout.outer_entries), stream};
  if (layout.portions() == 0) return;
  const Index at_once = portions_at_once(layout.portions());
  list_waits<<<static_cast<unsigned>(layout.portions()), kThreads,
               static_cast<std::size_t>(at_once / kBits) * sizeof(unsigned), stream>>>(
      layout.portion.data(), layout.portions(), at_once, layout.outer_place.data(), layout.wait.data());
  cuda::check_launch("list_waits");
  Index most = 0;
  for (const Portion& portion : cuda::fetch_array(layout.portion.data(), layout.portion.size(), stream)) {
    most = std::max(most, portion.waits);
  }
  layout.wait_stride = pack(layout, nullptr, most, layout.wait, stream);
}

Sources find_sources(const Layout& layout, const UserRows& rhs_rows, const Layout& before, cudaStream_t stream) {
  return find(layout, rhs_rows, before, stream);
}

Sources find_sources(const Layout& layout, const Index* index, const Layout& before, cudaStream_t stream) {
  return find(layout, ByPlace{index}, before, stream);
}

}  // namespace taskdag::kernels::supersteps
