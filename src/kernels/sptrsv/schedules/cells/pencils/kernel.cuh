/// \file
/// The kernel that runs pencils, a block some one after the other.
#pragma once

#include "backends/cuda/check.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/roles.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/runner.cuh"

namespace taskdag::kernels::cells {

template <bool kReciprocal>
__global__ void __launch_bounds__(kPencilThreads, 1) solve_pencils(const __grid_constant__ PencilArguments a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  extern __shared__ char memory[];
  PencilShared& s = *reinterpret_cast<PencilShared*>(memory);
  const int role = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (threadIdx.x == 0) {
    for (auto& barrier : s.arrived) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  const Index pencils = a.pencils.count();
  const int steps = steps_of(a.pencils);
  int stage = 0;  // the runners' and the loader's go on from pencil to pencil
  int phase = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      const unsigned ticket = cuda::DeviceAtomic<unsigned>(*a.ticket).fetch_add(1, ::cuda::memory_order_relaxed);
      s.ticket = static_cast<int>(ticket - a.before);
      for (int& done : s.done) done = 0;
      for (int& fed : s.fed) fed = 0;
    }
    __syncthreads();
    const Index pencil = s.ticket;
    if (pencil >= pencils) break;
    const PencilPlace at(a.pencils, pencil);
    for (int k = static_cast<int>(threadIdx.x); k < kPencilPlanes * kBelowRing * kLanes; k += kPencilThreads) {
      const int plane = k / (kBelowRing * kLanes);
      s.below[plane][k % (kBelowRing * kLanes)] = has_below(at, plane, lane) ? not_yet() : 0.0;
    }
    __syncthreads();
    constexpr int kFetcher = kPencilPlanes + 1;
    constexpr int kMover = kFetcher + kPencilFetchers;
    if (role != kPencilPlanes) {  // what the loader reads never changes
      cudaGridDependencySynchronize();
      cudaTriggerProgrammaticLaunchCompletion();
    }
    if (role < kPencilPlanes) {
      PencilRunner<kReciprocal>(s, a, pencil, at, role, steps, lane).run(stage, phase);
    } else if (role == kPencilPlanes) {
      load_pencil(s, a, pencil, steps, lane, stage);
    } else if (role < kMover) {
      fetch_pencil(s, a, pencil, at, steps, role - kFetcher, lane);
    } else if (a.rhs_index == nullptr && a.x_index == nullptr) {
      PencilMover<false>(s, a, at, role - kMover, lane).move((role - kMover) / kPencilPlanes, steps);
    } else {
      PencilMover<true>(s, a, at, role - kMover, lane).move((role - kMover) / kPencilPlanes, steps);
    }
    __syncthreads();
  }
#else
  __trap();
#endif
}

}  // namespace taskdag::kernels::cells
