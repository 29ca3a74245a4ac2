#include <algorithm>
#include <type_traits>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/launch.hpp"
#include "backends/cuda/seam.cuh"
#include "base/first_number.hpp"
#include "kernels/sptrsv/schedules/flat/packed_triangle.hpp"
#include "kernels/sptrsv/schedules/flat/solve.cuh"

namespace taskdag::kernels {
namespace {

using cuda::TicketCounter;

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / kWarpSize;

__global__ void arm_kernel(std::int64_t slot_count, double* slots, int counters, int first, int* counter,
                           int* spare_counter) {
  const std::int64_t i = cuda::element();
  if (i < counters) counter[i] = spare_counter[i] = first;
  if (i < slot_count) slots[i] = not_yet();
}

/// Persistent warps: each takes the next task, fetches what does not depend on others, waits, publishes.
template <bool Parts, bool Product, class Value>
__global__ void __launch_bounds__(kBlock) solve_kernel(const SolveParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const TicketCounter tickets{p.counter};
  if (blockIdx.x == 0 && threadIdx.x == 0) *p.next_counter = 0;
  Index ticket = p.first_task + TicketCounter::receive(tickets.request(lane));
  while (ticket < p.end_task) {
    const int requested = tickets.request(lane);  // the next ticket travels while this task is worked on
    run_task<Parts, Product, Value>(p, ticket, lane);
    ticket = p.first_task + TicketCounter::receive(requested);
  }
}

/// The same for all rows in one launch that may start before the one before it ends. Its counter is never reset.
template <bool Parts, bool Product, class Value>
__global__ void __launch_bounds__(kBlock) overlapping_kernel(const SolveParameters p, unsigned before) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const TicketCounter tickets{p.counter};
  const auto receive = [&](int requested) {
    return static_cast<Index>(static_cast<unsigned>(TicketCounter::receive(requested)) - before);
  };
  Index ticket = receive(tickets.request(lane));
  if (ticket >= p.end_task) return;
  int requested = tickets.request(lane);
  run_first_task<Parts, Published<NumberOf<Value>>, Product, Value>(p, ticket, lane, true);
  ticket = receive(requested);
  while (ticket < p.end_task) {
    requested = tickets.request(lane);
    run_task<Parts, Product, Value>(p, ticket, lane);
    ticket = receive(requested);
  }
}

/// One level, a warp a task: no task waits for rows. Starts while the level before is still at work, to have everything
/// but operands by the time that it ends. Slots need no reset: who looks at them runs in a later launch.
template <bool Overlaps, bool Parts, bool Product, class Value>
__global__ void __launch_bounds__(kBlock) level_kernel(const SolveParameters p) {
  let_next_launch_start();
  const Index t = p.first_task + static_cast<Index>(cuda::element() / kWarpSize);
  if (t < p.end_task) {
    const LaneTask<Parts, Product, Value> task(p, t, static_cast<int>(threadIdx.x) % kWarpSize);
    task.finish(p, task.run(p, Settled<Overlaps, NumberOf<Value>>{{p.slots}}));
  }
  wait_for_last_launch();  // this launch must not end before the one that it overlaps with
}

/// All rows of two levels at most, a warp a task, operands computed: no task waits for rows. It may start before the
/// launch before it ends. Slots and counters are reset by the launch that needs them next.
template <bool Product, class Value>
__global__ void __launch_bounds__(kBlock) two_levels_kernel(const SolveParameters p) {
  const Index t = static_cast<Index>(cuda::element() / kWarpSize);
  if (t >= p.end_task) return;
  run_first_task<false, Computed<Product, NumberOf<Value>>, Product, Value>(
      p, t, static_cast<int>(threadIdx.x) % kWarpSize, false);
}

/// The same where there are rows in parts: those are the tasks from `first_sum` on, and wait for their parts. So a
/// block takes a ticket for its tasks (blocks need not start in the order of their numbers), and slots and counters are
/// those of overlapping_kernel: the slots of the next solve are reset, the counter never is.
template <bool Product, class Value>
__global__ void __launch_bounds__(kBlock)
    two_levels_parts_kernel(const SolveParameters p, unsigned before, Index first_sum) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = TicketCounter{p.counter}.request(0);
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index t = static_cast<Index>(static_cast<unsigned>(ticket) - before) * kWarps + warp;
  if (t >= p.end_task) return;
  if (t < first_sum) {
    run_first_task<true, Computed<Product, NumberOf<Value>>, Product, Value>(p, t, lane, true);
  } else {
    run_first_task<true, Published<NumberOf<Value>>, Product, Value>(p, t, lane, true);
  }
}

