/// \file
/// The lanes that call an engine operation together. On the GPU: whichever lanes of a warp happen to be converged at
/// the call; one of them does the atomic operation for all (Atos: bulk push and pop). On the host: the calling thread
/// alone.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

class Lanes {
 public:
  TASKDAG_TASK static Lanes converged() {
#if defined(__CUDA_ARCH__)
    return Lanes(__activemask());
#else
    return Lanes(1U);
#endif
  }
  [[nodiscard]] TASKDAG_TASK unsigned count() const {
#if defined(__CUDA_ARCH__)
    return static_cast<unsigned>(__popc(mask_));
#else
    return mask_;
#endif
  }
  [[nodiscard]] TASKDAG_TASK unsigned rank() const {
#if defined(__CUDA_ARCH__)
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    return static_cast<unsigned>(__popc(mask_ & below));
#else
    return 0;
#endif
  }
  [[nodiscard]] TASKDAG_TASK bool leads() const { return rank() == 0; }
  /// The leading lane's value.
  template <class T>
  [[nodiscard]] TASKDAG_TASK T broadcast(T value) const {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(mask_, value, __ffs(static_cast<int>(mask_)) - 1);
#else
    return value;
#endif
  }
  /// Orders the memory operations of the lanes before the call with those after it.
  TASKDAG_TASK void sync() const {
#if defined(__CUDA_ARCH__)
    __syncwarp(mask_);
#endif
  }

 private:
  TASKDAG_TASK explicit Lanes(unsigned mask) : mask_(mask) {}
  unsigned mask_;
};

TASKDAG_ENGINE_END
