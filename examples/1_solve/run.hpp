/// \file
/// Solving the problem and telling how it went.
#pragma once

#include "problem.hpp"

namespace example {

/// Sets up a KSP from the options database, solves (`-repeat` times, always from x = 0), prints the report as lines
/// "key: value" on rank 0 and writes the residual history where `-residual_history` asks for it. Collective.
/// @returns whether the solve converged. @throws InputError
bool solve(const Problem& problem);

}  // namespace example