/// overlaps: it may start before the launch before it ends.
template <class... Arguments>
void launch(void (*kernel)(Arguments...), std::int64_t blocks, bool overlaps, cudaStream_t stream,
            std::type_identity_t<Arguments>... arguments) {
  cuda::Launch(blocks, kBlock, 0, stream)
      .overlapping(overlaps)
      .run("launching a triangular sweep", kernel, arguments...);
}

/// Blocks with a warp for each task.
std::int64_t blocks_for(Index tasks) { return (std::int64_t{tasks} + kWarps - 1) / kWarps; }

/// Overlaps with the launch before only if that is a level_kernel too.
template <bool Parts, bool Product, class Value>
void launch_level(const SolveParameters& parameters, bool overlaps, cudaStream_t stream) {
  launch(overlaps ? level_kernel<true, Parts, Product, Value> : level_kernel<false, Parts, Product, Value>,
         blocks_for(parameters.end_task - parameters.first_task), overlaps, stream, parameters);
}

/// pick(parts, product, value): two constants, and a pointer to a value as it is stored. A product is ended with real
/// values in double alone: the halves of a factor need these.
template <class Pick>
auto with_kinds(bool parts, bool product, StoredAs stored, const Pick& pick) {
  const double* const in_double = nullptr;
  const auto with_parts = [&](auto constant) {
    if (stored == StoredAs::in_single) return pick(constant, std::false_type{}, static_cast<const float*>(nullptr));
    if (stored == StoredAs::complex) return pick(constant, std::false_type{}, static_cast<const Complex*>(nullptr));
    return product ? pick(constant, std::true_type{}, in_double) : pick(constant, std::false_type{}, in_double);
  };
  return parts ? with_parts(std::true_type{}) : with_parts(std::false_type{});
}

template <class Pointer>
using Stored = std::remove_cv_t<std::remove_pointer_t<Pointer>>;

}  // namespace

void PackedTriangle::find_stretches() {
  overlaps_ = cuda::launches_overlap();
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
  // Two levels with parts: one launch either way, whether its operands are computed or waited for.
  const bool computed = computes_operands_ && has_parts_ && overlaps_;
  if (2 * wide_tasks < tasks_.tasks || computed) stretches_ = {{0, tasks_.tasks, false}};
}

void PackedTriangle::arm(cudaStream_t stream) {
  const auto counters = static_cast<int>(counter_.size());
  const unsigned first = is_one_launch() ? first_number : 0;  // the counters of others are reset by each solve
  const std::int64_t slots = std::int64_t{tasks_.rows} * parts();
  arm_kernel<<<cuda::element_blocks(std::max<std::int64_t>(slots, counters)), cuda::kElementBlock, 0, stream>>>(
      slots, slots_.data(), counters, static_cast<int>(first), counter_.data(), spare_counter_.data());
  cuda::check_launch("arm_kernel");
  taken_ = {first, first};
  solved_ = false;
}

SolveParameters PackedTriangle::parameters(const SolveArguments& arguments) const {
  SolveParameters result{};
  result.a = arguments;
  result.task = tasks_.task.data();
  result.end_task = tasks_.tasks;
  result.column = column_.data();
  result.value = is_single() ? static_cast<const void*>(single_value_.data()) : value_.data();
  result.gate = gate_.data();
  result.rows = tasks_.rows;
  result.gate_pause_ns = static_cast<unsigned>(tuning_.gate_pause_ns);
  return result;
}

SolveParameters PackedTriangle::parameters(const Task& task, std::size_t stretch) {
  SolveParameters result = parameters(task.arguments);
  if (task.product != nullptr) result.product = *task.product;
  result.first_task = stretches_[stretch].first;
  result.end_task = stretches_[stretch].end;
  result.slots = slots_.data();
  result.counter = counter_.data() + stretch;
  result.next_slots = spare_slots_.data();
  result.next_counter = spare_counter_.data() + stretch;
  return result;
}

void PackedTriangle::launch_stretches(const Task& task, cudaStream_t stream) {
  const auto level = with_kinds(has_parts_, task.product != nullptr, stored_, [](auto parts, auto product, auto value) {
    return &launch_level<decltype(parts)::value, decltype(product)::value, Stored<decltype(value)>>;
  });
  const auto narrow =
      with_kinds(has_parts_, task.product != nullptr, stored_, [](auto parts, auto product, auto value) {
        return &solve_kernel<decltype(parts)::value, decltype(product)::value, Stored<decltype(value)>>;
      });
  bool after_wide = false;
  for (std::size_t k = 0; k < stretches_.size(); ++k) {
    if (stretches_[k].wide) {
      level(parameters(task, k), after_wide && overlaps_, stream);
    } else {
      launch(narrow, persistent_blocks(tasks_, tuning_, kBlock), false, stream, parameters(task, k));
    }
    after_wide = stretches_[k].wide;
  }
}

