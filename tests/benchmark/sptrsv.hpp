/// \file
/// taskdag_bench sptrsv: triangular solves.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// Lower and upper triangle of each problem's ILU(0), each schedule against cuSPARSE; a line and a row for each.
/// @returns the exit status: 1 if a schedule failed or a result is wrong
int run_sptrsv(const Options& options);

}  // namespace taskdag::benchmark
