/// \file
/// The kernel that runs bands, a cluster of blocks some consecutive ones.
#pragma once

#include <cooperative_groups.h>

#include "backends/cuda/check.hpp"
#include "backends/cuda/overlap.cuh"
#include "kernels/sptrsv/schedules/cells/bands/compute_warp.cuh"
#include "kernels/sptrsv/schedules/cells/bands/roles.cuh"

namespace taskdag::kernels::cells {

/// What warp `warp` does, −1: nothing.
__device__ inline int role_of(int warp) {
  if (warp == 0) return 0;
  return warp % 4 == 0 || warp - warp / 4 >= kBandRoles ? -1 : warp - warp / 4;
}

/// What storers, fetchers and feeders do, roles 2, … of a band.
template <class Value>
__device__ __forceinline__ void help_band(BandShared<Value>& s, const BandArguments<Value>& a, Index band, int rank,
                                          int role, int lane) {
  constexpr int kFetcher = 2 + kBandStorers;
  constexpr int kFeeder = kFetcher + kBandFetchers;
  if (role < kFetcher) {
    if (a.x_index == nullptr) {
      store_band<false>(s, a, band, role - 2, lane);
    } else {
      store_band<true>(s, a, band, role - 2, lane);
    }
  } else if (role < kFeeder) {
    if (band > 0) BandFetcher<Value>(s, a, band, rank > 0, lane).fetch(role - kFetcher);
  } else if (a.rhs_index == nullptr) {
    feed_band<false>(s, a, band, role - kFeeder, lane);
  } else {
    feed_band<true>(s, a, band, role - kFeeder, lane);
  }
}

template <class Value, bool kReciprocal>
__global__ void __launch_bounds__(kBandThreads, 1) solve_bands(const __grid_constant__ BandArguments<Value> a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  extern __shared__ char memory[];
  BandShared<Value>& s = *reinterpret_cast<BandShared<Value>*>(memory);
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const auto rank = static_cast<int>(cluster.block_rank());
  const int role = role_of(static_cast<int>(threadIdx.x) / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (threadIdx.x == 0) {
    for (auto& barrier : s.arrived) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  const Index bands = a.bands.bands();
  int stage = 0;  // the compute warp's and the loader's go on from band to band
  int phase = 0;
  for (int parity = 0;; parity = 1 - parity) {
    if (threadIdx.x == 0) {
      if (rank == 0) {
        const unsigned ticket = cuda::DeviceAtomic<unsigned>(*a.ticket).fetch_add(1, ::cuda::memory_order_relaxed);
        s.ticket[parity] = static_cast<int>(ticket - a.before);
      }
      s.done = 0;
      for (int& stored : s.stored) stored = 0;
    }
    for (int k = static_cast<int>(threadIdx.x); k < kBandRing * kBandSlots; k += kBandThreads) s.ring[k] = not_yet();
    if (rank > 0) {
      for (Index k = static_cast<Index>(threadIdx.x); k < a.bands.columns; k += kBandThreads) s.mail[k] = not_yet();
    }
    cluster.sync();
    const Index first_band = *cluster.map_shared_rank(&s.ticket[parity], 0) * a.blocks;
    if (first_band >= bands) break;
    const Index band = first_band + rank;
    if (band < bands && role >= 0) {
      if (role != 1) {  // what the loader reads never changes
        cuda::wait_for_last_launch();
        cuda::let_next_launch_start();
      }
      if (role == 0) {
        double* to = nullptr;
        if (band + 1 < bands)
          to = rank + 1 < a.blocks ? cluster.map_shared_rank(s.mail, static_cast<unsigned>(rank) + 1)
                                   : a.slots + std::int64_t{band} * a.bands.columns;
        BandComputeWarp<Value, kReciprocal>(s, a, to, lane).run(stage, phase);
      } else if (role == 1) {
        load_band(s, a, band, lane, stage);
      } else {
        help_band(s, a, band, rank, role, lane);
      }
    }
    __syncthreads();
  }
  cluster.sync();  // others read this block's shared memory
#else
  __trap();
#endif
}

// Of each kind of values in a source of its own, so that a device loads one kernel.

template <class Value>
BandKernel<Value> kernel_of_sums() {
  return solve_bands<Value, false>;
}

template <class Value>
std::size_t band_shared_bytes(const Bands& bands, bool mail) {
  return sizeof(BandShared<Value>) + (mail ? static_cast<std::size_t>(bands.columns) * sizeof(double) : 0);
}

}  // namespace taskdag::kernels::cells