bool PackedTriangle::is_one_launch() const {
  return stretches_.size() == 1 && !stretches_[0].wide && overlaps_ && tasks_.levels <= tuning_.most_overlapping_levels;
}

void PackedTriangle::launch_overlapping(const Task& task, cudaStream_t stream) {
  const int blocks = persistent_blocks(tasks_, tuning_, kBlock);
  const auto kernel =
      with_kinds(has_parts_, task.product != nullptr, stored_, [](auto parts, auto product, auto value) {
        return &overlapping_kernel<decltype(parts)::value, decltype(product)::value, Stored<decltype(value)>>;
      });
  launch(kernel, blocks, solved_, stream, parameters(task, 0), taken_[parity_]);
  taken_[parity_] += static_cast<unsigned>(tasks_.tasks + blocks * kWarps);  // each warp ends on one too many
}

void PackedTriangle::launch_two_levels(const Task& task, cudaStream_t stream) {
  const std::int64_t blocks = blocks_for(tasks_.tasks);
  const bool product = task.product != nullptr;
  SolveParameters all = parameters(task, 0);
  all.end_task = tasks_.tasks;
  if (has_parts_) {
    const auto kernel = with_kinds(true, product, stored_, [](auto, auto of_product, auto value) {
      return &two_levels_parts_kernel<decltype(of_product)::value, Stored<decltype(value)>>;
    });
    launch(kernel, blocks, solved_, stream, all, taken_[parity_], tasks_.level_begin.end()[-2]);
    taken_[parity_] += static_cast<unsigned>(blocks);
  } else {
    const auto kernel = with_kinds(false, product, stored_, [](auto, auto of_product, auto value) {
      return &two_levels_kernel<decltype(of_product)::value, Stored<decltype(value)>>;
    });
    launch(kernel, blocks, solved_ && overlaps_, stream, all);
  }
}

void PackedTriangle::launch_graph(const Task& task, cudaStream_t stream) {
  const bool ends = task.product != nullptr;
  const ProductArguments product = ends ? *task.product : ProductArguments{};
  Graph& graph = graph_[parity_ + (ends ? 2 : 0)];
  if (graph.launches.empty()) {
    graph.launches = {[&](cudaStream_t captured) { launch_stretches(task, captured); },
                      [](const SolveParameters& p) { return p.first_task; }};
  } else if (task.arguments != graph.arguments || product != graph.product) {
    graph.arguments = {};  // of no solve, until all launches have got theirs
    for (std::size_t k = 0; k < stretches_.size(); ++k) graph.launches.set_argument(k, parameters(task, k));
  }
  graph.arguments = task.arguments;
  graph.product = product;
  graph.launches.launch(stream);
}

void PackedTriangle::solve(const Task& task, cudaStream_t stream) {
  // Making a graph takes as long as some solves do, so that the first few are done without.
  constexpr int kBeforeGraph = 4;
  if (tasks_.rows == 0) return;
  const bool computed =
      computes_operands_ && task.arguments.rhs != task.arguments.x && (!has_parts_ || is_one_launch());
  const bool waits = !computed || has_parts_;
  if (waits && start_.must_reset(stream)) arm(stream);
  start_.forget();
  if (computed) {
    launch_two_levels(task, stream);
  } else if (is_one_launch()) {
    launch_overlapping(task, stream);
  } else if (direct_solves_ < kBeforeGraph || stretches_.size() == 1 || cuda::is_capturing(stream)) {
    launch_stretches(task, stream);
    if (direct_solves_ < kBeforeGraph) ++direct_solves_;
  } else {
    launch_graph(task, stream);
  }
  solved_ = true;
  if (waits) start_.launched();
  std::swap(slots_, spare_slots_);
  std::swap(counter_, spare_counter_);
  parity_ = 1 - parity_;
}

std::int64_t PackedTriangle::bytes() const {
  return tasks_.bytes() + column_.bytes() + value_.bytes() + single_value_.bytes() + source_.bytes() + gate_.bytes() +
         slots_.bytes() + counter_.bytes() + spare_slots_.bytes() + spare_counter_.bytes();
}

}  // namespace taskdag::kernels
