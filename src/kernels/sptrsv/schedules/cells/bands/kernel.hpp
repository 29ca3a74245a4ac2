/// \file
/// The kernels that run bands.
#pragma once

#include "kernels/sptrsv/schedules/cells/bands/solve.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kBandFeeders = 4;
inline constexpr int kBandFetchers = 2;
inline constexpr int kBandStorers = 2;
/// The compute warp, the loader, the storers, the fetchers, the feeders.
inline constexpr int kBandRoles = 2 + kBandStorers + kBandFetchers + kBandFeeders;
/// Warps whose number is a multiple of 4 share a scheduler: that of the compute warp, warp 0, has no other one.
inline constexpr int kBandWarps = 1 + (kBandRoles - 1 + 2) / 3 * 4;
inline constexpr int kBandThreads = kBandWarps * kLanes;

template <class Value>
using BandKernel = void (*)(BandArguments<Value>);

template <class Value>
BandKernel<Value> kernel_of_sums();
/// A row's result is one over its sum.
BandKernel<double> kernel_of_band_reciprocals();

/// Shared memory of a block. mail: whether bands hand values on through it.
template <class Value>
std::size_t band_shared_bytes(const Bands& bands, bool mail);

}  // namespace taskdag::kernels::cells
