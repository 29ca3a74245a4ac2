#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/analysis/lanes.hpp"
#include "kernels/sptrsv/schedules/cells/pack/batches.hpp"
#include "kernels/sptrsv/schedules/cells/pack/entries.cuh"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

struct IsOutsideRow {
  const Index* outside;
  __device__ Index operator()(std::int64_t p) const { return outside[p] > 0 ? 1 : 0; }
};

/// The sum of the elements before `index`; sum_until[k]: of those up to k.
__device__ Index sum_before(const Index* sum_until, std::int64_t index) { return index > 0 ? sum_until[index - 1] : 0; }

/// Lists the outside rows, in the order of their positions, with the logarithms of their lanes. outside_rows_until[p]:
/// how many have position p or an earlier one.
__global__ void list_outside_rows(std::int64_t positions, const Index* outside, const Index* outside_rows_until,
                                  Index* position, std::uint8_t* log2_lanes) {
  const std::int64_t p = element();
  if (p >= positions || outside[p] == 0) return;
  const Index e = outside_rows_until[p] - 1;
  position[e] = static_cast<Index>(p);
  log2_lanes[e] = static_cast<std::uint8_t>(log2_lanes_for(outside[p], kHeld));
}

/// For each outside row, how many fit into a batch that begins with it. Ends of cells are left to cut_cell().
__global__ void count_fitting(Index outside_rows, const std::uint8_t* log2_lanes, std::uint8_t* fitting) {
  const auto e = static_cast<Index>(element());
  if (e < outside_rows) fitting[e] = static_cast<std::uint8_t>(outside_rows_that_fit(log2_lanes + e, outside_rows - e));
}

/// A warp marks the first outside row of each batch of [begin, end).
__device__ void cut_outside_rows(Index begin, Index end, const std::uint8_t* fitting, Index* begins) {
  constexpr int kLoaded = 4;  // outside rows that a lane loads at once, to wait less often for memory
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Index next = begin;
  for (Index first = begin; first < end; first += kLoaded * kLanes) {
    int fit[kLoaded];
#pragma unroll
    for (int k = 0; k < kLoaded; ++k) {
      const Index e = first + k * kLanes + lane;
      fit[k] = e < end ? fitting[e] : 0;
    }
#pragma unroll
    for (int k = 0; k < kLoaded; ++k) {
      const Index from = first + k * kLanes;
      const Index until = min(from + kLanes, end);
      unsigned marks = 0;
      while (next < until) {
        marks |= 1U << (next - from);
        next += __shfl_sync(cuda::kFullWarp, fit[k], next - from);
      }
      if (from + lane < end) begins[from + lane] = static_cast<Index>(marks >> lane & 1U);
    }
  }
}

/// Each block cuts the outside rows of one cell into batches.
__global__ void cut_cell(const Cell* cell, const Index* outside_rows_until, const std::uint8_t* fitting,
                         Index* begins) {
  const Cell& mine = cell[blockIdx.x];
  const std::int64_t begin = std::int64_t{mine.first_step} * kLanes;
  const Index first = sum_before(outside_rows_until, begin);
  const Index end = sum_before(outside_rows_until, begin + std::int64_t{mine.steps} * kLanes);
  const auto warps = static_cast<Index>(blockDim.x / kLanes);
  for (Index e = first + static_cast<Index>(threadIdx.x / kLanes) * kOutsideRowsCutAtOnce; e < end;
       e += warps * kOutsideRowsCutAtOnce) {
    cut_outside_rows(e, min(e + kOutsideRowsCutAtOnce, end), fitting, begins);
  }
}

/// Lists the first outside row of each batch, and behind them the end of the last batch. batches_until[e]: how many
/// batches begin with outside row e or an earlier one.
__global__ void list_batches(Index outside_rows, const Index* batches_until, Index* first_outside_row) {
  const auto e = static_cast<Index>(element());
  if (e > outside_rows) return;
  const Index before = sum_before(batches_until, e);
  if (e == outside_rows || batches_until[e] > before) first_outside_row[before] = e;
}

__global__ void set_cell_batches(int cells, const Index* outside_rows_until, const Index* batches_until, Cell* cell) {
  const auto c = static_cast<int>(element());
  if (c >= cells) return;
  Cell& mine = cell[c];
  const std::int64_t begin = std::int64_t{mine.first_step} * kLanes;
  const std::int64_t end = begin + std::int64_t{mine.steps} * kLanes;
  mine.first_batch = sum_before(batches_until, sum_before(outside_rows_until, begin));
  mine.batches = sum_before(batches_until, sum_before(outside_rows_until, end)) - mine.first_batch;
}

/// Each warp writes the outside rows of one batch, by lane, and its shape.
__global__ void fill_batches(Index batches, const Index* first_outside_row, const Index* position,
                             const std::uint8_t* log2_lanes, const Index* outside, const Cell* cell, int cells,
                             OutsideRow* outside_row, Index* outside_row_at, Batch* batch) {
  const std::int64_t r = element() / kLanes;
  if (r >= batches) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Index first = first_outside_row[r];
  const int outside_rows = first_outside_row[r + 1] - first;
  const Index cell_begin =
      cell[cell_of_step([=](int c) { return cell[c].first_step; }, cells, position[first] / kLanes)].first_step;
  OutsideRow* const mine = outside_row + r * kLanes;
  unsigned lanes = 0;
  unsigned width = 0;
  if (lane < outside_rows) {
    const Index p = position[first + lane];
    const std::uint32_t log2 = log2_lanes[first + lane];
    const int own = first_lane_of(log2_lanes + first, outside_rows, lane);
    lanes = 1U << log2;
    width = (static_cast<unsigned>(outside[p]) + lanes - 1) / lanes;
    outside_row_at[p] = static_cast<Index>(r * kLanes) + own;
    const std::uint32_t position_in_cell = static_cast<std::uint32_t>(p - cell_begin * kLanes) * 8 + log2;
    for (unsigned k = 0; k < lanes; ++k) mine[own + static_cast<int>(k)] = {-1, position_in_cell, 1.0};
  }
  if (lane >= static_cast<int>(__reduce_add_sync(cuda::kFullWarp, lanes))) mine[lane] = {-1, kNoOutsideRow, 1.0};
  width = __reduce_max_sync(cuda::kFullWarp, width);
  const unsigned most = __reduce_max_sync(cuda::kFullWarp, lanes);
  if (lane == 0) batch[r].shape = width * 8 + static_cast<unsigned>(__ffs(static_cast<int>(most)) - 1);
}

