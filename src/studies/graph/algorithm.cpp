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
  std::string text = std::string(engine::to_string(form.scheduler)) + " " + std::to_string(form.worker) + "-" +
                     std::to_string(form.fetch);
  if (!form.written) return text + " x" + std::to_string(form.rounds) + (form.idle ? " idle" : "");
  text += " as written";
  if (form.check >= 0) text += ", check " + std::to_string(form.check);
  return text;
}

#define TASKDAG_GRAPH_PAIR(lanes, fetch) {lanes, fetch},
const std::vector<WorkerSize>& worker_sizes() {
  static const std::vector<WorkerSize> sizes = {TASKDAG_GRAPH_WORKERS(TASKDAG_GRAPH_PAIR)};
  return sizes;
}

const std::vector<WorkerSize>& written_sizes() {
  static const std::vector<WorkerSize> sizes = {TASKDAG_GRAPH_WRITTEN_WORKERS(TASKDAG_GRAPH_PAIR)};
  return sizes;
}
#undef TASKDAG_GRAPH_PAIR

}  // namespace taskdag::graph
