#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/cuda.hpp"
#include "kernels/sptrsv/task.hpp"

namespace taskdag::kernels {
namespace {

using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::LaneGroup;
using cuda::Slots;
using cuda::TicketCounter;

constexpr int kBlock = 128;

__device__ Index reduce_max(const LaneGroup& group, Index value) {
  for (int offset = group.size() / 2; offset > 0; offset /= 2) {
    value = max(value, __shfl_xor_sync(kFullWarp, value, offset));
  }
  return value;
}

/// One warp a task. Lane (row · lanes + member) of entry k of the task holds the row's entry k · lanes + member.
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
  if (row_in_task < task.rows) {
    const Index row = list.order[task.first + row_in_task];
    begin = first[row];
    entries = count[row];
  }
  for (Index k = 0; k < task.width; ++k) {
    const std::int64_t slot = (std::int64_t{task.offset} + k) * kWarpSize + lane;
    const Index e = (k << task.log2_lanes) + member;
    const bool present = e < entries;
    column[slot] = present ? list.position[col_indices[begin + e]] : list.rows;
    source[slot] = present ? (source_entry ? source_entry[begin + e] : begin + e) : -1;
  }
  // Positions ascend with the level, so the latest operand of the highest level has the highest position.
  Index highest = -1;
  for (Index e = member; e < entries; e += 1 << task.log2_lanes) highest = max(highest, level[col_indices[begin + e]]);
  const LaneGroup group(lane, 1 << task.log2_lanes);
  highest = reduce_max(group, highest);
  Index latest = -1;
  for (Index e = member; e < entries; e += 1 << task.log2_lanes) {
    const Index other = col_indices[begin + e];
    if (level[other] < highest) latest = max(latest, list.position[other]);
  }
  latest = reduce_max(group, latest);
  if (member == 0 && row_in_task < task.rows) gate[task.first + row_in_task] = latest < 0 ? list.rows : latest;
}

__global__ void load_kernel(std::int64_t slots, const Offset* source, const double* values, double* value) {
  const std::int64_t slot = cuda::element();
  if (slot >= slots) return;
  const Offset e = source[slot];
  value[slot] = e >= 0 ? values[e] : 0.0;
}

__global__ void arm_kernel(Index rows, double* slots, int* counter) {
  const Index i = static_cast<Index>(cuda::element());
  if (i == 0) *counter = 0;
  if (i < rows) slots[i] = not_yet();
}

struct SolveParameters {
  SolveArguments a;
  const WarpTask* task;
  Index tasks;
  const Index* column;
  const double* value;
  Slots slots;
  TicketCounter tickets;
  double* next_slots;  // reset to not_yet by position
  int* next_counter;
  const Index* gate;
  Index rows;
  unsigned gate_pause_ns;
};

/// A lane's entries of one task.
struct LaneEntries {
  const Index* column;  // of this lane, stride 32
  const double* value;
  Index width;
  __device__ Index count() const { return width; }
  template <int Batch>
  __device__ void load(Index first, Index (&c)[Batch], double (&v)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const std::int64_t slot = std::int64_t{first + k} * kWarpSize;
      c[k] = __ldg(column + slot);
      v[k] = __ldg(value + slot);
    }
  }
};

__device__ double run_row(const LaneGroup& group, const LaneEntries& entries, const Slots& slots, double rhs,
                          double pivot) {
  switch (entries.width) {  // the same for the whole warp
    case 0:
      return rhs * pivot;
    case 1:
      return sptrsv_row<1>(group, entries, slots, rhs, pivot);
    case 2:
      return sptrsv_row<2>(group, entries, slots, rhs, pivot);
    case 3:
      return sptrsv_row<3>(group, entries, slots, rhs, pivot);
    default:
      return sptrsv_row<4>(group, entries, slots, rhs, pivot);
  }
}

__device__ WarpTask load_task(const WarpTask* task) {
  const int4 raw = __ldg(reinterpret_cast<const int4*>(task));
  WarpTask result;
  memcpy(&result, &raw, sizeof(result));
  return result;
}

/// Persistent warps: each takes the next task, fetches what does not depend on others, waits, publishes.
__global__ void __launch_bounds__(kBlock) solve_kernel(const SolveParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (blockIdx.x == 0 && threadIdx.x == 0) *p.next_counter = 0;
  Index ticket = TicketCounter::receive(p.tickets.request(lane));
  while (ticket < p.tasks) {
    const int requested = p.tickets.request(lane);  // the next ticket travels while this task is worked on
    const WarpTask task = load_task(p.task + ticket);
    const int lanes = 1 << task.log2_lanes;
    const int row_in_task = lane >> task.log2_lanes;
    const bool active = row_in_task < task.rows;
    const bool leader = active && (lane & (lanes - 1)) == 0;
    const Index position = task.first + row_in_task;
    double rhs = 0.0;
    double pivot = 1.0;
    if (leader) {
      rhs = p.a.rhs[__ldg(p.a.rhs_index + position)];
      if (p.a.pivot) pivot = __ldg(p.a.pivot + position);
      p.next_slots[position] = not_yet();
    }
    if (active && lanes > 1) {  // a row with one lane has few operands: looking at all of them costs little
      const Index gate = __ldg(p.gate + position);
      if (gate < p.rows) p.slots.wait_patiently(gate, p.gate_pause_ns);
    }
    __syncwarp();
    const std::int64_t slot = std::int64_t{task.offset} * kWarpSize + lane;
    const double result =
        run_row(LaneGroup(lane, lanes), LaneEntries{p.column + slot, p.value + slot, task.width}, p.slots, rhs, pivot);
    if (leader) {
      p.slots.publish(position, result);
      if (!is_finite(result)) *p.a.non_finite = 1;
      if (p.a.x) p.a.x[__ldg(p.a.x_index + position)] = result;
    }
    ticket = TicketCounter::receive(requested);
  }
}

