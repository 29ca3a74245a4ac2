/// \file
/// The lanes that call an engine operation together. On the GPU: whichever lanes of a warp happen to be converged at
/// the call; one of them does the atomic operation for all (Atos: bulk push and pop). On the host: the calling thread
/// alone.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

class Lanes {
 public:
#if defined(__CUDA_ARCH__)
  __device__ static Lanes converged() { return Lanes(__activemask()); }
  __device__ unsigned count() const { return static_cast<unsigned>(__popc(mask_)); }
  __device__ unsigned rank() const {
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    return static_cast<unsigned>(__popc(mask_ & below));
  }
  __device__ bool leads() const { return rank() == 0; }
  /// The leading lane's value.
  template <class T>
  __device__ T broadcast(T value) const {
    return __shfl_sync(mask_, value, __ffs(static_cast<int>(mask_)) - 1);
  }
  /// Orders the memory operations of the lanes before the call with those after it.
  __device__ void sync() const { __syncwarp(mask_); }

 private:
  __device__ explicit Lanes(unsigned mask) : mask_(mask) {}
  unsigned mask_;
#else
  TASKDAG_TASK static Lanes converged() { return {}; }
  [[nodiscard]] TASKDAG_TASK static constexpr unsigned count() { return 1; }
  [[nodiscard]] TASKDAG_TASK static constexpr unsigned rank() { return 0; }
  [[nodiscard]] TASKDAG_TASK static constexpr bool leads() { return true; }
  template <class T>
  [[nodiscard]] TASKDAG_TASK static T broadcast(T value) {
    return value;
  }
  TASKDAG_TASK static void sync() {}
#endif
};

TASKDAG_ENGINE_END
