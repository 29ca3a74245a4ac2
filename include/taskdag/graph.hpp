/// \file
/// Runs a graph of an application's own tasks, by levels, by lists or as static programs of the task engine, on a GPU
/// or on host threads. Compiled by nvcc for programs that run on both, by any C++20 compiler for the host.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "taskdag/engine/static/flags.hpp"
#include "taskdag/engine/static_runner.hpp"
#include "taskdag/graph_plan.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// The first exception of a run's tasks on host threads.
class GraphFault {
 public:
  /// relaxed: a task sees what those that it waits for have noted, by that wait.
  [[nodiscard]] bool noted() const { return noted_.load(std::memory_order_relaxed); }
  /// In a handler.
  void note() noexcept {
    if (!noted_.exchange(true, std::memory_order_relaxed)) first_ = std::current_exception();
  }
  /// When all threads have ended.
  void rethrow() {
    if (!noted_.exchange(false, std::memory_order_relaxed)) return;
    std::rethrow_exception(std::exchange(first_, {}));
  }

 private:
  std::atomic<bool> noted_ = false;
  std::exception_ptr first_;
};

/// What the workers of a run see.
template <class Task>
struct GraphData {
  Task body;
  // As in GraphPlan, in memory of the backend; null where the plan's is empty.
  const Index* task;
  const std::uint32_t* begin;
  const std::uint32_t* wait_begin;
  const std::uint32_t* wait;
  std::uint32_t* done;  ///< by portion, where there are waits: TaskFlags
  GraphFault* fault;    ///< on the host
};

}  // namespace detail

/// The first argument of a task of a graph.
template <class Static>
class GraphContext {
 public:
  TASKDAG_TASK explicit GraphContext(const Static& context) : context_(context) {}

  /// The worker: rank(), size(), sync(), sum(x), broadcast(x), any(b).
  [[nodiscard]] TASKDAG_TASK const auto& group() const { return context_.group(); }
  /// The worker's shared_bytes of scratch memory, aligned to 16 bytes.
  [[nodiscard]] TASKDAG_TASK std::byte* shared() const { return context_.shared(); }
  /// Number of the run, from 0; counted on the device, replays of a graph included.
  [[nodiscard]] TASKDAG_TASK std::uint32_t run() const { return context_.run(); }
  /// The report says `code`, and the run goes on.
  TASKDAG_TASK void fail(std::uint32_t code) const { context_.fail(code); }

 private:
  const Static& context_;
};

namespace detail {

/// A portion as the task of a static program.
template <class Task>
struct RunPortion {
  using Item = std::uint32_t;
  static constexpr const char* name = [] {
    if constexpr (requires { Task::name; }) return Task::name;
    return "task of a graph";
  }();
  static constexpr WorkerSize worker = [] {
    if constexpr (requires { Task::worker; }) return Task::worker;
    return thread_worker;
  }();
  static constexpr std::size_t shared_bytes = [] {
    if constexpr (requires { Task::shared_bytes; }) return std::size_t{Task::shared_bytes};
    return std::size_t{0};
  }();
  static constexpr int max_children = 0;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& portion) {
    const GraphData<Task>& graph = context.data();
    const auto& lanes = context.group();
    const TaskFlags done{graph.done, context.run()};
    if (graph.wait_begin != nullptr) {
      const std::uint32_t end = graph.wait_begin[portion + 1];
      const auto size = static_cast<std::uint32_t>(lanes.size());
      for (std::uint32_t k = graph.wait_begin[portion] + static_cast<std::uint32_t>(lanes.rank()); k < end; k += size) {
        done.wait(graph.wait[k]);
      }
      lanes.sync();
    }
    if (graph.begin == nullptr) {
      run(context, graph, graph.task[portion]);
    } else {
      const std::uint32_t end = graph.begin[portion + 1];
      for (std::uint32_t k = graph.begin[portion]; k < end; ++k) {
        run(context, graph, graph.task[k]);
        lanes.sync();
      }
    }
    if (graph.wait_begin != nullptr) {
      lanes.sync();
      if (lanes.rank() == 0) done.publish(portion);
    }
  }

