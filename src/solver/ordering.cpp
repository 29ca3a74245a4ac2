#include "context/state.hpp"
#include "kernels/ordering/rcm/host.hpp"
#include "solver/checks.hpp"
#include "solver/ordering_impl.hpp"

namespace taskdag {

void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, OrderingTimes* times, Stream stream) {
  reverse_cuthill_mckee(context, pattern, space, order, order_space, OrderingOptions{}, times, stream);
}

void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, const OrderingOptions& options, OrderingTimes* times,
                           Stream stream) {
  if (context.backend() == Backend::host) {
    require_host_memory(space);
    require_host_memory(order_space);
  }
  check_pattern(pattern, space, false, "an ordering");
  require_array(order, pattern.rows, "order");
  if (times) *times = {};
  if (pattern.rows == 0) return;
  with_memory_errors("an ordering", pattern.rows, [&] {
    if (options.form == RcmForm::tasks) {
      OrderingTimes spent;
      order_by_tasks(context, pattern, space, order, order_space, options, spent, stream);
      if (times) *times = spent;
    } else if (context.backend() == Backend::cuda) {
      cuda::reverse_cuthill_mckee(context, pattern, space, order, order_space, times, stream);
    } else {
      kernels::host_reverse_cuthill_mckee(pattern, *context.state()->pool, order, times);
    }
  });
}

std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                         OrderingTimes* times, Stream stream) {
  return reverse_cuthill_mckee(context, pattern, space, OrderingOptions{}, times, stream);
}

std::vector<Index> reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                         const OrderingOptions& options, OrderingTimes* times, Stream stream) {
  if (pattern.rows < 0) throw InvalidInput("the number of rows is negative");
  std::vector<Index> order = with_memory_errors(
      "an ordering", pattern.rows, [&] { return std::vector<Index>(static_cast<std::size_t>(pattern.rows)); });
  reverse_cuthill_mckee(context, pattern, space, order.data(), MemorySpace::host, options, times, stream);
  return order;
}

}  // namespace taskdag
