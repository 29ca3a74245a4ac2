/// \file
/// The device's side of launches that overlap (Launch::overlapping()): when the next one may start, and the wait for
/// the end of the one before. Devices and code before 9.0 have neither. Launches do not overlap there, so the wait is
/// over before it begins.
#pragma once

namespace taskdag::cuda {

/// The next launch on the stream may start once all blocks have said so or ended.
__device__ inline void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Until the launch before has ended and its results can be seen.
__device__ inline void wait_for_last_launch() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

}  // namespace taskdag::cuda
