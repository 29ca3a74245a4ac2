/// \file
/// A thread's asynchronous copies from global to shared memory.
#pragma once

namespace taskdag::cuda {

/// Starts the copy of kBytes, 4, 8 or 16, to which both ends are aligned; 16 bytes do not go through the first-level
/// cache.
template <int kBytes>
__device__ void copy_async(void* to, const void* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(kBytes) : "memory");
  }
}

/// The copies since the last call are a group.
__device__ inline void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Until none of this thread's are under way but those of the last kAfter groups.
template <int kAfter>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kAfter) : "memory");
}

/// Until none of this thread's are under way, in a group or not.
__device__ inline void wait_for_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace taskdag::cuda
