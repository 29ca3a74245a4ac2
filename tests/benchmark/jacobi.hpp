/// \file
/// taskdag_bench jacobi: the forms of Jacobi sweeps side by side.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// For each problem and number of sweeps: kernel by kernel, on a stream and in a CUDA graph; the forms that are
/// programs of the task engine, by scheduler; resident sweeps; with and without long rows cut into pieces; and solves
/// that look at the change (MHive, section 7.4). Every result is compared with that of kernel by kernel, bit by bit.
/// @returns the exit status: 1 if a result is wrong or a form failed
int run_jacobi(const Options& options);

}  // namespace taskdag::benchmark
