/// \file
/// taskdag_bench point_block: factorisations by point blocks against those by scalar rows.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// ILU(0) and IC(0) of 27-point grids with 3 and 5 unknowns a node, by blocks and by rows: numeric phase, an
/// application and a transposed one; a line and rows for each. Both forms are the same preconditioner, so all
/// applications are held against the host's by blocks. @returns the exit status: 1 if something failed or a result is
/// wrong
int run_point_block(const Options& options);

}  // namespace taskdag::benchmark
