#include <cmath>
#include <cstdint>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/jacobi/blocks/cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::kElementBlock;
using cuda::kFullWarp;
static_assert(kSliceRows == cuda::kWarpSize, "a lane has a row");

constexpr int kInverseWarps = 4;  // of a thread block

/// Shared memory of a thread block that inverts.
std::size_t room_of_inverses(Index largest) {
  return kInverseWarps *
         (static_cast<std::size_t>(largest) * kSliceRows * sizeof(double) + kSliceRows * sizeof(std::uint8_t));
}

__device__ void note(Index row, bool finite, BlockFindings* findings) {
  if (finite) {
    atomicMin(&findings->first_zero, row);
    atomicMax(&findings->last_zero, row);
  } else {
    atomicMin(&findings->first_non_finite, row);
  }
}

/// The block entries of the lane's row. @returns whether they are numbers
__device__ bool load_row(const CsrView& a, const BlockSlices& blocks, Index row, Index first_place, int size,
                         const DenseBlock& block, int rank) {
  bool finite = true;
  for (Offset e = a.pattern.row_offsets[row]; e < a.pattern.row_offsets[row + 1]; ++e) {
    const Index column = blocks.place[a.pattern.col_indices[e]] - first_place;
    if (column < 0 || column >= size) continue;
    const double value = a.values[e];
    block.entry(rank, column) = value;
    finite = finite && is_number(value);
  }
  return finite;
}

/// Writes the lane's share of a block's inverse: of a block that is not `good`, NaN. `rank`: of the lane in the block.
__device__ __forceinline__ void write_inverse(const DenseBlock& block, int rank, int size, bool good, int own_step,
                                              const std::uint8_t* pivot_rows, double* own) {
  for (int j = 0; j < size; ++j) {  // the idle have none
    if (good) {
      own[pivot_rows[j] * kSliceRows + own_step] = block.entry(rank, j);
    } else {
      own[j * kSliceRows + rank] = nan("");
    }
  }
}

/// A warp has a slice, a lane a row. All blocks of the slice take their steps together, so that the warp stays whole;
/// the lanes of a block look for the pivot each for itself, and find the same one.
__global__ void invert_kernel(CsrView a, BlockSlices blocks, Index largest, double* inverse, BlockFindings* findings) {
  extern __shared__ double room[];
  const int lane = static_cast<int>(threadIdx.x) % kSliceRows;
  const int warp = static_cast<int>(threadIdx.x) / kSliceRows;
  const Index slice = static_cast<Index>(blockIdx.x) * kInverseWarps + warp;
  if (slice >= blocks.slices) return;  // a whole warp
  double* const dense = room + static_cast<std::ptrdiff_t>(warp) * largest * kSliceRows;
  auto* const pivot_rows =
      reinterpret_cast<std::uint8_t*>(room + std::ptrdiff_t{kInverseWarps} * largest * kSliceRows) + warp * kSliceRows;

  const std::int64_t place = std::int64_t{slice} * kSliceRows + lane;
  const Index row = blocks.row[place];
  const BlockSpan span = blocks.span[place];
  const int first = span.first;
  const int size = span.size;
  const int rank = lane - first;
  const int width = blocks.width(slice);
  const DenseBlock block{dense + first, size};

  for (int c = 0; c < width; ++c) dense[c * kSliceRows + lane] = 0.0;
  bool finite = true;
  if (row >= 0) finite = load_row(a, blocks, row, static_cast<Index>(place) - rank, size, block, rank);
  if (!finite) note(row, false, findings);
  const auto own_lanes =
      static_cast<unsigned>(((std::uint64_t{1} << static_cast<unsigned>(size)) - 1U) << static_cast<unsigned>(first));
  const unsigned faulty = __ballot_sync(kFullWarp, !finite);  // of all lanes, the idle ones too
  bool good = row >= 0 && (faulty & own_lanes) == 0U;
  __syncwarp();

  unsigned used = 0;
  int own_step = 0;
  for (int step = 0; step < width; ++step) {
    BlockPivot pivot;
    if (good && step < size) {
      pivot = block.find_pivot(step, used);
      good = pivot.row >= 0;
      if (!good && rank == step) note(row, pivot.finite, findings);
    }
    const bool takes_part = good && step < size;
    __syncwarp();  // all have looked
    if (takes_part) used |= 1U << static_cast<unsigned>(pivot.row);
    if (takes_part && rank == pivot.row) {
      block.scale(rank, step);
      own_step = step;
      pivot_rows[first + step] = static_cast<std::uint8_t>(rank);
    }
    __syncwarp();  // the pivot row is there
    if (takes_part && rank != pivot.row) block.eliminate(rank, pivot.row, step);
    __syncwarp();
  }

  bool numbers = true;
  for (int c = 0; good && c < size; ++c) numbers = numbers && is_number(block.entry(rank, c));
  if (!numbers) note(blocks.row[place - rank + own_step], false, findings);
  const unsigned too_large = __ballot_sync(kFullWarp, !numbers);
  good = good && (too_large & own_lanes) == 0U;
  write_inverse(block, rank, size, good, own_step, pivot_rows + first, inverse + blocks.offset[slice] + first);
}

/// Entry c of the block's rows of the vector.
struct FromLanes {
  double value;
  int first;
  __device__ double operator()(int c) const { return __shfl_sync(kFullWarp, value, first + c); }
};

template <bool Transposed, bool Adds>
__global__ void apply_kernel(BlockSlices blocks, const double* inverse, double factor, const double* b, double* x) {
  const std::int64_t place = cuda::element();
  const auto slice = static_cast<Index>(place / kSliceRows);
  if (slice >= blocks.slices) return;  // a whole warp
  const int lane = static_cast<int>(threadIdx.x) % kSliceRows;
  const Index row = blocks.row[place];
  const BlockSpan span = blocks.span[place];
  const int first = span.first;
  const double* const slice_values = inverse + blocks.offset[slice];
  const double* const own = slice_values + (Transposed ? (lane - first) * kSliceRows + first : lane);
  const double sum = block_row(own, Transposed ? 1 : kSliceRows, span.size, blocks.width(slice),
                               FromLanes{row >= 0 ? b[row] : 0.0, first});
  if (row >= 0) x[row] = Adds ? x[row] + factor * sum : factor * sum;
}

}  // namespace

void cuda_invert_blocks(const CsrView& a, const BlockSlices& blocks, Index largest, double* inverse,
                        BlockFindings* findings, cudaStream_t stream) {
  if (blocks.slices == 0) return;
  const Index grid = (blocks.slices - 1) / kInverseWarps + 1;
  invert_kernel<<<grid, kInverseWarps * kSliceRows, room_of_inverses(largest), stream>>>(a, blocks, largest, inverse,
                                                                                         findings);
  cuda::check_launch("invert_kernel");
}

void cuda_apply_blocks(const BlockSlices& blocks, const double* inverse, bool transposed, bool adds, double factor,
                       const double* b, double* x, cudaStream_t stream) {
  if (blocks.slices == 0) return;
  const auto kernel = transposed ? (adds ? apply_kernel<true, true> : apply_kernel<true, false>)
                                 : (adds ? apply_kernel<false, true> : apply_kernel<false, false>);
  kernel<<<cuda::element_blocks(std::int64_t{blocks.slices} * kSliceRows), kElementBlock, 0, stream>>>(blocks, inverse,
                                                                                                       factor, b, x);
  cuda::check_launch("apply_kernel");
}

}  // namespace taskdag::kernels
