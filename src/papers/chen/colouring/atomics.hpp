/// \file
/// What graph tasks need of atomics beyond the engine's platform.hpp.
#pragma once

#include "taskdag/engine/platform.hpp"
#if !defined(__CUDACC__)
#include <atomic>
#endif

// As in platform.hpp: what nvcc and a host compiler make of the same function is kept apart.
#if defined(__CUDACC__)
#define TASKDAG_GRAPH_SIDE with_cuda
#else
#define TASKDAG_GRAPH_SIDE host_only
#endif

namespace taskdag::graph {
inline namespace TASKDAG_GRAPH_SIDE {

/// Lowers `object` to `value` if it is larger. @returns what was there before. relaxed: numbers that only descend
template <class T>
TASKDAG_TASK T fetch_min(T& object, T value) {
  engine::AtomicRef<T> reference(object);
#if defined(__CUDA_ARCH__)
  return reference.fetch_min(value, engine::relaxed);
#else
  T seen = reference.load(engine::relaxed);
  while (seen > value && !reference.compare_exchange_weak(seen, value, engine::relaxed, engine::relaxed)) {
  }
  return seen;
#endif
}

template <class T>
TASKDAG_TASK T peek(const T& object) {
  return engine::AtomicRef<T>(const_cast<T&>(object)).load(engine::relaxed);
}

#if defined(__SANITIZE_THREAD__)
/// What full_fence() passes through under ThreadSanitizer.
inline std::atomic<unsigned> fence_word{0};
#endif

/// Of two threads that each write, pass a fence, and read what the other one writes, one at least reads the new value.
TASKDAG_TASK inline void full_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence();
#elif defined(__CUDACC__)
  ::cuda::atomic_thread_fence(::cuda::memory_order_seq_cst, ::cuda::thread_scope_system);
#elif defined(__SANITIZE_THREAD__)
  // It does not know fences, and gcc refuses them with it. Changes of one word stand in one order, and each sees what
  // was written before those ahead of it: the same promise, at the price of a word that all threads write.
  fence_word.fetch_add(1, std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace TASKDAG_GRAPH_SIDE
}  // namespace taskdag::graph