 private:
  /// What follows a task that has thrown is not run, but published all the same: others wait for it.
  template <class Context>
  TASKDAG_TASK static void run(Context& context, const GraphData<Task>& graph, Index task) {
    GraphContext<Context> of_task(context);
#if defined(__CUDA_ARCH__)
    graph.body(of_task, task);
#else
    if (graph.fault->noted()) return;
    try {
      graph.body(of_task, task);
    } catch (...) {
      graph.fault->note();
    }
#endif
  }
};

inline StaticOptions options_of(GraphWay way) {
  if (way == GraphWay::launches) return {Scheduler::timesliced, Dependencies::phases};
  if (way == GraphWay::barriers) return {Scheduler::megakernel, Dependencies::phases};
  if (way == GraphWay::counters) return {Scheduler::megakernel, Dependencies::individual};
  return {Scheduler::megakernel, Dependencies::ordered};
}

}  // namespace detail

/// Runs the tasks of a graph on the backend of a context. One thread at a time.
///
/// Task: a trivially copyable type with
///   template <class Context> TASKDAG_TASK void operator()(Context& context, Index task) const
/// which is called once for each task in each run, after the calls for all that the task waits for, whose writing it
/// sees. All lanes of a worker enter it. It may name a `worker`, `shared_bytes` and a `name` as task types do
/// (engine/task_type.hpp); without, a worker is a thread.
template <class Task>
class GraphRunner {
 public:
  /// The plan's arrays are copied. Synchronises the device.
  /// @throws InvalidInput for a worker that the device cannot hold, and on CUDA for counters with workers of less than
  /// a warp; Unsupported for a CUDA context in a program that no CUDA compiler has seen; OutOfMemory, DeviceError
  GraphRunner(const Context& context, const GraphPlan& plan)
      : task_(context, plan.task),
        begin_(context, plan.begin),
        wait_begin_(context, plan.wait_begin),
        wait_(context, plan.wait),
        done_(context, plan.wait_begin.size()),
        runs_(context),
        runner_(context, plan.order, detail::options_of(plan.way)) {}

  /// One run. Asynchronous on `stream`: launches alone, no copy, no allocation, nothing waits for the host. Runs keep
  /// their order, whatever streams they are on; one may be captured, and is then ordered inside its graph alone. On the
  /// host: returns when the run has ended, and the first exception that a task has thrown comes out of it; what waits
  /// for that task has not been run, and the next run is as if there had been none.
  /// @throws DeviceError
  void enqueue_run(const Task& task, Stream stream = {}) {
    runs_.begin(stream);
    struct End {
      GraphRuns& runs;
      ~End() { runs.end(); }
    };
    {
      const End end{runs_};
      runner_.enqueue_run({task, task_.data(), begin_.data(), wait_begin_.data(), wait_.data(), done_.data(), &fault_},
                          stream);
    }
    fault_.rethrow();
  }

  /// Runs and waits. @returns report(stream)
  [[nodiscard]] Report run(const Task& task, Stream stream = {}) {
    enqueue_run(task, stream);
    return report(stream);
  }

  /// Waits for `stream`, on which the last run was. Of all runs so far, replays of CUDA graphs included; what is
  /// counted are groups.
  [[nodiscard]] Report report(Stream stream = {}) { return runner_.report(stream); }

 private:
  Array<Index> task_;
  Array<std::uint32_t> begin_;
  Array<std::uint32_t> wait_begin_;
  Array<std::uint32_t> wait_;
  Array<std::uint32_t> done_;
  detail::GraphFault fault_;
  GraphRuns runs_;
  Runner<StaticProgram<detail::GraphData<Task>, Types<detail::RunPortion<Task>>>> runner_;
};

TASKDAG_ENGINE_END
