#include <chrono>

#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/ordering/rcm/cuda.hpp"
#include "solver/cuda/input.hpp"
#include "solver/ordering_impl.hpp"

namespace taskdag::cuda {

void reverse_cuthill_mckee(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                           MemorySpace order_space, OrderingTimes* times, Stream stream) {
  using Clock = std::chrono::steady_clock;
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const Clock::time_point begin = Clock::now();
  const CudaPatternInput input(pattern, space, s);
  if (space == MemorySpace::host) synchronize(s);
  const std::chrono::duration<double> copying = Clock::now() - begin;
  if (order_space == MemorySpace::device) {
    kernels::cuda_reverse_cuthill_mckee(input.pattern(), order, times, s);
  } else {
    const ScratchArray<Index> result(at(pattern.rows), s);
    kernels::cuda_reverse_cuthill_mckee(input.pattern(), result.data(), times, s);
    copy_to_host(order, result.data(), result.size(), s);
    synchronize(s);
  }
  if (times) times->graph += copying.count();
}

FetchedPattern fetch_pattern(const Context& context, const CsrPattern& pattern, Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  FetchedPattern fetched;
  fetched.offsets = fetch_array(pattern.row_offsets, at(pattern.rows) + 1, s);
  fetched.columns = fetch_array(pattern.col_indices, at(fetched.offsets.back()), s);
  return fetched;
}

void store_order(const Context& context, const std::vector<Index>& from, Index* to, Stream stream) {
  const DeviceGuard guard(context.device());
  copy_to_device(to, from.data(), from.size(), native(stream));
  synchronize(native(stream));
}

}  // namespace taskdag::cuda
