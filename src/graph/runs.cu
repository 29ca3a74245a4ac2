// What a graph's plan and its runs need of a device.
#include <optional>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "graph/device.hpp"
#include "taskdag/graph_plan.hpp"

namespace taskdag::engine {

int multiprocessors(const Context& context) {
  const cuda::DeviceGuard guard(context.device());
  return cuda::device_limits().multiprocessors;
}

struct GraphRuns::Impl {
  explicit Impl(int device_) : device(device_) {}
  int device;
  cuda::StreamOrder order;
  std::optional<cuda::StreamOrder::Call> call;
};

GraphRuns::GraphRuns(const Context& context)
    : impl_(context.backend() == Backend::cuda ? std::make_unique<Impl>(context.device()) : nullptr) {}
GraphRuns::~GraphRuns() = default;

void GraphRuns::begin(Stream stream) {
  if (!impl_) return;
  const cuda::DeviceGuard guard(impl_->device);
  impl_->call.emplace(impl_->order, static_cast<cudaStream_t>(stream.handle));
}

void GraphRuns::end() noexcept {
  if (!impl_) return;
  const cuda::DeviceGuard guard(impl_->device);
  impl_->call.reset();
}

}  // namespace taskdag::engine
