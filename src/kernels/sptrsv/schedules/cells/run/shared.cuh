/// \file
/// Shared memory of a block that runs a cell, and how its warps read and write it.
///
/// Who writes each member, who reads it, and why it is there when it is read:
/// - `stage` and `pairs` are written by bulk copies and the loader, and read by the compute warp, which waits at the
///   barrier `arrived`.
/// - `start` is written by feeders and fetchers, a value a row, and read by the compute warp, which makes it not_yet
///   again. The value is its own flag.
/// - `ring` is written by the compute warp. It reads it itself, in the order of its own writes; feeders, which write
///   results out, read it after `done`, which is written after it.
/// - `x_index` is written by a feeder and read by the same warp.
/// - `done` counts the steps that the compute warp has finished. It only grows; it is stored with release order, and
///   all others load it with acquire order.
///
/// A slot of `start` is used again once `done` says that its step is over, and so is a stage.
#pragma once

#include "backends/cuda/seam.cuh"
#include "base/handover.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"

namespace taskdag::kernels::cells {

struct alignas(128) Shared {
  double ring[kHistory * kLanes + kLanes];  // results of steps, by lane; then kZeroOperand
  alignas(128) std::byte stage[kStages][kStageBytes];
  // What the compute warp starts rows from; behind the stages, which are read past their end.
  double start[kAhead * kLanes];
  Index x_index[kAhead * kLanes];  // where the results of steps that are fed go
  alignas(8) std::uint64_t arrived[kStages];
  int pairs[kStages];
  int done;  // steps that the compute warp has finished
  int cell;
};
static_assert(kZeroOperand == kHistory * kLanes * 8 && kMaxPairs * kPairRowBytes <= kAhead * kLanes * 8);
static_assert(sizeof(Shared) <= 227 * 1024);

/// A start value that has not come yet is recognised by its upper half: fewer instructions for the compute warp.
__device__ inline bool has_come(double start) { return __double2hiint(start) != static_cast<int>(kNotYetBits >> 32); }
/// `value`, a NaN as the default one: no arithmetic on such NaNs makes the one that stands for "not yet", whatever
/// becomes of signs and payloads on the way.
__device__ inline double with_plain_nan(double value) {
  return value == value ? value : from_bits(0x7FF8000000000000ULL);
}

// Accesses in the order in which they are written here: the compiler must not move them past each other.
using SharedAddress = unsigned;
__device__ inline SharedAddress address_of(const void* shared) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(shared));
}
__device__ inline double load_double(SharedAddress a) {
  double value;
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(a) : "memory");
  return value;
}
__device__ inline double2 load_double2(SharedAddress a) {
  double2 value;
  asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "r"(a) : "memory");
  return value;
}
/// A value, or two, of a type in which entries are stored.
template <class Value>
__device__ double load_value(SharedAddress a) {
  if constexpr (sizeof(Value) == sizeof(double)) {
    return load_double(a);
  } else {
    float value;
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(a) : "memory");
    return double{value};
  }
}
template <class Value>
__device__ double2 load_pair(SharedAddress a) {
  if constexpr (sizeof(Value) == sizeof(double)) {
    return load_double2(a);
  } else {
    float2 value;
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(a) : "memory");
    return {double{value.x}, double{value.y}};
  }
}
__device__ inline uint2 load_uint2(SharedAddress a) {
  uint2 value;
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "r"(a) : "memory");
  return value;
}
__device__ inline unsigned load_uint(SharedAddress a) {
  unsigned value;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(a) : "memory");
  return value;
}
__device__ inline void store_double(SharedAddress a, double value) {
  asm volatile("st.volatile.shared.f64 [%0], %1;" ::"r"(a), "d"(value) : "memory");
}
__device__ inline int load_int(SharedAddress a) { return static_cast<int>(load_uint(a)); }
__device__ inline void store_int(SharedAddress a, int value) {
  asm volatile("st.volatile.shared.s32 [%0], %1;" ::"r"(a), "r"(value) : "memory");
}
/// `done` hands over what its writer's warp did before, and what was read before may be written after.
__device__ inline int load_done(SharedAddress a) {
  int value;
  asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(value) : "r"(a) : "memory");
  return value;
}
__device__ inline void store_done(SharedAddress a, int value) {
  asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(a), "r"(value) : "memory");
}
/// Hands a value over to other blocks (seam.cuh: the value is its own flag). Without the check of Slots::publish(): the
/// compute warp computes with plain NaNs only.
__device__ inline void publish(double* slot, double value) {
  cuda::DeviceAtomic<double>(*slot).store(value, ::cuda::memory_order_relaxed);
}

/// Waits until the compute warp has finished `steps` steps. Who waits here is far ahead: long pauses do no harm, and
/// many warps that look often would slow the compute warp down.
__device__ inline void wait_done(SharedAddress done, int steps) {
  while (load_done(done) < steps) __nanosleep(200);
}

}  // namespace taskdag::kernels::cells
