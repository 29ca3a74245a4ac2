// Compiled as a CUDA source where CUDA is.
#include "papers/chen/colouring/program.hpp"

#include <numeric>
#include <string>

#include "papers/chen/colouring/task.hpp"
#include "taskdag/engine/runner.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

/// How many colours were given is not counted.
struct NoTally {
  TASKDAG_TASK void add(std::uint32_t /*amount*/) const {}
};

namespace {

/// The fastest on meshes (docs/papers/graphs.md).
using ColourVertices = graph::Colour<32, 32, NoTally>;
using Program = engine::Program<graph::ColouringData<NoTally>, engine::PhaseQueue<engine::Phaseless<ColourVertices>>>;
constexpr int kRounds = 16;

}  // namespace

std::vector<Index> colour_by_tasks(const Context& context, const CsrPattern& graph, engine::Scheduler scheduler) {
  const auto vertices = static_cast<std::size_t>(graph.rows);
  const graph::GraphArrays arrays(context, graph);
  const engine::Array<Index> colour(context, std::vector<Index>(vertices, graph::kNoColour));
  engine::Runner<Program> runner(context, {.queue_capacity = static_cast<std::uint32_t>(vertices) + 1024U});
  std::vector<Index> all(vertices);
  std::iota(all.begin(), all.end(), 0);
  runner.enqueue<ColourVertices>(all);
  const engine::Report report = runner.run({arrays.view(), colour.data(), {}, kRounds}, {.scheduler = scheduler});
  if (!report.finished()) {
    throw Error(std::string("colouring by tasks: ") + engine::to_string(report.outcome) + ": " + report.message);
  }
  return colour.download();
}

}  // namespace taskdag::kernels