struct BatchWidth {
  const Batch* batch;
  Index batches;
  __device__ std::uint64_t operator()(Index r) const { return r < batches ? batch[r].width() : 0; }
};

__global__ void set_batch_rows(Index batches, const std::uint64_t* first_row, Batch* batch) {
  const auto r = static_cast<Index>(element());
  if (r <= batches) batch[r].first_row = static_cast<std::uint32_t>(first_row[r]);
}

/// make_batches() for a layout that has outside rows.
void cut_into_batches(Layout& layout, Index outside_rows, const Index* outside, const Index* outside_rows_until,
                      cudaStream_t stream) {
  const auto n = static_cast<std::size_t>(outside_rows);
  const auto positions = static_cast<std::int64_t>(layout.positions());
  const ScratchArray<Index> position(n, stream);
  const ScratchArray<std::uint8_t> log2_lanes(n, stream);
  const ScratchArray<std::uint8_t> fitting(n, stream);
  const ScratchArray<Index> batches_until(n, stream);
  list_outside_rows<<<element_blocks(positions), kElementBlock, 0, stream>>>(positions, outside, outside_rows_until,
                                                                             position.data(), log2_lanes.data());
  cuda::check_launch("list_outside_rows");
  count_fitting<<<element_blocks(outside_rows), kElementBlock, 0, stream>>>(outside_rows, log2_lanes.data(),
                                                                            fitting.data());
  cuda::check_launch("count_fitting");
  cut_cell<<<layout.cells, kElementBlock, 0, stream>>>(layout.cell.data(), outside_rows_until, fitting.data(),
                                                       batches_until.data());
  cuda::check_launch("cut_cell");
  cuda::inclusive_sum(batches_until.data(), batches_until.data(), outside_rows, stream);
  set_cell_batches<<<element_blocks(layout.cells), kElementBlock, 0, stream>>>(
      layout.cells, outside_rows_until, batches_until.data(), layout.cell.data());
  cuda::check_launch("set_cell_batches");
  layout.batches = cuda::fetch(batches_until.data() + n - 1, stream);

  const auto batches = static_cast<std::size_t>(layout.batches);
  const ScratchArray<Index> first_outside_row(batches + 1, stream);
  list_batches<<<element_blocks(std::int64_t{outside_rows} + 1), kElementBlock, 0, stream>>>(
      outside_rows, batches_until.data(), first_outside_row.data());
  cuda::check_launch("list_batches");
  layout.outside_row = {batches * kLanes, stream};
  layout.batch = {batches + 1, stream};
  fill_batches<<<element_blocks(static_cast<std::int64_t>(batches * kLanes)), kElementBlock, 0, stream>>>(
      layout.batches, first_outside_row.data(), position.data(), log2_lanes.data(), outside, layout.cell.data(),
      layout.cells, layout.outside_row.data(), layout.outside_row_at.data(), layout.batch.data());
  cuda::check_launch("fill_batches");
}

}  // namespace

void make_batches(Layout& layout, const Index* outside, cudaStream_t stream) {
  const ScratchArray<Index> outside_rows_until(layout.positions(), stream);
  cuda::inclusive_sum_over(
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), IsOutsideRow{outside}),
      outside_rows_until.data(), static_cast<std::int64_t>(layout.positions()), stream);
  const Index outside_rows = cuda::fetch(outside_rows_until.data() + layout.positions() - 1, stream);
  layout.outside_row_at = {layout.positions(), stream};
  cuda::check(cudaMemsetAsync(layout.outside_row_at.data(), 0xFF, layout.positions() * sizeof(Index), stream),
              "marking positions without outside rows");
  if (outside_rows == 0) {
    layout.batch = {1, stream};
    cuda::check(cudaMemsetAsync(layout.batch.data(), 0, sizeof(Batch), stream), "clearing a batch");
    return;
  }
  cut_into_batches(layout, outside_rows, outside, outside_rows_until.data(), stream);
  const auto batches = static_cast<std::size_t>(layout.batches);
  const ScratchArray<std::uint64_t> first_row(batches + 1, stream);
  cuda::exclusive_sum_over(thrust::make_transform_iterator(thrust::counting_iterator<Index>(0),
                                                           BatchWidth{layout.batch.data(), layout.batches}),
                           first_row.data(), layout.batches + 1, stream);
  set_batch_rows<<<element_blocks(layout.batches + 1), kElementBlock, 0, stream>>>(layout.batches, first_row.data(),
                                                                                   layout.batch.data());
  cuda::check_launch("set_batch_rows");
  layout.outside_entry_rows = cuda::fetch(first_row.data() + batches, stream);
}

}  // namespace taskdag::kernels::cells
