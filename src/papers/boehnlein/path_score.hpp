/// \file
/// The p-ivotal path score of a task. Children must be linked.
#pragma once

#include <vector>

#include "dag/task_graph.hpp"

namespace taskdag {

/// The p-ivotal path score with p = 2, weight(v) + √(Σ score(u)²) over the children u of v, as a number of the same
/// order: e + m − 1 for a score of m · 2^e, 1 ≤ m < 2. Scores grow exponentially with the length of paths; mantissa
/// and exponent are kept apart, so that none overflows. Source: Böhnlein et al. 2025, equation (3.1).
std::vector<double> pivotal_path_priorities(const TaskGraph& graph);

}  // namespace taskdag
