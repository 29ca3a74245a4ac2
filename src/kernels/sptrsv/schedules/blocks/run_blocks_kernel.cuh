/// \file
/// The kernel of the schedule `blocks`, for the sources that instantiate it.
#pragma once

#include "kernels/sptrsv/schedules/blocks/run_blocks.cuh"
#include "kernels/sptrsv/schedules/blocks/wait.cuh"

namespace taskdag::kernels::supersteps {

/// A portion that a block has taken.
struct TakenPortion {
  Index number;
  bool ready;  ///< what it waits for is done
  Portion portion;
};

/// Where a portion's list is in an array of lists with so many elements each, or, stride 0, `otherwise`.
__device__ inline Index list_begin(Index stride, Index portion, Index otherwise) {
  return stride > 0 ? portion * stride : otherwise;
}

/// Takes the next portion; one warp.
__device__ inline void take(const PortionArguments& a, const Queue& queue, TakenPortion& next) {
  const Index number = next_portion(queue.tickets);
  if (number < queue.tickets.portions) copy_portion(next.portion, a.portion + number);
  __syncwarp();
  const bool ready =
      number >= queue.tickets.portions ||
      are_done(queue.tickets.done, queue.tickets.solve,
               queue.wait + list_begin(queue.wait_stride, number, next.portion.outer), next.portion.waits);
  if (threadIdx.x % kLanes != 0) return;
  next.number = number;
  next.ready = ready;
}

/// Threads of a multiprocessor that registers must suffice for, as measured: the more the less shared memory a portion
/// takes, if that needs no spills.
template <int kRowEntries, class Value>
constexpr int resident_threads() {
  if (kRowEntries == 0) return 1024;
  constexpr bool kSingle = std::is_same_v<Value, float>;
  if (kRowEntries == 2) return kSingle ? 1536 : 1280;
  return kSingle ? 1280 : 1152;
}

/// Before the first portion of a block: waits for what makes the right-hand side, for the portion's rows of it alone
/// where that is a sweep.
__device__ __forceinline__ void wait_for_source(const Queue& queue, const TakenPortion& taken, const Portion& portion) {
  if (queue.source) {
    if (threadIdx.x < kLanes) {
      const Index number = taken.number;
      wait_for_portions(queue.source_done, queue.source_solve,
                        queue.source + list_begin(queue.source_stride, number, portion.first), queue.sources[number]);
    }
    __syncthreads();
  } else {
    wait_for_last_kernel();
  }
}

/// Blocks take portions until there are no more. What does not change is loaded before the portion waits for others;
/// that of a block's first portion while the kernel before may still run. If that is the sweep that makes the
/// right-hand side, the first portion waits for its rows alone, and for the kernel's end before it writes where others
/// may still read.
///
/// Of the arrays that a product needs besides, the user's vector v is what the sweep before has read, too: whatever
/// made it has ended before this kernel could begin. All blocks of the sweep before that have a portion run by then, so
/// those that are waited for end.
template <int kRowEntries, int kThreads, class Ends, class Value>
__global__ void __launch_bounds__(kThreads, resident_threads<kRowEntries, Value>() / kThreads)
    run_blocks(PortionArguments a, Queue queue, Ends ends) {
  extern __shared__ __align__(kLine) std::byte memory[];
  __shared__ TakenPortion taken[2];
  static_assert(sizeof(taken) <= kOwnBytes);
  constexpr bool kLists = kRowEntries > 0;
  Staged staged;
  int parity = 0;
  if (takes_portions()) take(a, queue, taken[parity]);
  __syncthreads();
  bool first = true;  // of the portions that this block runs
  while (taken[parity].number < queue.tickets.portions) {
    const Portion portion = taken[parity].portion;  // in registers: from shared memory it would be read again and again
    const SharedPortion<Value> shared(memory, portion, a.pivot != nullptr, kLists);
    const bool lists_come = stage<kThreads, kLists>(a, portion, shared, staged);
    if (first) wait_for_source(queue, taken[parity], portion);
    if (lists_come) {
      wait_for_stage();
      __syncthreads();
    }
    ends.template fetch<kThreads, kLists>(a, portion, shared);
    if (!taken[parity].ready && threadIdx.x < kLanes) {
      wait_for_portions(queue.tickets.done, queue.tickets.solve,
                        queue.wait + list_begin(queue.wait_stride, taken[parity].number, portion.outer), portion.waits);
    }
    wait_for_stage();
    __syncthreads();
    if (portion.groups > 0) {
      start<kThreads>(a, portion, shared);
      __syncthreads();
    }
    if (threadIdx.x < kLanes) {
      walk<kRowEntries>(portion, shared, a.pivot != nullptr);
    } else if (takes_portions()) {
      take(a, queue, taken[1 - parity]);
    }
    __syncthreads();
    const bool overlaps = first && queue.source;
    first = false;
    if (overlaps && a.x != nullptr) wait_for_last_kernel();  // others may still read what x overwrites
    write_results<kThreads, kLists>(a, portion, shared);
    __syncthreads();
    if (threadIdx.x == kThreads - 1) say_done(queue.tickets.done[taken[parity].number], queue.tickets.solve);
    if (overlaps && a.x == nullptr) wait_for_last_kernel();
    if constexpr (Ends::kWrites) {
      ends.template write<kThreads, kLists>(a, portion, shared);
      __syncthreads();
    }
    parity = 1 - parity;
  }
}

template <int kThreads, class Ends, class Value>
Kernel<Ends> kernel_of(Index row_entries) {
  if (row_entries == 0) return run_blocks<0, kThreads, Ends, Value>;
  return row_entries == 2 ? run_blocks<2, kThreads, Ends, Value> : run_blocks<3, kThreads, Ends, Value>;
}

}  // namespace taskdag::kernels::supersteps
