/// \file
/// IC(0) under adaptive task aggregation (ATA) and the schedules it is compared with, on CUDA.
#pragma once

#include "studies/ata_factor/ilu.hpp"

namespace taskdag::kernels {

/// IC(0), A ≈ Uᵀ D U, with a warp for each row of U, which takes the rows above it (pull). The pattern, in device
/// memory, is copied; its lower triangle is not looked at. Synchronises `stream`. Parameters and errors as
/// make_ata_ilu0().
std::unique_ptr<AtaFactorization> make_ata_ic0(SolveSchedule schedule, const DevicePattern& pattern,
                                               const AtaOptions& options, cudaStream_t stream);

}  // namespace taskdag::kernels
