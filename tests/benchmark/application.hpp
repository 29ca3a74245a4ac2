/// \file
/// taskdag_bench application: applications of a factor beside the bytes that they cannot do without.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// ILU(0) of each problem in natural order (schedule automatic) and in that of taskdag_bmc, the rows staying where the
/// user has them, as in a preconditioner. The time is that of applications back to back, as in a Krylov method. The
/// bytes: each strictly triangular entry with a column of four bytes, an inverse pivot a row, the right-hand side and
/// the result, once each, at the speed of a copy in the device's memory. Every result is compared with the serial
/// reference. @returns the exit status: 1 if a result is wrong or a factorisation failed
int run_application(const Options& options);

}  // namespace taskdag::benchmark
