#include <memory>
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"
#include "kernels/ordering/colouring/block_order_cuda.hpp"
#include "kernels/sptrsv/analysis/levels.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/choice.hpp"
#include "solver/block_ordering_impl.hpp"
#include "solver/cuda/input.hpp"

namespace taskdag::cuda {

namespace {

class KeptOrder final : public DeviceOrder {
 public:
  KeptOrder(int device, DeviceArray<Index> order) : device_(device), order_(std::move(order)) {}
  [[nodiscard]] int device() const override { return device_; }
  [[nodiscard]] Index rows() const override { return static_cast<Index>(order_.size()); }
  [[nodiscard]] const Index* data() const override { return order_.data(); }
  [[nodiscard]] std::vector<Index> to_host() const override {
    const DeviceGuard guard(device_);
    const UniqueStream own;
    return fetch_array(order_.data(), order_.size(), own.get());
  }

 private:
  int device_;
  DeviceArray<Index> order_;
};

}  // namespace

BlockOrdering order_blocks(const Context& context, const CsrPattern& pattern, MemorySpace space,
                           const kernels::BlockSize& size, bool keep, Stream stream) {
  const DeviceGuard guard(context.device());
  const PoolKeeps keeps;
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  const kernels::DeviceGraph graph = kernels::symmetrised_graph(input.pattern(), s);
  kernels::DeviceBlockOrdering made =
      size.rows == 1 ? kernels::order_by_points(graph, s) : kernels::order_by_blocks(graph, size, s);
  if (keep) {
    made.blocks.device_order = std::make_shared<const KeptOrder>(context.device(), std::move(made.order));
  } else {
    made.blocks.order = fetch_array(made.order.data(), made.order.size(), s);
  }
  return std::move(made.blocks);
}

Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space, Triangle triangle,
                        Stream stream, Index most) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  const kernels::TriangleRanges ranges = kernels::find_triangle(input.pattern(), triangle, s);
  return kernels::count_levels_up_to(input.pattern(), ranges, triangle, most, s);
}

bool runs_in_order(const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
  const DeviceGuard guard(context.device());
  if (!kernels::cells_supported()) return false;
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const kernels::TriangleRanges ranges = kernels::find_triangle(input.pattern(), triangle, s);
    if (!kernels::cells::fits_large_pencils({.pattern = input.pattern(), .triangle = triangle, .ranges = &ranges}, s))
      return false;
  }
  return true;
}

}  // namespace taskdag::cuda
