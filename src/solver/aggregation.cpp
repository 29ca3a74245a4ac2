#include "taskdag/aggregation.hpp"

#include "context/state.hpp"
#include "kernels/ordering/seeds/aggregates.hpp"
#include "solver/aggregation_impl.hpp"
#include "solver/checks.hpp"

namespace taskdag {

Aggregation aggregate_rows(const Context& context, const CsrPattern& pattern, MemorySpace space,
                           const AggregationOptions& options, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (options.distance < 1) throw InvalidInput("the distance of roots is below 1");
  check_pattern(pattern, space, false, "an aggregation");
  if (pattern.rows == 0) return {};
  return with_memory_errors("an aggregation", pattern.rows, [&] {
    if (context.backend() == Backend::cuda) {
      return cuda::aggregate_rows(context, pattern, space, options.distance, stream);
    }
    host::ThreadPool& pool = *context.state()->pool;
    const kernels::HostGraph graph = kernels::symmetrised_graph(pattern, pool);
    return kernels::aggregate_around_seeds(graph.view(), options.distance, pool);
  });
}

}  // namespace taskdag
