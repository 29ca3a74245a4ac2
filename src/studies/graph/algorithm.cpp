#include "studies/graph/algorithm.hpp"

#include "studies/graph/worker_sizes.hpp"

namespace taskdag::graph {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::bsp:
      return "bsp";
    case Kind::bsp_graph:
      return "bsp graph";
    case Kind::bsp_ahead:
      return "bsp ahead";
    case Kind::asynchronous:
      break;
  }
  return "asynchronous";
}

std::string describe(const Form& form) {
  if (form.kind != Kind::asynchronous) return to_string(form.kind);
  return std::string(engine::to_string(form.scheduler)) + " " + std::to_string(form.worker) + "-" +
         std::to_string(form.fetch) + " x" + std::to_string(form.rounds) + (form.idle ? " idle" : "");
}

const std::vector<WorkerSize>& worker_sizes() {
#define TASKDAG_GRAPH_PAIR(lanes, fetch) {lanes, fetch},
  static const std::vector<WorkerSize> sizes = {TASKDAG_GRAPH_WORKERS(TASKDAG_GRAPH_PAIR)};
#undef TASKDAG_GRAPH_PAIR
  return sizes;
}

}  // namespace taskdag::graph
