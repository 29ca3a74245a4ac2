#include "kernels/ordering/rcm/host.hpp"
#include "solver/checks.hpp"
#include "solver/ordering_impl.hpp"
#include "context/state.hpp"

namespace taskdag {

void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, OrderingTimes* times, Stream stream) {
  if (context.backend() == Backend::host) {
    require_host_memory(space);
    require_host_memory(order_space);
  }
  check_pattern(pattern, space, false, "an ordering");
  require_array(order, pattern.rows, "order");
  if (times) *times = {};
  if (pattern.rows == 0) return;
  with_memory_errors("an ordering", pattern.rows, [&] {
    if (context.backend() == Backend::cuda) {
      cuda::reverse_cuthill_mckee(context, pattern, space, order, order_space, times, stream);
    } else {
      kernels::host_reverse_cuthill_mckee(pattern, *context.state()->pool, order, times);
    }
  });
}

std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                         OrderingTimes* times, Stream stream) {
  if (pattern.rows < 0) throw InvalidInput("the number of rows is negative");
  std::vector<Index> order = with_memory_errors(
      "an ordering", pattern.rows, [&] { return std::vector<Index>(static_cast<std::size_t>(pattern.rows)); });
  reverse_cuthill_mckee(context, pattern, space, order.data(), MemorySpace::host, times, stream);
  return order;
}

}  // namespace taskdag
