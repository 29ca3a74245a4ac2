/// \file
/// Finds whether most rows that have updates are better off in registers, and marks their entries.
#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/forms.cuh"
#include "kernels/factor/cuda/search.cuh"
#include "kernels/factor/cuda/updates.hpp"

namespace taskdag::kernels::elimination {
namespace {

using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

struct RegisterCounts {
  Index with_updates;
  Index better;    ///< rows with many updates that fit
  Offset longest;  ///< of rows, counted right of the diagonal
};

template <class Pattern>
__global__ void count_registers(const Pattern view, RowCounts counts, RegisterCounts* found) {
  const auto row = static_cast<Index>(element());
  const bool mine = row < view.pattern.rows;
  const std::int64_t updates = mine ? counts.updates[row] : 0;
  const unsigned with = __ballot_sync(kFullWarp, updates > 0);
  const unsigned better =
      __ballot_sync(kFullWarp, updates >= kUpdatesOfRegisters<Pattern> && fits_registers(view, row));
  const Offset longest =
      __reduce_max_sync(kFullWarp, mine ? view.pattern.row_offsets[row + 1] - view.first_right(row) : 0);
  if (threadIdx.x % kWarpSize != 0) return;
  atomicAdd(&found->with_updates, __popc(with));
  atomicAdd(&found->better, __popc(better));
  atomicMax(&found->longest, longest);
}

/// One warp a row.
template <class Pattern>
__global__ void mark_all(const Pattern view, Index* slots, RowCounts counts) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= view.pattern.rows) return;
  const Offset end = view.pattern.row_offsets[row + 1];
  const Offset first = view.first_right(row);
  for (Offset e = first + static_cast<Offset>(threadIdx.x % kWarpSize); e < end; e += kWarpSize) slots[e] = 0;
  if (threadIdx.x % kWarpSize == 0) counts.changed[row] = end - first;
}

template <class Pattern>
bool mark(const Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  const ScratchArray<RegisterCounts> found(1, stream);
  cuda::check(cudaMemsetAsync(found.data(), 0, sizeof(RegisterCounts), stream), "resetting counts");
  count_registers<<<element_blocks(view.pattern.rows), kElementBlock, 0, stream>>>(view, counts, found.data());
  cuda::check_launch("count_registers");
  const RegisterCounts rows = cuda::fetch(found.data(), stream);
  if (rows.better == 0 || rows.better < rows.with_updates / 2) return false;
  if (rows.longest >= static_cast<Offset>(kNoOffset)) return false;
  mark_all<<<element_blocks(std::int64_t{view.pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(view, slots,
                                                                                                      counts);
  cuda::check_launch("mark_all");
  return true;
}

}  // namespace

bool mark_registers(const Ilu0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  return mark(view, slots, counts, stream);
}

bool mark_registers(const Ic0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream) {
  return mark(view, slots, counts, stream);
}

}  // namespace taskdag::kernels::elimination
