/// \file
/// Workers of the GPU as task bodies see them.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {
/// The value of a lane (of each `width` lanes), of any trivially copyable type.
template <class T>
__device__ T shuffled(unsigned mask, const T& value, int lane, int width = 32) {
  union Words {
    T value;
    unsigned word[(sizeof(T) + 3) / 4];
    __device__ Words() {}
  } words;
  words.value = value;
#pragma unroll
  for (unsigned& word : words.word) word = __shfl_sync(mask, word, lane, width);
  return words.value;
}
}  // namespace detail

/// Lanes of one warp: 2, 4, 8, 16 or 32, aligned. All functions with more than one lane are reached by all of them.
template <int Lanes_>
class WarpGroup {
 public:
  __device__ explicit WarpGroup(int lane)
      : rank_(lane % Lanes_),
        mask_(Lanes_ == 32 ? 0xFFFFFFFFU : ((1U << (Lanes_ % 32)) - 1U) << (lane / Lanes_ * Lanes_)) {}
  __device__ int rank() const { return rank_; }
  __device__ static constexpr int size() { return Lanes_; }
  /// Orders the memory operations of the lanes before the call with those after it.
  __device__ void sync() const { __syncwarp(mask_); }
  /// In a fixed tree order; every lane gets the sum.
  template <class T>
  __device__ T sum(T value) const {
#pragma unroll
    for (int offset = Lanes_ / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(mask_, value, offset);
    return value;
  }
  /// Rank 0's value, of any trivially copyable type.
  template <class T>
  __device__ T broadcast(const T& value) const {
    return detail::shuffled(mask_, value, 0, Lanes_);
  }
  __device__ bool any(bool value) const { return __any_sync(mask_, value) != 0; }

 private:
  int rank_;
  unsigned mask_;
};

/// One lane.
template <>
class WarpGroup<1> {
 public:
  __device__ explicit WarpGroup(int /*lane*/) {}
  __device__ static constexpr int rank() { return 0; }
  __device__ static constexpr int size() { return 1; }
  __device__ static void sync() {}
  template <class T>
  __device__ static T sum(T value) {
    return value;
  }
  template <class T>
  __device__ static T broadcast(T value) {
    return value;
  }
  __device__ static bool any(bool value) { return value; }
};

/// Warps of one block: 64 threads and more. All functions are reached by all of them. `barrier`: a hardware barrier of
/// their own; `scratch`: shared memory of kScratch bytes.
template <int Threads>
class BlockGroup {
 public:
  static constexpr std::size_t kScratch = 32 * 8;

  __device__ BlockGroup(int rank, int barrier, std::byte* scratch)
      : rank_(rank), barrier_(barrier), scratch_(scratch) {}
  __device__ int rank() const { return rank_; }
  __device__ static constexpr int size() { return Threads; }
  __device__ void sync() const { asm volatile("bar.sync %0, %1;" ::"r"(barrier_), "n"(Threads) : "memory"); }
  /// In a fixed tree order; every thread gets the sum.
  template <class T>
  __device__ T sum(T value) const {
    static_assert(sizeof(T) <= 8, "sums are of numbers");
    value = WarpGroup<32>(rank_ % 32).sum(value);
    T* sums = reinterpret_cast<T*>(scratch_);
    if (rank_ % 32 == 0) sums[rank_ / 32] = value;
    sync();
    T total{};
    for (int warp = 0; warp < Threads / 32; ++warp) total += sums[warp];
    sync();
    return total;
  }
  template <class T>
  __device__ T broadcast(const T& value) const {
    static_assert(sizeof(T) <= kScratch, "too large to hand out");
    if (rank_ == 0) *reinterpret_cast<T*>(scratch_) = value;
    sync();
    const T result = *reinterpret_cast<const T*>(scratch_);
    sync();
    return result;
  }
  __device__ bool any(bool value) const { return sum(value ? 1 : 0) != 0; }

 private:
  int rank_;
  int barrier_;
  std::byte* scratch_;
};

TASKDAG_ENGINE_END
