/// \file
/// taskdag_bench ilu0: incomplete factorisations and their application.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// ILU(0) of each problem, IC(0) of those that are symmetric with positive pivots, and one application of the ILU(0),
/// against cuSPARSE; a line and rows for each. @returns the exit status: 1 if something failed or a result is wrong
int run_ilu0(const Options& options);

}  // namespace taskdag::benchmark
