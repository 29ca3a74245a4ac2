#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/cut/late.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

__global__ void count_from_end(Index rows, Index levels, const Index* mirrored, Index* level) {
  const auto row = static_cast<Index>(element());
  if (row < rows) level[row] = levels - 1 - mirrored[row];
}

/// Sets `wrong` where an operand's level is not below its row's.
__global__ void check_levels(DevicePattern pattern, const Offset* first, const Index* count, const Index* level,
                             int* wrong) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  bool mine = false;
  for (Index e = 0; e < count[row]; ++e) mine |= level[pattern.col_indices[first[row] + e]] >= level[row];
  if (mine) *wrong = 1;
}

}  // namespace

std::optional<RowLevels> late_levels(const SweepInput& input, const RowLevels& mirrored, cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  if (rows == 0) return std::nullopt;
  RowLevels late{{static_cast<std::size_t>(rows), stream}, mirrored.levels};
  const ScratchArray<int> wrong(1, stream);
  cuda::check(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream), "clearing a flag");
  count_from_end<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, mirrored.levels, mirrored.level.data(),
                                                                     late.level.data());
  cuda::check_launch("count_from_end");
  check_levels<<<element_blocks(rows), kElementBlock, 0, stream>>>(
      input.pattern, input.ranges->first.data(), input.ranges->count.data(), late.level.data(), wrong.data());
  cuda::check_launch("check_levels");
  if (cuda::fetch(wrong.data(), stream) != 0) return std::nullopt;
  return late;
}

}  // namespace taskdag::kernels::cells
