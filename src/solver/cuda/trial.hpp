/// \file
/// Timing sweeps before there are values for them.
#pragma once

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::cuda {

/// Vectors and values for trial solves of sweeps that are made from one input. The values are zeros: the time of a
/// solve does not depend on them, and nothing can overflow.
class SweepTrial {
 public:
  /// `input.source_entry` names entries below `input.pattern.entries`. Synchronises `stream`.
  SweepTrial(const kernels::SweepInput& input, cudaStream_t stream);

  /// Microseconds of a solve: the least of three after one that does not count. Replaces the sweep's values.
  /// Synchronises the stream.
  double microseconds(kernels::Sweep& sweep);

 private:
  cudaStream_t stream_;
  ScratchArray<double> values_;
  ScratchArray<double> rhs_;
  ScratchArray<double> x_;
  ScratchArray<int> non_finite_;
};

}  // namespace taskdag::cuda
