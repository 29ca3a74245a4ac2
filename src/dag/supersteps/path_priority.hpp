/// \file
/// How much lies behind a task. Children must be linked.
#pragma once

#include <cstdint>
#include <vector>

#include "dag/task_graph.hpp"

namespace taskdag {

/// The weight of the heaviest path that begins at each task, itself included.
std::vector<std::int64_t> heaviest_paths(const TaskGraph& graph);

}  // namespace taskdag
