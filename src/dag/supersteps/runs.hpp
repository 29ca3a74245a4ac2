/// \file
/// Runs of consecutive tasks.
#pragma once

#include "dag/supersteps/coarsening.hpp"

namespace taskdag {

/// Groups of consecutive tasks: `most` of them, or half of that and more where the next task does not wait for the one
/// before it, so that runs end where a grid line ends. Tasks are numbered topologically, so every cut into runs keeps
/// the graph free of cycles. @pre most >= 1
Partition find_runs(const TaskGraph& graph, Index most);

}  // namespace taskdag
