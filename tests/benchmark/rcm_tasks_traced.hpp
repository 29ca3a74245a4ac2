/// \file
/// Reverse Cuthill-McKee by phases, with an event per task.
#pragma once

#include <memory>

#include "papers/pichler/rcm/programs.hpp"

namespace taskdag::benchmark {

/// For TaskOrderingOptions::make_permutation. Slower than what it is a copy of: not for times of whole calls.
std::unique_ptr<kernels::rcm_tasks::PermutationProgram> make_traced_phase_program(const Context& context,
                                                                                  const engine::RunnerOptions& options);

}  // namespace taskdag::benchmark
