/// \file
/// Taking portions, and waiting for other blocks' portions.
#pragma once

#include <cuda/atomic>

#include "backends/cuda/overlap.cuh"
#include "kernels/sptrsv/schedules/blocks/layout.hpp"
#include "kernels/sptrsv/schedules/blocks/tickets.hpp"

namespace taskdag::kernels::supersteps {

/// Whether the thread's warp takes the block's next portion, while the first one walks.
__device__ inline bool takes_portions() {
  constexpr unsigned kTakingWarp = 1;
  return threadIdx.x / kLanes == kTakingWarp;
}

/// Of a launch; `portions` or more: there are no more. Every lane of the warp calls it.
__device__ inline Index next_portion(const PortionTickets& of) {
  Index portion = 0;
  if (threadIdx.x % kLanes == 0) portion = static_cast<Index>(atomicAdd(of.ticket, 1ULL) - of.before);
  return __shfl_sync(~0U, portion, 0);
}

/// Copies the description of a portion to shared memory: one warp, which has to synchronise.
static_assert(sizeof(Portion) % sizeof(int) == 0 && sizeof(Portion) <= kLanes * sizeof(int));
__device__ inline void copy_portion(Portion& to, const Portion* from) {
  const unsigned word = threadIdx.x % kLanes;
  if (word < sizeof(Portion) / sizeof(int)) {
    reinterpret_cast<int*>(&to)[word] = __ldg(reinterpret_cast<const int*>(from) + word);
  }
}

using Done = ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>;

__device__ inline bool is_done(unsigned& flag, unsigned solve) {
  return Done(flag).load(::cuda::memory_order_acquire) == solve;
}

/// Hands the block's results on. A barrier has ordered them before this, and no thread waits for it: what follows
/// touches neither the portion nor its ticket.
__device__ inline void say_done(unsigned& flag, unsigned solve) {
  Done(flag).store(solve, ::cuda::memory_order_release);
}

/// Waits for portions of a list until `solve` has run them; one warp. Few lanes look, and not often: looks slow the
/// walks of the other blocks down.
__device__ inline void wait_for_portions(unsigned* flag, unsigned solve, const Index* list, Index count) {
  constexpr unsigned kNanoseconds = 40;
  for (auto w = static_cast<Index>(threadIdx.x); w < count; w += kLanes) {
    while (!is_done(flag[list[w]], solve)) __nanosleep(kNanoseconds);
  }
}

/// Whether `solve` has run all portions of a list; one warp, which has to synchronise before it reads what they have
/// made.
__device__ inline bool are_done(unsigned* flag, unsigned solve, const Index* list, Index count) {
  bool done = true;
  for (auto w = static_cast<Index>(threadIdx.x) % kLanes; w < count; w += kLanes) {
    done = done && is_done(flag[list[w]], solve);
  }
  return __all_sync(~0U, done);
}

/// Waits for the end of the kernel before. Only then may the next one start: so two overlap at most.
__device__ inline void wait_for_last_kernel() {
  cuda::wait_for_last_launch();
  cuda::let_next_launch_start();
}

}  // namespace taskdag::kernels::supersteps
