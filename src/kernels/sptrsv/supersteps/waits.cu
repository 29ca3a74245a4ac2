#include <algorithm>

#include "backends/cuda/check.hpp"
#include "kernels/sptrsv/supersteps/pack.hpp"

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

/// A block a cell: which other cells hold its operands, each once, in any order.
__global__ void __launch_bounds__(kThreads)
    list_waits(Cell* cell, Index cells, Index at_once, const Index* outer_place, Index* wait) {
  extern __shared__ unsigned needed[];
  __shared__ Index waits;
  const Cell mine = cell[blockIdx.x];
  const auto t = static_cast<Index>(threadIdx.x);
  if (t == 0) waits = 0;
  for (Index from = 0; from < static_cast<Index>(blockIdx.x); from += at_once) {
    for (Index word = t; word < at_once / kBits; word += kThreads) needed[word] = 0;
    __syncthreads();
    for (Index e = t; e < mine.outer_entries; e += kThreads) {
      const Index place = outer_place[mine.outer + e];
      const Index other = place >= 0 ? cell_of(place, cell, cells) - from : -1;
      if (other >= 0 && other < at_once) atomicOr(needed + other / kBits, 1U << (other % kBits));
    }
    __syncthreads();
    for (Index word = t; word < at_once / kBits; word += kThreads) {
      for (unsigned left = needed[word]; left != 0; left &= left - 1) {
        wait[mine.outer + atomicAdd(&waits, 1)] = from + word * kBits + __ffs(static_cast<int>(left)) - 1;
      }
    }
    __syncthreads();
  }
  __syncthreads();
  if (t == 0) cell[blockIdx.x].waits = waits;
}

}  // namespace

void find_waits(Layout& layout, cudaStream_t stream) {
  layout.wait = {static_cast<std::size_t>(layout.outer_entries), stream};
  if (layout.cells() == 0) return;
  const Index at_once = std::min((layout.cells() + kBits - 1) / kBits * kBits, kMostCells);
  list_waits<<<static_cast<unsigned>(layout.cells()), kThreads,
               static_cast<std::size_t>(at_once / kBits) * sizeof(unsigned), stream>>>(
      layout.cell.data(), layout.cells(), at_once, layout.outer_place.data(), layout.wait.data());
  cuda::check_launch("list_waits");
}

}  // namespace taskdag::kernels::supersteps
