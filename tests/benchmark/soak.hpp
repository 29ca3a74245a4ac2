/// \file
/// taskdag_bench soak: many solves on good and bad numbers.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// Solves with both triangles of some problems and with their transposes, right-hand sides random, with NaNs,
/// infinities, denormal numbers, and the bit pattern that means "not yet" among them. The first solve with a right-hand
/// side is compared with the serial reference on the host, each later one bit by bit with the first, on the device.
/// @returns the exit status: 1 if a result is wrong or a solver failed
int run_soak(const Options& options);

}  // namespace taskdag::benchmark
