#include <algorithm>
#include <type_traits>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/cuda.hpp"
#include "kernels/sptrsv/task.hpp"

namespace taskdag::kernels {
namespace {

using cuda::kWarpSize;
using cuda::LaneGroup;
using cuda::Slots;
using cuda::TicketCounter;

constexpr int kBlock = 128;

__global__ void arm_kernel(Index rows, double* slots, int counters, int* counter, int* spare_counter) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < counters) counter[i] = spare_counter[i] = 0;
  if (i < rows) slots[i] = not_yet();
}

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

  __device__ LaneTask(const SolveParameters& p, Index t, int lane_in_warp, bool with_rhs = true)
      : task(load_task(p.task + t)), lane(lane_in_warp), lanes(1 << task.log2_lanes) {
    const int row_in_task = lane >> task.log2_lanes;
    active = row_in_task < task.rows;
    leader = active && (lane & (lanes - 1)) == 0;
    position = task.first + row_in_task;
    if (!leader) return;
    if (with_rhs) rhs = p.a.rhs[__ldg(p.a.rhs_index + position)];
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
    Slots{p.slots}.publish(position, result);
    if (!is_finite(result)) *p.a.non_finite = 1;
    if (p.a.x) p.a.x[__ldg(p.a.x_index + position)] = result;
  }
};

/// Operands of a warp's first task, which is begun while the launch before may still be at work: nothing that launches
/// write is looked at until that has ended, but entries have been asked for by then. Only after that may the next
/// launch start: so two launches overlap at most.
class FirstOperands {
 public:
  __device__ FirstOperands(const SolveParameters& p, const LaneTask& task)
      : slots_{p.slots}, rhs_at_(task.leader ? p.a.rhs + __ldg(p.a.rhs_index + task.position) : nullptr) {}

  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], double (&value)[Batch]) const {
    begin();
    slots_.wait(index, value);
  }
  /// The right-hand side of the lane's row.
  __device__ double rhs() const {
    begin();
    return rhs_;
  }

 private:
  __device__ void begin() const {
    if (begun_) return;
    wait_for_last_launch();
    let_next_launch_start();
    if (rhs_at_) rhs_ = *rhs_at_;
    begun_ = true;
  }

  Slots slots_;
  const double* rhs_at_;
  mutable double rhs_ = 0.0;
  mutable bool begun_ = false;
};

__device__ void run_first_task(const SolveParameters& p, Index ticket, int lane) {
  LaneTask task(p, ticket, lane, false);
  const double pivot = task.pivot;
  task.pivot = 1.0;
  const FirstOperands operands(p, task);
  const double sum = task.run(p, operands);
  const double rhs = operands.rhs();
  if (task.leader) p.next_slots[task.position] = not_yet();
  task.finish(p, (rhs + sum) * pivot);
}

__device__ void run_task(const SolveParameters& p, Index ticket, int lane) {
  const Slots slots{p.slots};
  const LaneTask task(p, ticket, lane);
  if (task.leader) p.next_slots[task.position] = not_yet();
  if (task.active && task.lanes > 1) {  // a row with one lane has few operands: looking at all of them costs little
    const Index gate = __ldg(p.gate + task.position);
    if (gate < p.rows) slots.wait_patiently(gate, p.gate_pause_ns);
  }
  __syncwarp();
  task.finish(p, task.run(p, slots));
}

/// Persistent warps: each takes the next task, fetches what does not depend on others, waits, publishes.
__global__ void __launch_bounds__(kBlock) solve_kernel(const SolveParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const TicketCounter tickets{p.counter};
  if (blockIdx.x == 0 && threadIdx.x == 0) *p.next_counter = 0;
  Index ticket = p.first_task + TicketCounter::receive(tickets.request(lane));
  while (ticket < p.end_task) {
    const int requested = tickets.request(lane);  // the next ticket travels while this task is worked on
    run_task(p, ticket, lane);
    ticket = p.first_task + TicketCounter::receive(requested);
  }
}

/// The same for all rows in one launch that may start before the one before it ends. Nobody resets its counter.
__global__ void __launch_bounds__(kBlock) overlapping_kernel(const SolveParameters p, unsigned before) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const TicketCounter tickets{p.counter};
  const auto receive = [&](int requested) {
    return static_cast<Index>(static_cast<unsigned>(TicketCounter::receive(requested)) - before);
  };
  Index ticket = receive(tickets.request(lane));
  if (ticket >= p.end_task) return;
  int requested = tickets.request(lane);
  run_first_task(p, ticket, lane);
  ticket = receive(requested);
  while (ticket < p.end_task) {
    requested = tickets.request(lane);
    run_task(p, ticket, lane);
    ticket = receive(requested);
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
    task.finish(p, task.run(p, Settled<Overlaps>{Slots{p.slots}}));
  }
  wait_for_last_launch();  // this launch must not end before the one that it overlaps with
}

