/// \file
/// Starts the blocks of a run and waits for them.
#pragma once

#include "studies/progression/settings.hpp"
#include "studies/progression/view.hpp"
#include "taskdag/context.hpp"

namespace taskdag::progression {

/// `totals`: in memory of the backend, zeroed; used in the form that counts.
/// @returns seconds of the kernel, or of the threads
/// @throws DeviceError, also where not all blocks can run at once; Unsupported where the host's threads come in turn
double launch(const Context& context, const Settings& settings, const DagView& dag, const State& state,
              engine::OperationCounts* totals);

}  // namespace taskdag::progression
