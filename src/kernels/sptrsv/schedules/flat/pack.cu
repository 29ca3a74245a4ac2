/// \file
/// Packs the rows of a triangle as warp tasks, in level order.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/flat/packed_triangle.hpp"
#include "kernels/sptrsv/schedules/flat/parts.hpp"

namespace taskdag::kernels {
namespace {

using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::LaneGroup;

__device__ Index reduce_max(const LaneGroup& group, Index value) {
  for (int offset = group.size() / 2; offset > 0; offset /= 2) {
    value = max(value, __shfl_xor_sync(kFullWarp, value, offset));
  }
  return value;
}

/// One warp a task. Lane (row · lanes + member) of entry k of the task holds the row's entry k · lanes + member. Rows
/// here are items (parts.hpp): of a row in parts the entries are the parts, with the value 1.
///
/// gate: the position of the row's latest operand below its highest operand level (list.rows if there is none). Once it
/// is published the row is nearly due; until then looking at this one operand keeps the L2 cache free for others.
__global__ void __launch_bounds__(cuda::kElementBlock)
    pack_kernel(TaskList::View list, const Offset* first, const Index* count, const Index* col_indices,
                const Offset* source_entry, const Index* level, Index* column, Offset* source, Index* gate) {
  const Index t = static_cast<Index>(cuda::element() / kWarpSize);
  if (t >= list.tasks) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const WarpTask task = list.task[t];
  const int member = lane & ((1 << task.log2_lanes) - 1);
  const int row_in_task = lane >> task.log2_lanes;
  Offset begin = 0;
  Index entries = 0;
  bool sums = false;
  if (row_in_task < task.rows) {
    const Index row = list.order[task.first + row_in_task];
    entries = count[row];
    sums = first[row] < 0;
    begin = sums ? ~first[row] : first[row];
  }
  const auto operand = [&](Index e) { return sums ? begin + e : col_indices[begin + e]; };
  for (Index k = 0; k < task.width; ++k) {
    const std::int64_t slot = (std::int64_t{task.offset} + k) * kWarpSize + lane;
    const Index e = (k << task.log2_lanes) + member;
    const bool present = e < entries;
    column[slot] = present ? list.position[operand(e)] : list.rows;
    Offset from = kGatherZero;
    if (present && sums) from = kGatherOne;
    if (present && !sums) from = source_entry ? source_entry[begin + e] : begin + e;
    source[slot] = from;
  }
  // Positions ascend with the level, so the latest operand of the highest level has the highest position.
  Index highest = -1;
  for (Index e = member; e < entries; e += 1 << task.log2_lanes) highest = max(highest, level[operand(e)]);
  const LaneGroup group(lane, 1 << task.log2_lanes);
  highest = reduce_max(group, highest);
  Index latest = -1;
  for (Index e = member; e < entries; e += 1 << task.log2_lanes) {
    const Index other = operand(e);
    if (level[other] < highest) latest = max(latest, list.position[other]);
  }
  latest = reduce_max(group, latest);
  if (member == 0 && row_in_task < task.rows) gate[task.first + row_in_task] = latest < 0 ? list.rows : latest;
}

__global__ void forget_parts(Index positions, Index rows, Index* order) {
  const auto p = static_cast<Index>(cuda::element());
  if (p < positions && order[p] >= rows) order[p] = -1;
}

}  // namespace

PackedTriangle::PackedTriangle(const DevicePattern& pattern, Triangle triangle, const TriangleRanges& ranges,
                               const RowLevels& levels, const Offset* source_entry, StoredAs stored,
                               cudaStream_t stream)
    : stored_(stored) {
  // Looks at slots of two doubles take twice the way.
  if (is_complex()) tuning_.lookahead_levels /= 2;
  const std::optional<CutTriangle> cut = cut_long_rows(pattern, ranges, levels, stream);
  has_parts_ = cut.has_value();
  const TriangleRanges& item_ranges = cut ? cut->ranges : ranges;
  const RowLevels& item_levels = cut ? cut->levels : levels;
  tasks_ = build_tasks(item_levels, item_ranges.count.data(), triangle, kEntriesPerLane, stream);
  const std::size_t slots = static_cast<std::size_t>(tasks_.slots) * kWarpSize;
  column_ = {slots, stream};
  if (is_single()) {
    single_value_ = {slots, stream};
  } else {
    value_ = {slots * at(parts()), stream};
  }
  source_ = {slots, stream};
  gate_ = {static_cast<std::size_t>(tasks_.rows), stream};
  const std::size_t last = at(tasks_.rows) * at(parts());
  slots_ = {last + at(parts()), stream};
  // Operands of a part are mostly side by side.
  computes_operands_ = levels.levels <= 2 &&
                       (has_parts_ || tasks_.tasks == 0 || tasks_.level_begin[1] <= tuning_.most_tasks_of_operands);
  find_stretches();
  counter_ = {stretches_.size(), stream};
  spare_slots_ = {slots_.size(), stream};
  spare_counter_ = {stretches_.size(), stream};
  for (double* const slots_end : {slots_.data() + last, spare_slots_.data() + last}) {
    cuda::check(cudaMemsetAsync(slots_end, 0, at(parts()) * sizeof(double), stream),
                "clearing the slot of absent operands");
  }
  if (tasks_.tasks == 0) return;
  pack_kernel<<<cuda::element_blocks(std::int64_t{tasks_.tasks} * kWarpSize), cuda::kElementBlock, 0, stream>>>(
      tasks_.view(), item_ranges.first.data(), item_ranges.count.data(), pattern.col_indices, source_entry,
      item_levels.level.data(), column_.data(), source_.data(), gate_.data());
  cuda::check_launch("pack_kernel");
  if (!has_parts_) return;
  forget_parts<<<cuda::element_blocks(tasks_.rows), cuda::kElementBlock, 0, stream>>>(tasks_.rows, pattern.rows,
                                                                                      tasks_.order.data());
  cuda::check_launch("forget_parts");
}

void PackedTriangle::gather_values(GatherBatch& batch, const double* source) {
  solved_ = false;
  batch.add(static_cast<std::int64_t>(value_.size()), source, source_.data(), value_.data());
}

void PackedTriangle::round_values(const double* source, cudaStream_t stream) {
  solved_ = false;
  gather_rounded(static_cast<std::int64_t>(single_value_.size()), source, source_.data(), single_value_.data(), stream);
}

void PackedTriangle::take_numbers(const ComplexSource& source, cudaStream_t stream) {
  solved_ = false;
  gather_numbers(static_cast<std::int64_t>(source_.size()), source, source_.data(), value_.data(), stream);
}

}  // namespace taskdag::kernels
