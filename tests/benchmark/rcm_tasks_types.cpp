#include "rcm_tasks_types.hpp"

#include "backends/host/thread_pool.hpp"
#include "rcm_tasks_traced.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {

kernels::TaskOrderingTimes trace_types(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected,
                                       engine::Scheduler scheduler) {
  host::ThreadPool pool(host::available_threads());
  const kernels::HostGraph graph = kernels::symmetrised_graph(a.pattern(), pool);
  kernels::TaskOrderingOptions options = kernels::library_program({.steps = RcmSteps::phases});
  options.make_permutation = make_traced_phase_program;
  options.run.scheduler = scheduler;
  options.runner.trace_events = 1U << 23U;
  kernels::RcmByTasks by_tasks(context, graph.view(), options);
  kernels::TaskOrderingTimes times;
  for (int call = 0; call < 2; ++call) {
    if (by_tasks.order(&times) != expected) throw Error("a traced program gave another permutation");
  }
  return times;
}

}  // namespace taskdag::benchmark
