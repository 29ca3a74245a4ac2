/// \file
/// What the sweeps and the factorisations of ATA and its baselines share on the host: from a schedule's name to how it
/// groups and runs rows, and what there is to report.
#pragma once

#include <functional>
#include <vector>

#include "papers/helal/ata.hpp"
#include "papers/helal/launcher.hpp"

namespace taskdag::kernels {

/// A schedule, taken apart.
struct Scheme {
  Aggregation aggregation = Aggregation::by_level;
  RunMode mode = RunMode::graph;
  Index granularity = 1;         ///< S; 0: to be measured
  bool rows_share_warps = true;  ///< never under self-scheduling, where neighbours wait for each other
};

/// @throws InvalidInput for a schedule that is none of ATA's or its baselines', or a negative granularity
Scheme scheme_of(SolveSchedule schedule, const AtaOptions& options);

/// Measures where scheme.granularity is 0, and sets it: greedy takes Eq. (1), the others the larger of Eq. (1) and (2);
/// by options.task_size all take S by warps and levels instead.
/// `tracked`: the kernel whose occupancy counts; `unmanaged`: submits all rows without dependencies to `stream`.
/// @returns T_l and the mean T_u in the fields of a report, 0 where they were not needed
struct SchemeTimes {
  double launch_microseconds = 0.0;
  double row_microseconds = 0.0;
};
SchemeTimes set_granularity(Scheme& scheme, const AtaOptions& options, const void* tracked, double rows_per_warp,
                            Index rows, Index levels, const std::function<void()>& unmanaged, cudaStream_t stream);

AtaReport report_of(const FineDag& dag, const HierarchicalDag& hierarchy, const SchemeTimes& times);

}  // namespace taskdag::kernels
