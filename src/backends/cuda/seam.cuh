/// \file
/// The seam of the CUDA backend: how a warp gets work, waits for values and publishes them. Kernel bodies see nothing
/// of the dependency mechanics but this.
///
/// Who writes what, who reads it, in which order:
/// - ticket counter: every warp, fetch_add; no reader; relaxed: the number itself is all that is handed out.
/// - slot (double): the one task that owns it, once; any task, until ready; relaxed: the value is its own flag
///   (base/handover.hpp).
/// - non-finite flag: any task stores 1; the host, after the kernel; the kernel's end orders it.
///
/// Why a spinning kernel ends: tickets are handed out in schedule order, so the smallest unfinished ticket is held by a
/// running warp, and everything it waits for has a smaller ticket or is finished. No grid size, occupancy or block
/// order is assumed but where a launch is cooperative. The rows of one task never depend on each other, so no lane
/// waits for another lane of its warp. A NaN is an ordinary value (publishable()), so bad numbers end too.
#pragma once

#include <cuda/atomic>

#include "base/handover.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::cuda {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFU;
inline constexpr int kWarpSize = 32;

template <class T>
using DeviceAtomic = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;

/// Hands out task numbers 0, 1, 2, … to warps.
struct TicketCounter {
  int* next;

  /// Get work, first half: the leading lane asks; the answer may be in flight while the warp works on.
  __device__ int request(int lane) const {
    return lane == 0 ? DeviceAtomic<int>(*next).fetch_add(1, ::cuda::memory_order_relaxed) : 0;
  }
  /// Get work, second half: the whole warp learns the ticket.
  static __device__ int receive(int requested) { return __shfl_sync(kFullWarp, requested, 0); }
};

/// Slots of doubles handed over by value.
struct Slots {
  double* slot;

  __device__ double peek(Index i) const { return DeviceAtomic<double>(slot[i]).load(::cuda::memory_order_relaxed); }

  /// Wait for one value.
  __device__ double wait(Index i) const {
    double value = peek(i);
    while (!is_ready(value)) value = peek(i);
    return value;
  }

  /// Wait for a value that is not the last one missing: pauses between two looks.
  __device__ void wait_patiently(Index i, unsigned pause_ns) const {
    while (!is_ready(peek(i))) __nanosleep(pause_ns);
  }

  /// Wait for Batch values at once: their latencies overlap, and only what is missing is asked for again.
  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], double (&value)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) value[k] = peek(index[k]);
    bool missing = true;
    while (missing) {
      missing = false;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        if (!is_ready(value[k])) {
          value[k] = peek(index[k]);
          missing = missing || !is_ready(value[k]);
        }
      }
    }
  }

  __device__ void publish(Index i, double result) const {
    DeviceAtomic<double>(slot[i]).store(publishable(result), ::cuda::memory_order_relaxed);
  }
};

/// The lanes (a power of two, aligned in the warp) that share a row. All groups of a warp run in lockstep: sum()
/// and most() must be reached by the whole warp. (Shuffles and barriers with a mask per group would run group
/// after group, which was measured to cost more than 1 µs a level.)
class LaneGroup {
 public:
  __device__ LaneGroup(int lane, int size) : rank_(lane & (size - 1)), size_(size) {}
  __device__ int rank() const { return rank_; }
  __device__ int size() const { return size_; }
  /// Sum over the group in a fixed tree order; every lane gets its group's.
  __device__ double sum(double value) const {
    for (int offset = size_ / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kFullWarp, value, offset);
    return value;
  }
  /// Largest value in the warp.
  __device__ int most(int value) const { return __reduce_max_sync(kFullWarp, value); }

 private:
  int rank_;
  int size_;
};

}  // namespace taskdag::cuda
