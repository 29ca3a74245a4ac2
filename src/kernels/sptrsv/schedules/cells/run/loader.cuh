/// \file
/// The loader: one warp streams the compute warp's entries into shared memory, and what feeders and fetchers will read
/// into the L2 cache.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/run/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/solve.hpp"

namespace taskdag::kernels::cells {

/// How many chunks the loader is further with what it brings into the cache for feeders than with its copies.
inline constexpr int kLead = 3;

/// Asks for [begin, end) to be in the L2 cache, as far as whole 16 bytes of it go.
__device__ inline void fetch_to_cache(const void* begin, const void* end) {
  constexpr std::uintptr_t kUnit = 16;
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + kUnit - 1) / kUnit * kUnit;
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end) / kUnit * kUnit;
  if (from >= to) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(static_cast<unsigned>(to - from))
               : "memory");
}

/// Brings what feeders and this warp read of steps [first, end) into the cache, an array a lane.
__device__ inline void fetch_steps(const SolveArguments& a, Index first, Index end, int lane) {
  if (first >= end) return;
  if (lane == 1) fetch_to_cache(a.target + std::size_t(first) * kLanes, a.target + std::size_t(end) * kLanes);
  if (lane == 2) fetch_to_cache(a.step + first, a.step + end);
}

/// Brings what fetchers read of a cell into the cache, and its right-hand side.
__device__ inline void fetch_cell(const SolveArguments& a, const Cell& cell, int lane) {
  const std::size_t from = std::size_t{a.batch[cell.first_batch].first_row} * kLanes;
  const std::size_t to = std::size_t{a.batch[cell.first_batch + cell.batches].first_row} * kLanes;
  if (lane == 0) fetch_to_cache(a.rhs + cell.rhs_begin, a.rhs + cell.rhs_end);
  if (lane == 1) fetch_to_cache(a.outside_position + from, a.outside_position + to);
  if (lane == 2) fetch_to_cache(a.outside_value + from, a.outside_value + to);
  const OutsideRow* const outside_rows = a.outside_row + std::size_t(cell.first_batch) * kLanes;
  if (lane == 3) fetch_to_cache(outside_rows, outside_rows + std::size_t(cell.batches) * kLanes);
}

/// Copies chunk after chunk, as soon as the compute warp has left the stage.
__device__ inline void load_cell(Shared& s, const SolveArguments& a, const Cell& cell, int lane, int& stage) {
  namespace ptx = ::cuda::ptx;
  const auto chunk_end = [&](int step) { return cell.first_step + min(step, cell.steps); };
  fetch_cell(a, cell, lane);
  fetch_steps(a, cell.first_step, chunk_end(kLead * a.chunk_steps), lane);
  for (int step = 0; step < cell.steps; step += a.chunk_steps) {
    wait_done(address_of(&s.done), step - (kStages - 1) * a.chunk_steps);
    if (lane == 0) {
      const int count = min(a.chunk_steps, cell.steps - step);
      const Step first = a.step[cell.first_step + step];
      const std::uint32_t bytes = first.pairs * static_cast<std::uint32_t>(count * kPairRowBytes);
      s.pairs[stage] = static_cast<int>(first.pairs);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.arrived[stage], bytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s.stage[stage],
                         a.stream + std::size_t{first.pair_row} * kPairRowBytes, bytes, &s.arrived[stage]);
    }
    fetch_steps(a, chunk_end(step + kLead * a.chunk_steps), chunk_end(step + (kLead + 1) * a.chunk_steps), lane);
    __syncwarp();
    stage = (stage + 1) % kStages;
  }
}

}  // namespace taskdag::kernels::cells
