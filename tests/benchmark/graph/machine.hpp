/// \file
/// The machine that a row was measured on, for both backends.
#pragma once

#include "../machine.hpp"
#include "taskdag/context.hpp"

namespace taskdag::benchmark {

/// Versions only: `bytes_per_ms` and `hop_ms` are not measured, `cusparse` is not used.
Machine describe_graph_machine(const Context& context);

}  // namespace taskdag::benchmark