/// overlaps: it may start before the launch before it ends.
template <class... Arguments>
void launch(void (*kernel)(Arguments...), std::int64_t blocks, bool overlaps, cudaStream_t stream,
            std::type_identity_t<Arguments>... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {static_cast<unsigned>(blocks), 1, 1};
  config.blockDim = {kBlock, 1, 1};
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlaps ? 1 : 0;
  cuda::check(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a triangular sweep");
}

/// Overlaps with the launch before only if that is a level_kernel too.
void launch_level(const SolveParameters& parameters, bool overlaps, cudaStream_t stream) {
  const std::int64_t threads = std::int64_t{parameters.end_task - parameters.first_task} * kWarpSize;
  launch(overlaps ? level_kernel<true> : level_kernel<false>, (threads + kBlock - 1) / kBlock, overlaps, stream,
         parameters);
}

}  // namespace

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
      tasks_.rows, slots_.data(), counters, counter_.data(), spare_counter_.data());
  cuda::check_launch("arm_kernel");
  armed_ = true;
}

SolveParameters PackedTriangle::parameters(const SolveArguments& arguments, std::size_t stretch) {
  return {arguments,
          tasks_.task.data(),
          stretches_[stretch].first,
          stretches_[stretch].end,
          column_.data(),
          value_.data(),
          slots_.data(),
          counter_.data() + stretch,
          spare_slots_.data(),
          spare_counter_.data() + stretch,
          gate_.data(),
          tasks_.rows,
          static_cast<unsigned>(tuning_.gate_pause_ns)};
}

void PackedTriangle::launch_stretches(const SolveArguments& arguments, cudaStream_t stream) {
  bool after_wide = false;
  for (std::size_t k = 0; k < stretches_.size(); ++k) {
    if (stretches_[k].wide) {
      launch_level(parameters(arguments, k), after_wide && overlaps_, stream);
    } else {
      launch(solve_kernel, persistent_blocks(tasks_, tuning_, kBlock), false, stream, parameters(arguments, k));
    }
    after_wide = stretches_[k].wide;
  }
}

void PackedTriangle::launch_overlapping(const SolveArguments& arguments, cudaStream_t stream) {
  const int blocks = persistent_blocks(tasks_, tuning_, kBlock);
  launch(overlapping_kernel, blocks, solved_, stream, parameters(arguments, 0), taken_[turn_]);
  taken_[turn_] +=
      static_cast<unsigned>(tasks_.tasks + blocks * (kBlock / kWarpSize));  // each warp ends on one too many
}

void PackedTriangle::launch_graph(const SolveArguments& arguments, cudaStream_t stream) {
  Graph& graph = graph_[turn_];
  if (graph.launches.empty()) {
    graph.launches = {[&](cudaStream_t captured) { launch_stretches(arguments, captured); },
                      [](const SolveParameters& p) { return p.first_task; }};
  } else if (arguments != graph.arguments) {
    for (std::size_t k = 0; k < stretches_.size(); ++k) graph.launches.set_argument(k, parameters(arguments, k));
  }
  graph.arguments = arguments;
  graph.launches.launch(stream);
}

void PackedTriangle::solve(const SolveArguments& arguments, cudaStream_t stream) {
  // Making a graph takes as long as some solves do, so that the first few are done without.
  constexpr int kBeforeGraph = 4;
  if (tasks_.rows == 0) return;
  if (!armed_) arm(stream);
  if (stretches_.size() == 1 && !stretches_[0].wide && overlaps_ && tasks_.levels <= tuning_.most_overlapping_levels) {
    launch_overlapping(arguments, stream);
  } else if (direct_solves_ < kBeforeGraph || stretches_.size() == 1 || cuda::is_capturing(stream)) {
    launch_stretches(arguments, stream);
    if (direct_solves_ < kBeforeGraph) ++direct_solves_;
  } else {
    launch_graph(arguments, stream);
  }
  solved_ = true;
  std::swap(slots_, spare_slots_);
  std::swap(counter_, spare_counter_);
  turn_ = 1 - turn_;
}

std::int64_t PackedTriangle::bytes() const {
  return tasks_.bytes() + column_.bytes() + value_.bytes() + source_.bytes() + gate_.bytes() + slots_.bytes() +
         counter_.bytes() + spare_slots_.bytes() + spare_counter_.bytes();
}

}  // namespace taskdag::kernels
