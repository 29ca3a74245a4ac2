/// \file
/// taskdag_bench many: applications to several right-hand sides at once.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// Applies the ILU(0) of each problem to 1, 2, 4, … 64 right-hand sides: in one call, one after the other, and by the
/// two solves of cuSPARSE (SpSV for one, SpSM for several). Times and ratios are per column. Every result is compared
/// with the serial reference. @returns the exit status: 1 if a result is wrong or a solver failed
int run_many(const Options& options);

}  // namespace taskdag::benchmark
