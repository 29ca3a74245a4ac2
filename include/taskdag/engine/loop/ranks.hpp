/// \file
/// A loop that runs on several ranks at once: how their numbers meet. A rank writes into slots in the memory of the
/// others and reads its own. A slot holds a number or a mark for "empty"; since the number itself is what is waited
/// for, stores and loads need no order among each other.
///
/// There are two sets of slots for sums and two for elements of vectors, which take turns, and the reader empties a
/// slot. A rank writes a set again when each of the others has read it: all ranks add up sums together, so a rank that
/// is at its next sum but one has a number of each that this one wrote after its stage before had ended. For elements
/// of vectors that holds where there are sums between any two sends of a loop.
///
/// Each wait ends: with the number, when the rank is told that another one is lost, or when its patience ends; then
/// it tells all others. What it gets in place of a number is NaN, which ends a loop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "taskdag/engine/platform.hpp"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

TASKDAG_ENGINE_BEGIN

#if defined(__CUDACC__)
/// For memory that other devices and processes see.
template <class T>
using SharedAtomicRef = ::cuda::atomic_ref<T, ::cuda::thread_scope_system>;
#else
template <class T>
using SharedAtomicRef = std::atomic_ref<T>;
#endif

/// A number of another rank, or nothing yet.
struct RankSlot {
  /// A quiet NaN that no arithmetic gives. A result with these bits becomes another NaN.
  static constexpr std::uint64_t empty = 0xFFF87A5CDA600002ULL;
  static constexpr std::uint64_t other_nan = 0x7FF8000000000000ULL;
  std::uint64_t bits;

  TASKDAG_TASK static std::uint64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
    return std::bit_cast<std::uint64_t>(value);
#endif
  }
  TASKDAG_TASK static double value_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    return std::bit_cast<double>(bits);
#endif
  }
  TASKDAG_TASK void put(double value) {
    const std::uint64_t now = bits_of(value);
    SharedAtomicRef<std::uint64_t>(bits).store(now == empty ? other_nan : now, relaxed);
  }
  TASKDAG_TASK void clear() { SharedAtomicRef<std::uint64_t>(bits).store(empty, relaxed); }
  [[nodiscard]] TASKDAG_TASK std::uint64_t look() { return SharedAtomicRef<std::uint64_t>(bits).load(relaxed); }
};

/// What a rank knows of all: in memory of its backend, and its arrays are.
struct RankLinks {
  static constexpr std::uint32_t most_devices = 16;  ///< ranks of a loop on CUDA
  std::uint32_t rank;
  std::uint32_t count;
  std::uint32_t widest;  ///< numbers that are added up over the ranks at a time, at most
  std::uint64_t patience_ns;
  RankSlot* const* sums;       ///< of each rank: slots for sums, [set][from rank][number]
  std::uint32_t* const* lost;  ///< of each rank: a word; other than 0: a rank is lost
  std::uint32_t sum_set;       ///< that is next
  std::uint32_t send_set;      ///< of elements that are sent next, or now
  std::uint32_t ahead_set;     ///< of elements that have been sent ahead of the stage that needs them
  std::uint32_t has_ahead;     ///< whether there are such

  [[nodiscard]] TASKDAG_TASK RankSlot& sum_slot(std::uint32_t at, std::uint32_t from, std::uint32_t number) const {
    return sums[at][(std::size_t{sum_set} * count + from) * widest + number];
  }
  [[nodiscard]] TASKDAG_TASK bool has_lost() const {
    return SharedAtomicRef<std::uint32_t>(*lost[rank]).load(relaxed) != 0;
  }
  TASKDAG_TASK void lose() const {
    for (std::uint32_t r = 0; r < count; ++r) SharedAtomicRef<std::uint32_t>(*lost[r]).store(1U, relaxed);
  }
  /// The number in a slot of this rank, once it is there; NaN where it does not come.
  [[nodiscard]] TASKDAG_TASK double wait_for(RankSlot& slot) const {
    std::uint64_t since = 0;
    Backoff backoff(64);
    for (std::uint32_t looks = 0;; ++looks) {
      const std::uint64_t bits = slot.look();
      if (bits != RankSlot::empty) return RankSlot::value_of(bits);
      if (looks < looks_at_once) continue;
      backoff.turn();
      if (since == 0) since = clock_ns();
      if (has_lost()) return RankSlot::value_of(RankSlot::other_nan);
      if (clock_ns() - since > patience_ns) lose();
    }
  }
  /// This rank's part of a sum, to all.
  TASKDAG_TASK void put_sum(std::uint32_t to, std::uint32_t number, double part) const {
    sum_slot(to, rank, number).put(part);
  }
  /// That of another rank, whose slot is empty then.
  [[nodiscard]] TASKDAG_TASK double take_sum(std::uint32_t from, std::uint32_t number) const {
    RankSlot& slot = sum_slot(rank, from, number);
    const double part = wait_for(slot);
    slot.clear();
    return part;
  }

 private:
#if defined(__CUDA_ARCH__)
  static constexpr std::uint32_t looks_at_once = 4096;
#else
  static constexpr std::uint32_t looks_at_once = 64;
#endif
};

TASKDAG_ENGINE_END
