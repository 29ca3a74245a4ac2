/// \file
/// What the engine needs of its compiler: functions for both processors, atomics, waiting, a clock.
///
/// Everything in engine/ is a template that the application's compiler instantiates. Under nvcc the atomics are
/// libcu++'s with device scope, under a host compiler the standard library's; both have the same members. The inline
/// namespace keeps the two apart where a program links files of both kinds.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda/atomic>
#define TASKDAG_TASK __host__ __device__
#define TASKDAG_ENGINE_BEGIN  \
  namespace taskdag::engine { \
  inline namespace with_cuda {
#else
#include <atomic>
#define TASKDAG_TASK
#define TASKDAG_ENGINE_BEGIN  \
  namespace taskdag::engine { \
  inline namespace host_only {
#endif
#define TASKDAG_ENGINE_END \
  }                        \
  }

#if defined(__CUDACC__)
#define TASKDAG_ENGINE_ANY_SIDE _Pragma("nv_exec_check_disable")
#define TASKDAG_ENGINE_APART __noinline__  // a function of its own, with registers of its own
#else
#define TASKDAG_ENGINE_ANY_SIDE
#define TASKDAG_ENGINE_APART
#endif

#if !defined(__CUDA_ARCH__)
#include <chrono>
#include <thread>
#endif

TASKDAG_ENGINE_BEGIN

#if defined(__CUDACC__)
template <class T>
using AtomicRef = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;
using MemoryOrder = ::cuda::memory_order;
inline constexpr MemoryOrder relaxed = ::cuda::memory_order_relaxed;
inline constexpr MemoryOrder acquire = ::cuda::memory_order_acquire;
inline constexpr MemoryOrder release = ::cuda::memory_order_release;
inline constexpr MemoryOrder acq_rel = ::cuda::memory_order_acq_rel;
#else
template <class T>
using AtomicRef = std::atomic_ref<T>;
using MemoryOrder = std::memory_order;
inline constexpr MemoryOrder relaxed = std::memory_order_relaxed;
inline constexpr MemoryOrder acquire = std::memory_order_acquire;
inline constexpr MemoryOrder release = std::memory_order_release;
inline constexpr MemoryOrder acq_rel = std::memory_order_acq_rel;
#endif

/// Nanoseconds of a clock that all workers of a backend share (GPU: globaltimer, whose step is some 32 ns).
TASKDAG_TASK inline std::uint64_t clock_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
#endif
}

/// A waiting loop's turns: each pauses longer than the one before, up to a limit. On the host the processor is given
/// away after a while, so that waits end however few processors there are.
class Backoff {
 public:
  /// `most_ns`: longest pause, on the GPU.
  TASKDAG_TASK explicit Backoff([[maybe_unused]] unsigned most_ns = 256) {
#if defined(__CUDA_ARCH__)
    most_ = most_ns;
#endif
  }
  TASKDAG_TASK void turn() {
#if defined(__CUDA_ARCH__)
    __nanosleep(pause_);
    if (pause_ < most_) pause_ *= 2U;
#else
    ++pause_;
    if (pause_ < 64U) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    } else if (pause_ < 256U) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
#endif
  }
  TASKDAG_TASK void reset() { pause_ = kFirst; }

 private:
#if defined(__CUDA_ARCH__)
  static constexpr unsigned kFirst = 32;
#else
  static constexpr unsigned kFirst = 0;
#endif
  unsigned pause_ = kFirst;
  [[maybe_unused]] unsigned most_ = 256;
};

TASKDAG_ENGINE_END
