/// \file
/// The superstep schedules of the host on CUDA: see kernels/sptrsv/schedules/blocks/supersteps.hpp.
#pragma once

#include <memory>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

struct CoresOptions {
  int cores = 0;          ///< thread blocks, at most as many as are resident; 0: one a multiprocessor
  bool barriers = false;  ///< wait for all portions of the superstep before, not only for those that are needed
};

/// The schedules "locking", "pivotal-path", "hdagg": the schedulers of the host
/// (papers/boehnlein/schedules.hpp) with thread blocks as cores, in one cooperative launch. The schedule is
/// made on the host. Synchronises `stream`.
/// @throws InvalidInput for another schedule, DeviceError where the device cannot hold all cores at once
std::unique_ptr<Sweep> make_cores_sweep(SolveSchedule schedule, const SweepInput& input, const CoresOptions& options,
                                        cudaStream_t stream);

}  // namespace taskdag::kernels
