/// \file
/// taskdag_bench sor: SOR sweeps.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// For each problem: a symmetric and a forward SOR iteration from zero, and a symmetric one from a vector, in the rows'
/// own order and by blocks of a colouring, against two solves of cuSPARSE with the same triangles and against products
/// with the matrix. @returns the exit status: 1 if something failed or a result is wrong
int run_sor(const Options& options);

}  // namespace taskdag::benchmark
