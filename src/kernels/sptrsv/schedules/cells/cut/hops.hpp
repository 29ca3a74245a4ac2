/// \file
/// How many hops from cell to cell a chain of dependencies may take, where cells are runs of rows.
#pragma once

#include <array>

#include "kernels/sptrsv/schedules/cells/cut/partition.cuh"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// The numbers of runs that are considered, kCandidates of them: the finest, then half as many each time.
inline constexpr int kCandidates = 5;
__host__ __device__ constexpr int candidate(int cells, int k) { return cells >> k > 1 ? cells >> k : 1; }

inline constexpr int kMostRuns = 2047;

/// For each candidate the most hops on a path of dependencies. `finest` has at most kMostRuns cells. Takes about as
/// long as finding the levels. Synchronises `stream`.
std::array<int, kCandidates> most_hops(const SweepInput& input, const Runs& finest, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
