#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "backends/cuda/device.hpp"
#include "kernels/factor_cuda.cuh"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;
using cuda::ScratchArray;

constexpr Index kLongPivotRow = 24;
// Levels of rows that should be in flight at once.
constexpr std::int64_t kLevelsInFlight = 2;

__global__ void lanes_kernel(DevicePattern pattern, Index parts, int width, int room, Index* lanes) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  const Index half = (pattern.row_offsets[row + 1] - pattern.row_offsets[row]) / parts;
  lanes[row] = max(factor_members(half, width, kWarpSize), room);
}

/// Whether some row has more entries than its lanes can stage.
__global__ void find_overflow(DevicePattern pattern, TaskList::View list, int* overflow) {
  const auto t = static_cast<Index>(element() / kWarpSize);
  if (t >= list.tasks) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const WarpTask task = list.task[t];
  if (lane >= task.rows) return;
  const Index row = list.order[task.first + lane];
  if (pattern.row_offsets[row + 1] - pattern.row_offsets[row] > (kStagedPerLane << task.log2_lanes)) *overflow = 1;
}

/// One warp a row.
__global__ void dominance_kernel(DevicePattern pattern, FactorInput input, double* out) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  double sum = 0.0;
  for (Offset e = pattern.row_offsets[row] + lane; e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const double value = input.value(e);
    sum += pattern.col_indices[e] == row ? -value : fabs(value);
  }
  sum = cuda::LaneGroup(lane, kWarpSize).sum(sum);
  if (lane == 0) out[row] = sum;
}

__global__ void unit_kernel(DevicePattern upper, const double* entries, const double* inverse_pivots, double* unit) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= upper.rows) return;
  const double scale = inverse_pivots[row];
  for (Offset e = upper.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kWarpSize; e < upper.row_offsets[row + 1];
       e += kWarpSize) {
    unit[e] = entries[e] * scale;
  }
}

__global__ void reset_kernel(std::int64_t entries, Index rows, double* entry, double* inverse_pivot,
                             FactorReport* report, int* counter) {
  const std::int64_t i = element();
  if (i == 0) {
    *report = FactorReport{};
    *counter = 0;
  }
  if (i < entries) entry[i] = not_yet();
  if (i < rows) inverse_pivot[i] = not_yet();
}

}  // namespace

void reset_factor(const FactorStorage& storage, Offset entries, Index rows, cudaStream_t stream) {
  reset_kernel<<<element_blocks(std::max<std::int64_t>(entries, rows)), kElementBlock, 0, stream>>>(
      entries, rows, storage.entries.data(), storage.inverse_pivots.data(), storage.report.data(),
      storage.counter.data());
  cuda::check_launch("reset_kernel");
}

FactorStorage make_factor_storage(const DevicePattern& pattern, const TaskList& tasks, FactorShape shape,
                                  cudaStream_t stream) {
  FactorStorage storage;
  storage.shape = shape;
  const auto entries = static_cast<std::size_t>(pattern.entries);
  storage.entries = {entries, stream};
  storage.inverse_pivots = {static_cast<std::size_t>(pattern.rows), stream};
  storage.report = {1, stream};
  storage.counter = {1, stream};
  if (tasks.tasks == 0) return storage;
  ScratchArray<int> overflow(1, stream);
  cuda::check(cudaMemsetAsync(overflow.data(), 0, sizeof(int), stream), "resetting a flag");
  find_overflow<<<element_blocks(std::int64_t{tasks.tasks} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, tasks.view(), overflow.data());
  cuda::check_launch("find_overflow");
  if (cuda::fetch(overflow.data(), stream)) storage.overflow = {entries, stream};
  return storage;
}

FactorShape choose_shape(const DevicePattern& pattern, Index parts) {
  const bool long_rows = pattern.rows > 0 && pattern.entries / pattern.rows / parts > kLongPivotRow;
  return long_rows ? FactorShape::long_rows : FactorShape::short_rows;
}

void factor_lanes(const DevicePattern& pattern, Index parts, FactorShape shape, Index levels, Index* lanes,
                  cudaStream_t stream) {
  if (pattern.rows == 0) return;
  const bool long_rows = shape == FactorShape::long_rows;
  const int width = long_rows ? LongRowShape::kWidth : ShortRowShape::kWidth;
  const int blocks = long_rows ? LongRowShape::kBlocks : ShortRowShape::kBlocks;
  const std::int64_t warps = std::int64_t{cuda::device_limits().multiprocessors} * blocks * kFactorBlock / kWarpSize;
  const std::int64_t rows_in_flight = std::int64_t{pattern.rows / levels} * kLevelsInFlight;
  int room = kWarpSize;
  while (room > 1 && rows_in_flight * room > warps * kWarpSize) room /= 2;
  lanes_kernel<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern, parts, width, room, lanes);
  cuda::check_launch("lanes_kernel");
}

double diagonal_dominance(const DevicePattern& pattern, const double* values, const Offset* source,
                          cudaStream_t stream) {
  if (pattern.rows == 0) return 0.0;
  ScratchArray<double> dominance(static_cast<std::size_t>(pattern.rows), stream);
  ScratchArray<double> largest(1, stream);
  dominance_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, FactorInput{values, source}, dominance.data());
  cuda::check_launch("dominance_kernel");
  cuda::with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Max(scratch, bytes, dominance.data(), largest.data(), pattern.rows, stream);
      },
      stream);
  return cuda::fetch(largest.data(), stream);
}

void scale_to_unit(const DevicePattern& upper, const FactorStorage& storage, double* unit, cudaStream_t stream) {
  if (upper.rows == 0) return;
  unit_kernel<<<element_blocks(std::int64_t{upper.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      upper, storage.entries.data(), storage.inverse_pivots.data(), unit);
  cuda::check_launch("unit_kernel");
}

}  // namespace taskdag::kernels
