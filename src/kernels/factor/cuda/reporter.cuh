/// \file
/// What check_pivot() reports to on the device.
#pragma once

#include "kernels/factor/cuda/numeric.hpp"

namespace taskdag::kernels::elimination {

struct Reporter {
  FactorReport* report;

  __device__ void zero_pivot(Index i, double) const {
    atomicMin(&report->first_zero, i);
    atomicMax(&report->last_zero, i);
  }
  __device__ void shifted(Index) const { atomicAdd(&report->shifted, 1); }
  __device__ void not_definite(Index i) const { atomicMin(&report->first_not_definite, i); }
  __device__ void non_finite(Index i) const { atomicMin(&report->first_non_finite, i); }
};

}  // namespace taskdag::kernels::elimination
