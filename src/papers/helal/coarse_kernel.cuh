/// \file
/// The kernels that run the row tasks of an adaptive task, whatever a row does.
///
/// Body: trivially copyable; `template <bool Tracked> void run(Index row_task, int lane) const` does one row task with
/// a whole warp. Tracked: it waits until its operands are published; else they are there by the order of the kernels.
///
/// Why a tracked kernel ends: HSA starts workgroups in the order of their numbers, on which SET scheduling relies; CUDA
/// promises no order, so a block takes its number when it starts. Then all blocks with smaller numbers have started,
/// the row tasks before this one are finished or held by resident warps, and a row waits only for rows before it in SET
/// order or in adaptive tasks that have ended.
#pragma once

#include <cooperative_groups.h>

#include <cstring>
#include <type_traits>

#include "backends/cuda/seam.cuh"
#include "papers/helal/launcher.hpp"

namespace taskdag::kernels {

template <class Body, bool Tracked>
__global__ void __launch_bounds__(kCoarseBlock) coarse_kernel(const Body body, const CoarseRange range) {
  int block = static_cast<int>(blockIdx.x);
  if constexpr (Tracked) {
    __shared__ int ticket;
    if (threadIdx.x == 0) {
      ticket = cuda::DeviceAtomic<int>(*range.ticket).fetch_add(1, ::cuda::memory_order_relaxed);
    }
    __syncthreads();
    block = ticket;
  }
  const int warp = static_cast<int>(threadIdx.x) / cuda::kWarpSize;
  const Index index = block * kCoarseWarps + warp;
  if (index < range.count) {
    body.template run<Tracked>(range.first + index, static_cast<int>(threadIdx.x) % cuda::kWarpSize);
  }
}

/// first: per adaptive task, tasks + 1; at least one task.
template <class Body>
__global__ void __launch_bounds__(kCoarseBlock) barrier_kernel(const Body body, const Index* first, Index tasks) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarpSize;
  const Index warp = static_cast<Index>(blockIdx.x) * kCoarseWarps + static_cast<Index>(threadIdx.x) / cuda::kWarpSize;
  const Index warps = static_cast<Index>(gridDim.x) * kCoarseWarps;
  Index begin = 0;
  Index end = first[1];
  for (Index t = 1;; ++t) {
    const Index next_end = t < tasks ? first[t + 1] : end;  // asked for before the barrier
    for (Index index = begin + warp; index < end; index += warps) body.template run<false>(index, lane);
    if (t == tasks) break;
    grid.sync();
    begin = end;
    end = next_end;
  }
}

template <class Body>
KernelSet kernels_of(const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body>);
  KernelSet set{reinterpret_cast<const void*>(&coarse_kernel<Body, true>),
                reinterpret_cast<const void*>(&coarse_kernel<Body, false>),
                reinterpret_cast<const void*>(&barrier_kernel<Body>), std::vector<std::byte>(sizeof(Body))};
  std::memcpy(set.body.data(), &body, sizeof(Body));
  return set;
}

}  // namespace taskdag::kernels
