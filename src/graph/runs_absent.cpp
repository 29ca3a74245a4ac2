// Without CUDA there are no CUDA contexts, and runs on the host are in order.
#include "graph/device.hpp"
#include "taskdag/error.hpp"
#include "taskdag/graph_plan.hpp"

namespace taskdag::engine {

int multiprocessors(const Context& /*context*/) { throw DeviceError("built without CUDA"); }

struct GraphRuns::Impl {};

GraphRuns::GraphRuns(const Context& /*context*/) {}
GraphRuns::~GraphRuns() = default;
void GraphRuns::begin(Stream /*stream*/) {}
void GraphRuns::end() noexcept {}

}  // namespace taskdag::engine
