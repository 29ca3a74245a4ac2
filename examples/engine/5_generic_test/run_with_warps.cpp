#include "tasks.hpp"

generic::Output generic::run_with_warps(const taskdag::Context& context, const Input& input) {
  return run_lanes<32, engine::NoProbe>(context, input);
}
