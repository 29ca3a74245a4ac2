#include <algorithm>
#include <chrono>

#include "context/state.hpp"
#include "programs/rcm/rcm_tasks.hpp"
#include "solver/ordering_impl.hpp"

namespace taskdag {
namespace {

/// @pre the pattern is in host memory
kernels::HostGraph graph_of(const Context& context, const CsrPattern& pattern) {
  if (context.state()->pool) return kernels::symmetrised_graph(pattern, *context.state()->pool);
  host::ThreadPool one(1);
  return kernels::symmetrised_graph(pattern, one);
}

}  // namespace

void order_by_tasks(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                    MemorySpace order_space, const OrderingOptions& options, OrderingTimes& times, Stream stream) {
  using Seconds = std::chrono::duration<double>;
  const auto begin = std::chrono::steady_clock::now();
  cuda::FetchedPattern fetched;
  CsrPattern on_host = pattern;
  if (space == MemorySpace::device) {
    fetched = cuda::fetch_pattern(context, pattern, stream);
    on_host = {pattern.rows, pattern.cols, fetched.offsets.data(), fetched.columns.data()};
  }
  const kernels::HostGraph graph = graph_of(context, on_host);
  kernels::RcmByTasks program(context, graph.view(), kernels::library_program(options));
  const auto ready = std::chrono::steady_clock::now();
  kernels::TaskOrderingTimes spent;
  const std::vector<Index> result = program.order(&spent);
  if (order_space == MemorySpace::device) {
    cuda::store_order(context, result, order, stream);
  } else {
    std::copy(result.begin(), result.end(), order);
  }
  times.graph = Seconds(ready - begin).count();
  times.search = spent.search;
  times.ordering = Seconds(std::chrono::steady_clock::now() - ready).count() - spent.search;
  times.form = RcmForm::tasks;
}

}  // namespace taskdag
