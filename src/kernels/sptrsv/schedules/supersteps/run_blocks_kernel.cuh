/// \file
/// The kernel of the schedule `blocks`, for the sources that instantiate it.
#pragma once

#include <cuda/atomic>

#include "kernels/sptrsv/schedules/supersteps/run_blocks.cuh"

namespace taskdag::kernels::supersteps {

/// Takes the next cell; one thread.
__device__ inline void take(const CellArguments& a, const Queue& queue, Index& ticket, Cell& cell) {
  ticket = static_cast<Index>(atomicAdd(queue.ticket, 1ULL) - queue.before);
  if (ticket < queue.cells) cell = a.cell[ticket];
}

using Done = ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>;

/// Waits for cells of a list until `solve` has run them; one warp. Few lanes look, and not often: looks slow the walks
/// of the other blocks down.
__device__ inline void wait_for_cells(unsigned* flag, unsigned solve, const Index* list, Index count) {
  constexpr unsigned kNanoseconds = 40;
  for (auto w = static_cast<Index>(threadIdx.x); w < count; w += kLanes) {
    const Done done(flag[list[w]]);
    while (done.load(::cuda::memory_order_acquire) != solve) __nanosleep(kNanoseconds);
  }
}

/// Waits for the end of the kernel before. Only then may the next one start: so two overlap at most.
__device__ inline void wait_for_last_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Threads of a multiprocessor that registers must suffice for: with rows of two inner entries more blocks pay, with
/// more entries spills cost more.
template <int kRowEntries>
inline constexpr int kResident = kRowEntries == 2 ? 1280 : 1024;

/// Blocks take cells until there are no more. What does not change is loaded before the cell waits for others; that of
/// a block's first cell while the kernel before may still run. If that is the sweep that makes the right-hand side, the
/// first cell waits for its rows alone, and for the kernel's end before it writes where others may still read.
///
/// Of the arrays that a product needs besides, the user's vector v is what the sweep before has read, too: whatever
/// made it has ended before this kernel could begin. All blocks of the sweep before that have a cell run by then, so
/// those that are waited for end.
template <int kRowEntries, int kThreads, class Ends, class Value>
__global__ void __launch_bounds__(kThreads, kResident<kRowEntries> / kThreads)
    run_blocks(CellArguments a, Queue queue, Ends ends) {
  extern __shared__ __align__(16) std::byte memory[];
  __shared__ Index ticket[2];
  __shared__ Cell taken[2];
  static_assert(sizeof(ticket) + sizeof(taken) <= kOwnBytes);
  Staged staged;
  int turn = 0;
  if (threadIdx.x == 0) take(a, queue, ticket[turn], taken[turn]);
  __syncthreads();
  bool first = true;  // of the cells that this block runs
  while (ticket[turn] < queue.cells) {
    const Cell cell = taken[turn];  // in registers: from shared memory it would be read again and again
    const SharedCell<Value> shared(memory, cell, a.pivot != nullptr);
    stage<kThreads>(a, cell, shared, staged);
    if (first) {
      if (queue.source) {
        if (threadIdx.x < kLanes) {
          wait_for_cells(queue.source_done, queue.source_solve, queue.source + cell.first, queue.sources[ticket[turn]]);
        }
        __syncthreads();
      } else {
        wait_for_last_kernel();
      }
    }
    ends.template fetch<kThreads>(a, cell, shared);
    if (threadIdx.x < kLanes) wait_for_cells(queue.done, queue.solve, queue.wait + cell.outer, cell.waits);
    wait_for_stage();
    __syncthreads();
    if (cell.groups > 0) {
      start<kThreads>(a, cell, shared);
      __syncthreads();
    }
    if (threadIdx.x < kLanes) {
      walk<kRowEntries>(cell, shared, a.pivot != nullptr);
    } else if (threadIdx.x == kLanes) {
      take(a, queue, ticket[1 - turn], taken[1 - turn]);
    }
    __syncthreads();
    const bool overlaps = first && queue.source;
    first = false;
    if (overlaps && a.x != nullptr) wait_for_last_kernel();  // others may still read what x overwrites
    write_results<kThreads>(a, cell, shared);
    __syncthreads();
    if (threadIdx.x == kThreads - 1) {
      // The barrier has ordered the block's results before this; the release hands all of them on. Nobody waits
      // for it: what follows touches neither the cell nor its ticket.
      Done(queue.done[ticket[turn]]).store(queue.solve, ::cuda::memory_order_release);
    }
    if (overlaps && a.x == nullptr) wait_for_last_kernel();
    if constexpr (Ends::kWrites) {
      ends.template write<kThreads>(a, cell, shared);
      __syncthreads();
    }
    turn = 1 - turn;
  }
}

template <int kThreads, class Ends, class Value>
Kernel<Ends> kernel_of(Index row_entries) {
  if (row_entries == 0) return run_blocks<0, kThreads, Ends, Value>;
  return row_entries == 2 ? run_blocks<2, kThreads, Ends, Value> : run_blocks<3, kThreads, Ends, Value>;
}

}  // namespace taskdag::kernels::supersteps
