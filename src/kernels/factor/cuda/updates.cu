#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/search.cuh"
#include "kernels/factor/cuda/updates.hpp"

namespace taskdag::kernels::elimination {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// One warp a row.
template <class Pattern>
__global__ void count_updates_kernel(const Pattern view, Index* slots, RowCounts counts) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= view.pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Offset begin = view.pattern.row_offsets[row];
  const Index entries = view.pattern.row_offsets[row + 1] - begin;
  const Index diagonal = view.diagonal(row);
  const Index count = view.diagonal_only ? 0 : view.pivot_count(row);  // of pivot rows that may update others
  const Offset first_pivot = view.first_pivot(row);
  std::int64_t updates = 0;
  for (Index first = 0; first < count;) {
    const PivotBatch batch(
        view, first, count, [&](Index t) { return first_pivot + t; }, lane);
    batch.each(view, view.pattern.col_indices + begin, entries, lane, [&](int, int, Offset, Index target) {
      updates += __popc(__ballot_sync(kFullWarp, target >= 0 && target != diagonal));
      if (target > diagonal) slots[begin + target] = 0;
    });
    first += batch.pivots;
  }
  __syncwarp();
  Index changed = 0;
  for (Index e = diagonal + 1 + lane; e < entries; e += kWarpSize) changed += slots[begin + e] >= 0 ? 1 : 0;
  changed = __reduce_add_sync(kFullWarp, changed);
  if (lane == 0) {
    counts.updates[row] = updates;
    counts.changed[row] = changed;
  }
}

__global__ void find_updates(Index rows, const std::int64_t* updates, int* any) {
  const auto row = static_cast<Index>(element());
  const bool mine = row < rows && updates[row] != 0;
  if (__any_sync(kFullWarp, mine) && threadIdx.x % kWarpSize == 0) *any = 1;
}

template <class Pattern>
void count(const Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  const int blocks = element_blocks(std::int64_t{view.pattern.rows} * kWarpSize);
  count_updates_kernel<<<blocks, kElementBlock, 0, stream>>>(view, slots, counts);
  cuda::check_launch("count_updates_kernel");
}

}  // namespace

void count_updates(const Ilu0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  count(view, slots, counts, stream);
}

void count_updates(const Ic0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  count(view, slots, counts, stream);
}

bool has_updates(Index rows, const std::int64_t* updates, cudaStream_t stream) {
  ScratchArray<int> any(1, stream);
  cuda::check(cudaMemsetAsync(any.data(), 0, sizeof(int), stream), "resetting a flag");
  find_updates<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, updates, any.data());
  cuda::check_launch("find_updates");
  return cuda::fetch(any.data(), stream) != 0;
}

}  // namespace taskdag::kernels::elimination
