#include "rcm_tasks_forms.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>

#include "backends/host/thread_pool.hpp"
#include "rcm_device.hpp"

namespace taskdag::benchmark {
namespace {

using kernels::TaskCompression;
using kernels::TaskOrderingOptions;
using kernels::TaskOrderingTimes;

double wall_ms(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

TaskFormTime named(const TaskOrderingOptions& options) {
  TaskFormTime time;
  time.form = to_string(options.sort);
  if (options.sort == RcmSort::bitonic && options.block_keys != TaskOrderingOptions().block_keys) {
    time.form.append(1, ' ').append(std::to_string(options.block_keys));
  }
  time.scheduler = engine::to_string(options.run.scheduler);
  if (options.sort != RcmSort::cpu_gpu) {
    time.steps = options.steps == RcmSteps::phases ? "phases" : "dependencies";
    time.compression = options.compression == TaskCompression::all_nodes ? "all nodes" : "candidates";
    time.narrow = options.narrow_in_place ? "in place" : "tasks";
  }
  return time;
}

void measure(const Context& context, const kernels::GraphView& graph, const std::vector<Index>& expected, int repeats,
             const TaskOrderingOptions& options, TaskFormTime& result) {
  const bool on_device = context.backend() == Backend::cuda;
  if (on_device) static_cast<void>(most_device_bytes());
  const std::uint64_t before = on_device ? most_device_bytes() : 0;
  std::unique_ptr<kernels::RcmByTasks> by_tasks;
  result.preparation = wall_ms([&] { by_tasks = std::make_unique<kernels::RcmByTasks>(context, graph, options); });
  struct Call {
    double total;
    TaskOrderingTimes times;
  };
  std::vector<Call> calls;
  result.status = "ok";
  for (int k = -1; k < repeats; ++k) {  // one warm-up
    Call call{};
    std::vector<Index> order;
    call.total = wall_ms([&] { order = by_tasks->order(&call.times); });
    if (order != expected) result.status = "wrong";
    if (k >= 0) calls.push_back(call);
  }
  if (on_device) result.device_bytes = most_device_bytes() - before;
  std::sort(calls.begin(), calls.end(), [](const Call& left, const Call& right) { return left.total < right.total; });
  const Call& median = calls[calls.size() / 2];
  result.total = median.total;
  result.search = 1e3 * median.times.search;
  result.permutation = 1e3 * median.times.permutation;
  result.least = calls.front().total;
  result.most = calls.back().total;
  result.repeats = repeats;
  result.work = median.times;
}

}  // namespace

std::vector<TaskOrderingOptions> measured_task_forms(const Context& context) {
  std::vector<TaskOrderingOptions> forms;
  for (const RcmSort sort : {RcmSort::bitonic, RcmSort::cub}) {
    for (const RcmSteps steps : {RcmSteps::phases, RcmSteps::dependencies}) {
      for (const engine::Scheduler scheduler :
           {engine::Scheduler::megakernel, engine::Scheduler::device_controller, engine::Scheduler::timesliced}) {
        TaskOrderingOptions options = kernels::library_program({.sort = sort, .steps = steps});
        options.run.scheduler = scheduler;
        forms.push_back(options);
      }
    }
  }
  forms.push_back({.compression = TaskCompression::candidates});
  forms.push_back({.steps = RcmSteps::dependencies});
  forms.push_back({.steps = RcmSteps::dependencies, .compression = TaskCompression::candidates});
  forms.push_back({.steps = RcmSteps::dependencies,
                   .compression = TaskCompression::candidates,
                   .narrow_in_place = true,
                   .block_keys = 4096});
  forms.push_back({.sort = RcmSort::cpu_gpu});
  for (TaskOrderingOptions& options : forms) {
    if (options.run.scheduler == engine::Scheduler::automatic) options.run.scheduler = engine::Scheduler::megakernel;
    options.run.watchdog_ms = context.backend() == Backend::cuda ? 10000 : 60000;
  }
  return forms;
}

void time_task_forms(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected,
                     const std::vector<TaskOrderingOptions>& forms, int repeats,
                     const std::function<void(const TaskFormTime&)>& visit) {
  host::ThreadPool pool(host::available_threads());
  const kernels::HostGraph graph = kernels::symmetrised_graph(a.pattern(), pool);
  for (const TaskOrderingOptions& options : forms) {
    TaskFormTime time = named(options);
    try {
      measure(context, graph.view(), expected, repeats, options, time);
    } catch (const std::exception& error) {
      time.status = error.what();
    }
    visit(time);
  }
}

}  // namespace taskdag::benchmark
