/// \file
/// The kernel that runs pencils, a cluster of blocks some that lie one above the other.
#pragma once

#include <cooperative_groups.h>

#include "backends/cuda/check.hpp"
#include "backends/cuda/overlap.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/compute_warp.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/roles.cuh"

namespace taskdag::kernels::cells {

/// What a warp is: a compute warp's plane, kPlanes + a helper's number, or −1.
template <class Points>
__device__ inline int role_of(int warp) {
  constexpr int kPlanes = Points::kPlanes;
  if (!Points::kAlone || warp < kPlanes) return warp;
  const int scheduler = warp % kSchedulers;
  return scheduler < kPlanes ? -1 : warp / kSchedulers * (kSchedulers - kPlanes) + scheduler;
}

/// ComputeWarp: PencilComputeWarp or ComputeWarpOf27.
template <class ComputeWarp, class Points = typename ComputeWarp::Points>
__global__ void __launch_bounds__(kPencilThreads<Points>, 1)
    solve_pencils(const __grid_constant__ PencilArguments<Points> a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  constexpr int kPlanes = Points::kPlanes;
  extern __shared__ char memory[];
  PencilShared<Points>& s = *reinterpret_cast<PencilShared<Points>*>(memory);
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const auto rank = static_cast<int>(cluster.block_rank());
  const int role = role_of<Points>(static_cast<int>(threadIdx.x) / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (threadIdx.x == 0) {
    for (auto& barrier : s.arrived) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  const PencilTickets<Points> tickets{a.pencils, a.blocks};
  const int steps = steps_of(a.pencils);
  int stage = 0;  // the compute warps' and the loader's go on from pencil to pencil
  int phase = 0;
  int taker = 0;  // which block takes the next ticket: the one that ends last with this one, of the topmost pencil
  for (int parity = 0;; parity = 1 - parity) {
    if (threadIdx.x == 0) {
      if (rank == taker) s.ticket[parity] = take_ticket(a);
      for (int& done : s.done) done = 0;
      for (int& fed : s.fed) fed = 0;
      s.above_done = 0;
    }
    clear_below(s);
    cluster.sync();
    const Index ticket = *cluster.map_shared_rank(&s.ticket[parity], static_cast<unsigned>(taker));
    if (ticket >= tickets.count()) break;
    const PencilLocation<Points> at{tickets.first_slab(ticket) + rank, tickets.band(ticket)};
    taker = tickets.last_slab(ticket) - tickets.first_slab(ticket);
    if (!at.is_one(a.pencils)) continue;
    const Index pencil = at.number(a.pencils);
    clear_rim(s, a.pencils, at);
    __syncthreads();
    constexpr int kLoader = kPlanes;
    constexpr int kFetcher = kLoader + 1;
    constexpr int kMover = kFetcher + kPencilFetchers;
    if (role != kLoader) {  // what the loader reads never changes
      cuda::wait_for_last_launch();
      cuda::let_next_launch_start();
    }
    if (role < 0) {
      // nothing to do
    } else if (role < kPlanes) {
      const bool above = rank + 1 < a.blocks && at.has_above(a.pencils);
      ComputeWarp(s, a, pencil, at, above ? cluster.map_shared_rank(&s, static_cast<unsigned>(rank) + 1) : nullptr,
                  role, steps, lane)
          .run(stage, phase);
    } else if (role == kLoader) {
      load_pencil(s, a, pencil, steps, rank > 0 && at.has_below(a.pencils), rank, lane, stage);
    } else if (role < kMover) {
      fetch_pencil(s, a, pencil, at, rank == 0 && at.has_below(a.pencils), steps, role - kFetcher, lane);
    } else if (role >= kMover + kPencilMovers<Points>) {
      // nothing to do
    } else if (a.rhs_index == nullptr && a.x_index == nullptr) {
      PencilMover<Points, false>(s, a, at, role - kMover, lane).move((role - kMover) / kPlanes, steps);
    } else {
      PencilMover<Points, true>(s, a, at, role - kMover, lane).move((role - kMover) / kPlanes, steps);
    }
    __syncthreads();
  }
  cluster.sync();  // others read this block's shared memory
#else
  __trap();
#endif
}

template <class Points>
std::size_t pencil_shared_bytes() {
  return sizeof(PencilShared<Points>);
}

}  // namespace taskdag::kernels::cells
