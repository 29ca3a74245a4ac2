#include "tasks.hpp"

generic::Output generic::run_with_blocks(const taskdag::Context& context, const Input& input) {
  return run_lanes<128, engine::NoProbe>(context, input);
}
