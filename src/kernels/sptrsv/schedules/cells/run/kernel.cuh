/// \file
/// The kernel that runs cells, for one kind of step. Each kind is compiled in a file of its own (kernel_*.cu), since
/// all kernels of a file are loaded with the first that is launched, and each of these is 150 kilobytes.
#pragma once

#include <cuda/ptx>

#include "backends/cuda/check.hpp"
#include "backends/cuda/overlap.cuh"
#include "kernels/sptrsv/schedules/cells/run/compute_warp.cuh"
#include "kernels/sptrsv/schedules/cells/run/feeder.cuh"
#include "kernels/sptrsv/schedules/cells/run/fetcher.cuh"
#include "kernels/sptrsv/schedules/cells/run/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/loader.cuh"

namespace taskdag::kernels::cells {

static_assert(kBlock == (1 + 1 + kFeeders + kFetchers) * kLanes);

namespace ptx = ::cuda::ptx;

template <class Kind>
__device__ void run_cell(Shared& s, const SolveArguments& a, const Cell& cell, int lane, int& stage, int& phase) {
  const SharedAddress own = address_of(s.ring) + static_cast<unsigned>(lane) * 8;
  const SharedAddress start = address_of(s.start) + static_cast<unsigned>(lane) * 8;
  ComputeWarpView view{};
  view.ring = address_of(s.ring);
  view.done = address_of(&s.done);
  view.first_lane = lane == 0;
  for (int step = 0; step < cell.steps; step += a.chunk_steps) {
    view.own = own + static_cast<unsigned>(step % kHistory * kStepBytes);
    view.start = start + static_cast<unsigned>(step % kAhead * kStepBytes);
    view.slot = a.slots + (std::int64_t{cell.first_step} + step) * kLanes + lane;
    view.step = step;
    while (!ptx::mbarrier_try_wait_parity(&s.arrived[stage], static_cast<std::uint32_t>(phase))) {
    }
    const SharedAddress data = address_of(s.stage[stage]);
    run_chunk_of<Kind>(s.pairs[stage], view, data + static_cast<unsigned>(lane) * 16,
                       data + kPairRowValues * 8 + static_cast<unsigned>(lane) * 8,
                       min(a.chunk_steps, cell.steps - step));
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

template <class Kind>
__global__ void __launch_bounds__(kBlock, 1) solve_kernel(const __grid_constant__ SolveArguments a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (threadIdx.x == 0) {
    for (auto& barrier : s.arrived) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  if (warp == 1) s.ring[kHistory * kLanes + lane] = 0.0;
  const Index absent = (a.cell[a.cells - 1].first_step + a.cell[a.cells - 1].steps) * kLanes;
  const int fetcher = warp - 2;
  const int feeder = fetcher - kFetchers;
  int stage = 0;  // the compute warp's and the loader's go on from cell to cell
  int phase = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      const unsigned ticket = cuda::DeviceAtomic<unsigned>(*a.ticket).fetch_add(1, ::cuda::memory_order_relaxed);
      s.cell = static_cast<int>(ticket - a.before);
      s.done = 0;
    }
    for (int k = static_cast<int>(threadIdx.x); k < kAhead * kLanes; k += kBlock) s.start[k] = not_yet();
    __syncthreads();
    if (s.cell >= a.cells) return;
    const Cell cell = a.cell[s.cell];
    if (warp != 1) {  // what the loader reads never changes
      cuda::wait_for_last_launch();
      cuda::let_next_launch_start();
    }
    if (warp == 0) {
      run_cell<Kind>(s, a, cell, lane, stage, phase);
    } else if (warp == 1) {
      load_cell(s, a, cell, lane, stage);
    } else if (feeder < 0) {
      Fetcher(s, a, cell, absent, lane).fetch(fetcher);
    } else {
      Feeder(s, a, cell, lane).feed(feeder);
    }
    __syncthreads();
  }
#else
  __trap();
#endif
}

template <class Kind>
SolveKernel kernel_for() {
  return solve_kernel<Kind>;
}

}  // namespace taskdag::kernels::cells
