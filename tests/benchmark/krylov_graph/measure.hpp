/// \file
/// How long work takes that is submitted to a stream, by the clock of the host.
#pragma once

#include "capture.hpp"

namespace taskdag::benchmark {

/// Microseconds, medians.
struct Times {
  double back_to_back = 0.0;  ///< one of many that are submitted without a wait
  double with_wait = 0.0;     ///< submitted, and waited for
};

/// repeat: batches, and runs with a wait, of which the medians are taken.
PetscErrorCode measure(cudaStream_t stream, int repeat, const Work& work, Times* times);

}  // namespace taskdag::benchmark
