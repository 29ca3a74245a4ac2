#include "tasks.hpp"

generic::Output generic::run_traced(const taskdag::Context& context, const Input& input) {
  return run_lanes<32, engine::TraceProbe>(context, input);
}
