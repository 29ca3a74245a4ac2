/// \file
/// Finds for each cell the cells that hold its operands.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cuda/check.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

constexpr int kThreads = 128;
constexpr Index kBits = 32;
/// Cells that a block looks for in one pass over its operands: a bit each in shared memory.
constexpr Index kMostCells = 8192 * kBits;

__device__ Index cell_of(Index place, const Cell* cell, Index cells) {
  Index first = 0;
  Index last = cells - 1;
  while (first < last) {
    const Index middle = last - (last - first) / 2;
    if (cell[middle].first <= place) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

/// A block's work: which of the first `last` cells hold the places that place(0), … place(count - 1) give (−1: none),
/// each once, in any order, to `list`. at_once: cells that `needed` has bits for. @returns how many, in every thread
template <class Place>
__device__ Index list_cells(const Place& place, Index count, const Cell* cell, Index cells, Index last, Index at_once,
                            unsigned* needed, Index* list) {
  __shared__ Index found;
  const auto t = static_cast<Index>(threadIdx.x);
  if (t == 0) found = 0;
  for (Index from = 0; from < last; from += at_once) {
    for (Index word = t; word < at_once / kBits; word += kThreads) needed[word] = 0;
    __syncthreads();
    for (Index e = t; e < count; e += kThreads) {
      const Index p = place(e);
      const Index other = p >= 0 ? cell_of(p, cell, cells) - from : -1;
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

/// A block a cell: which other cells hold its operands.
__global__ void __launch_bounds__(kThreads)
    list_waits(Cell* cell, Index cells, Index at_once, const Index* outer_place, Index* wait) {
  extern __shared__ unsigned needed[];
  const Cell mine = cell[blockIdx.x];
  const auto operand = [&](Index e) { return outer_place[mine.outer + e]; };
  const Index waits = list_cells(operand, mine.outer_entries, cell, cells, static_cast<Index>(blockIdx.x), at_once,
                                 needed, wait + mine.outer);
  if (threadIdx.x == 0) cell[blockIdx.x].waits = waits;
}

struct ByPlace {
  const Index* index;
  [[nodiscard]] __device__ Index element(const Cell& cell, Index r) const { return index[cell.first + r]; }
};

/// A block a cell: which cells of another layout hold its right-hand side.
template <class Rows>
__global__ void __launch_bounds__(kThreads) list_sources(const Cell* cell, Rows rows, const Cell* others, Index cells,
                                                         Index at_once, Index* source, Index* count) {
  extern __shared__ unsigned needed[];
  const Cell mine = cell[blockIdx.x];
  const auto operand = [&](Index r) { return rows.element(mine, r); };
  const Index found = list_cells(operand, mine.rows, others, cells, cells, at_once, needed, source + mine.first);
  if (threadIdx.x == 0) count[blockIdx.x] = found;
}

/// Cells that a block looks for at once.
Index cells_at_once(Index cells) { return std::min((cells + kBits - 1) / kBits * kBits, kMostCells); }

/// A block a cell.
__global__ void __launch_bounds__(kThreads)
    pack_lists(const Cell* cell, const Index* count, bool by_place, const Index* list, Index stride, Index* packed) {
  const Cell mine = cell[blockIdx.x];
  const Index size = count ? count[blockIdx.x] : mine.waits;
  const Index* const from = list + (by_place ? mine.first : mine.outer);
  for (auto k = static_cast<Index>(threadIdx.x); k < size; k += kThreads) packed[blockIdx.x * stride + k] = from[k];
}

/// Lists that lie as far apart as cells are long, put side by side, where that is less. `most`: of one list. count: by
/// cell; null: Cell::waits. @returns from one to the next; 0 where they stay as they are
Index pack(const Layout& layout, const Index* count, Index most, cuda::DeviceArray<Index>& list, cudaStream_t stream) {
  const std::int64_t size = std::int64_t{layout.cells()} * std::max(most, 1);
  if (size >= static_cast<std::int64_t>(list.size())) return 0;
  cuda::DeviceArray<Index> packed(static_cast<std::size_t>(size), stream);
  const Index stride = std::max(most, 1);
  pack_lists<<<static_cast<unsigned>(layout.cells()), kThreads, 0, stream>>>(
      layout.cell.data(), count, count != nullptr, list.data(), stride, packed.data());
  cuda::check_launch("pack_lists");
  list = std::move(packed);
  return stride;
}

template <class Rows>
Sources find(const Layout& layout, const Rows& rows, const Layout& before, cudaStream_t stream) {
  Sources result{.cell = {static_cast<std::size_t>(layout.places), stream},
                 .count = {static_cast<std::size_t>(layout.cells()), stream}};
  if (layout.cells() == 0) return result;
  const Index at_once = cells_at_once(before.cells());
  list_sources<<<static_cast<unsigned>(layout.cells()), kThreads,
                 static_cast<std::size_t>(at_once / kBits) * sizeof(unsigned), stream>>>(
      layout.cell.data(), rows, before.cell.data(), before.cells(), at_once, result.cell.data(), result.count.data());
  cuda::check_launch("list_sources");
  const std::vector<Index> counts = cuda::fetch_array(result.count.data(), result.count.size(), stream);
  const Index most = *std::max_element(counts.begin(), counts.end());
  result.stride = pack(layout, result.count.data(), most, result.cell, stream);
  return result;
}

}  // namespace

void find_waits(Layout& layout, cudaStream_t stream) {
  layout.wait = {static_cast<std::size_t>(layout.outer_entries), stream};
  if (layout.cells() == 0) return;
  const Index at_once = cells_at_once(layout.cells());
  list_waits<<<static_cast<unsigned>(layout.cells()), kThreads,
               static_cast<std::size_t>(at_once / kBits) * sizeof(unsigned), stream>>>(
      layout.cell.data(), layout.cells(), at_once, layout.outer_place.data(), layout.wait.data());
  cuda::check_launch("list_waits");
  Index most = 0;
  for (const Cell& cell : cuda::fetch_array(layout.cell.data(), layout.cell.size(), stream)) {
    most = std::max(most, cell.waits);
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
