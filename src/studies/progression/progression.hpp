/// \file
/// Runs a graph of tasks by one of the algorithms of the task progression study, and checks the result.
#pragma once

#include "studies/progression/dag.hpp"
#include "studies/progression/settings.hpp"
#include "taskdag/context.hpp"

namespace taskdag::progression {

/// A finished run is checked: all dependencies are resolved, once each, all queues empty, all locks free; in the form
/// that counts, the tasks' values are those of the serial walk.
/// @throws InvalidInput for settings that make no sense, or more blocks than the GPU runs at once (whose queues
/// would never be emptied)
RunResult run(const Context& context, const Dag& dag, const Settings& settings);

}  // namespace taskdag::progression