template <class T>
__global__ void gather_kernel(Index n, const T* in, const Index* index, T* out) {
  const Index p = static_cast<Index>(cuda::element());
  if (p < n) out[p] = in[index[p]];
}

__global__ void gather_scaled_kernel(Index n, const double* in, const Index* index, const double* scale, double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[i] = in[index ? index[i] : i] * sqrt(scale[i]);
}

__global__ void scatter_scaled_kernel(Index n, const double* in, const double* scale, const Index* index, double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[index ? index[i] : i] = in[i] / sqrt(scale[i]);
}

}  // namespace

PackedTriangle::PackedTriangle(const DevicePattern& pattern, Triangle triangle, const TriangleRanges& ranges,
                               const RowLevels& levels, const Offset* source_entry, cudaStream_t stream)
    : tasks_(build_tasks(levels, ranges.count.data(), triangle, kEntriesPerLane, stream)) {
  const std::size_t slots = static_cast<std::size_t>(tasks_.slots) * kWarpSize;
  column_ = {slots, stream};
  value_ = {slots, stream};
  source_ = {slots, stream};
  gate_ = {static_cast<std::size_t>(tasks_.rows), stream};
  slots_ = {static_cast<std::size_t>(tasks_.rows) + 1, stream};
  counter_ = {1, stream};
  spare_slots_ = {slots_.size(), stream};
  spare_counter_ = {1, stream};
  for (double* const slots_end : {slots_.data() + tasks_.rows, spare_slots_.data() + tasks_.rows}) {
    cuda::check(cudaMemsetAsync(slots_end, 0, sizeof(double), stream), "clearing the slot of absent operands");
  }
  if (tasks_.tasks == 0) return;
  pack_kernel<<<cuda::element_blocks(std::int64_t{tasks_.tasks} * kWarpSize), cuda::kElementBlock, 0, stream>>>(
      tasks_.view(), ranges.first.data(), ranges.count.data(), pattern.col_indices, source_entry, levels.level.data(),
      column_.data(), source_.data(), gate_.data());
  cuda::check_launch("pack_kernel");
}

void PackedTriangle::load_values(const double* source, cudaStream_t stream) {
  if (value_.size() == 0) return;
  const auto slots = static_cast<std::int64_t>(value_.size());
  load_kernel<<<cuda::element_blocks(slots), cuda::kElementBlock, 0, stream>>>(slots, source_.data(), source,
                                                                               value_.data());
  cuda::check_launch("load_kernel");
}

void PackedTriangle::arm(cudaStream_t stream) {
  arm_kernel<<<cuda::element_blocks(tasks_.rows), cuda::kElementBlock, 0, stream>>>(tasks_.rows, slots_.data(),
                                                                                    counter_.data());
  cuda::check_launch("arm_kernel");
  armed_ = true;
}

void PackedTriangle::solve(const SolveArguments& arguments, cudaStream_t stream) {
  if (tasks_.rows == 0) return;
  if (!armed_) arm(stream);
  const SolveParameters parameters{arguments,
                                   tasks_.task.data(),
                                   tasks_.tasks,
                                   column_.data(),
                                   value_.data(),
                                   Slots{slots_.data()},
                                   TicketCounter{counter_.data()},
                                   spare_slots_.data(),
                                   spare_counter_.data(),
                                   gate_.data(),
                                   tasks_.rows,
                                   static_cast<unsigned>(tuning_.gate_pause_ns)};
  solve_kernel<<<persistent_blocks(tasks_, tuning_, kBlock), kBlock, 0, stream>>>(parameters);
  cuda::check_launch("solve_kernel");
  std::swap(slots_, spare_slots_);
  std::swap(counter_, spare_counter_);
}

std::int64_t PackedTriangle::bytes() const {
  return tasks_.bytes() + column_.bytes() + value_.bytes() + source_.bytes() + gate_.bytes() + slots_.bytes() +
         counter_.bytes() + spare_slots_.bytes() + spare_counter_.bytes();
}

void gather(Index n, const double* in, const Index* index, double* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, out);
  cuda::check_launch("gather_kernel");
}

void gather(Index n, const Index* in, const Index* index, Index* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, out);
  cuda::check_launch("gather_kernel");
}

void gather_scaled(Index n, const double* in, const Index* index, const double* scale, double* out,
                   cudaStream_t stream) {
  if (n == 0) return;
  gather_scaled_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, scale, out);
  cuda::check_launch("gather_scaled_kernel");
}

void scatter_scaled(Index n, const double* in, const double* scale, const Index* index, double* out,
                    cudaStream_t stream) {
  if (n == 0) return;
  scatter_scaled_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, scale, index, out);
  cuda::check_launch("scatter_scaled_kernel");
}

}  // namespace taskdag::kernels
