#include <algorithm>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
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

__global__ void arm_kernel(Index rows, double* slots, int counters, int* counter) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < counters) counter[i] = 0;
  if (i < rows) slots[i] = not_yet();
}

struct SolveParameters {
  SolveArguments a;
  const WarpTask* task;
  Index first_task;
  Index end_task;
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

/// A launch may start before the one before it ends: these say when that is allowed to, and wait for that end. Older
/// devices never overlap launches.
__device__ void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ void wait_for_last_launch() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Operands that earlier launches have published.
template <bool Overlaps>
struct Settled {
  Slots slots;
  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], double (&value)[Batch]) const {
    wait_for_last_launch();  // column and value have been asked for; nothing else until the level before ends
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      // Through the first-level cache, so that operands that all rows have in common crowd no place of the second. If
      // the level before was still at work when this launch began, that cache may hold lines from before its end.
      value[k] = Overlaps ? slots.peek(index[k]) : slots.slot[index[k]];
    }
  }
};

template <class Operands>
__device__ double run_row(const LaneGroup& group, const LaneEntries& entries, const Operands& slots, double rhs,
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

/// A lane's part in a task.
struct LaneTask {
  WarpTask task;
  int lane;
  int lanes;  ///< of a row
  bool active;
  bool leader;  ///< the first lane of a row
  Index position;
  double rhs = 0.0;
  double pivot = 1.0;

  __device__ LaneTask(const SolveParameters& p, Index t, int lane_in_warp)
      : task(load_task(p.task + t)), lane(lane_in_warp), lanes(1 << task.log2_lanes) {
    const int row_in_task = lane >> task.log2_lanes;
    active = row_in_task < task.rows;
    leader = active && (lane & (lanes - 1)) == 0;
    position = task.first + row_in_task;
    if (!leader) return;
    rhs = p.a.rhs[__ldg(p.a.rhs_index + position)];
    if (p.a.pivot) pivot = __ldg(p.a.pivot + position);
  }
  template <class Operands>
  __device__ double run(const SolveParameters& p, const Operands& operands) const {
    const std::int64_t slot = std::int64_t{task.offset} * kWarpSize + lane;
    return run_row(LaneGroup(lane, lanes), LaneEntries{p.column + slot, p.value + slot, task.width}, operands, rhs,
                   pivot);
  }
  __device__ void finish(const SolveParameters& p, double result) const {
    if (!leader) return;
    p.slots.publish(position, result);
    if (!is_finite(result)) *p.a.non_finite = 1;
    if (p.a.x) p.a.x[__ldg(p.a.x_index + position)] = result;
  }
};

/// Persistent warps: each takes the next task, fetches what does not depend on others, waits, publishes.
__global__ void __launch_bounds__(kBlock) solve_kernel(const SolveParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (blockIdx.x == 0 && threadIdx.x == 0) *p.next_counter = 0;
  Index ticket = p.first_task + TicketCounter::receive(p.tickets.request(lane));
  while (ticket < p.end_task) {
    const int requested = p.tickets.request(lane);  // the next ticket travels while this task is worked on
    const LaneTask task(p, ticket, lane);
    if (task.leader) p.next_slots[task.position] = not_yet();
    if (task.active && task.lanes > 1) {  // a row with one lane has few operands: looking at all of them costs little
      const Index gate = __ldg(p.gate + task.position);
      if (gate < p.rows) p.slots.wait_patiently(gate, p.gate_pause_ns);
    }
    __syncwarp();
    task.finish(p, task.run(p, p.slots));
    ticket = p.first_task + TicketCounter::receive(requested);
  }
}

/// One level, a warp a task: nobody waits for rows. Starts while the level before is still at work, to have everything
/// but operands by the time that it ends. Slots need no reset: who looks at them runs in a later launch.
template <bool Overlaps>
__global__ void __launch_bounds__(kBlock) level_kernel(const SolveParameters p) {
  let_next_launch_start();
  const Index t = p.first_task + static_cast<Index>(cuda::element() / kWarpSize);
  if (t < p.end_task) {
    const LaneTask task(p, t, static_cast<int>(threadIdx.x) % kWarpSize);
    task.finish(p, task.run(p, Settled<Overlaps>{p.slots}));
  }
  wait_for_last_launch();  // this launch must not end before the one that it overlaps with
}

/// May start before the launch before it ends, if that is a level_kernel too.
void launch_level(const SolveParameters& parameters, bool overlaps, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  const std::int64_t threads = std::int64_t{parameters.end_task - parameters.first_task} * kWarpSize;
  config.gridDim = {static_cast<unsigned>((threads + kBlock - 1) / kBlock), 1, 1};
  config.blockDim = {kBlock, 1, 1};
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlaps ? 1 : 0;
  cuda::check(cudaLaunchKernelEx(&config, overlaps ? level_kernel<true> : level_kernel<false>, parameters),
              "level_kernel");
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
  find_stretches();
  counter_ = {stretches_.size(), stream};
  spare_slots_ = {slots_.size(), stream};
  spare_counter_ = {stretches_.size(), stream};
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

void PackedTriangle::find_stretches() {
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, cuda::device_limits().device),
              "compute capability");
  overlaps_ = major >= 9;
  const auto& begin = tasks_.level_begin;
  const Index wide = cuda::device_limits().multiprocessors * tuning_.wide_tasks_per_multiprocessor;
  Index wide_tasks = 0;
  for (std::size_t level = 0; level + 1 < begin.size(); ++level) {
    const bool is_wide = begin[level + 1] - begin[level] >= wide;
    if (is_wide) wide_tasks += begin[level + 1] - begin[level];
    if (is_wide || stretches_.empty() || stretches_.back().wide) {
      stretches_.push_back({begin[level], begin[level + 1], is_wide});
    } else {
      stretches_.back().end = begin[level + 1];
    }
  }
  if (2 * wide_tasks < tasks_.tasks) stretches_ = {{0, tasks_.tasks, false}};
}

void PackedTriangle::arm(cudaStream_t stream) {
  const auto counters = static_cast<int>(counter_.size());
  arm_kernel<<<cuda::element_blocks(std::max(tasks_.rows, counters)), cuda::kElementBlock, 0, stream>>>(
      tasks_.rows, slots_.data(), counters, counter_.data());
  cuda::check_launch("arm_kernel");
  armed_ = true;
}

void PackedTriangle::solve(const SolveArguments& arguments, cudaStream_t stream) {
  if (tasks_.rows == 0) return;
  if (!armed_) arm(stream);
  SolveParameters parameters{arguments,
                             tasks_.task.data(),
                             0,
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
  bool after_wide = false;
  for (const Stretch& stretch : stretches_) {
    parameters.first_task = stretch.first;
    parameters.end_task = stretch.end;
    if (stretch.wide) {
      launch_level(parameters, after_wide && overlaps_, stream);
    } else {
      solve_kernel<<<persistent_blocks(tasks_, tuning_, kBlock), kBlock, 0, stream>>>(parameters);
      cuda::check_launch("solve_kernel");
    }
    after_wide = stretch.wide;
    ++parameters.tickets.next;
    ++parameters.next_counter;
  }
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
