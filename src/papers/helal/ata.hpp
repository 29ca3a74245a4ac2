/// \file
/// Adaptive task aggregation (ATA) and the schedules it is compared with, as sweeps on CUDA.
/// Source: Helal et al., PACT 2019; adaptations to CUDA: docs/papers/ata.md.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "kernels/sptrsv/sweep.hpp"
#include "papers/helal/coarse_dag.hpp"

namespace taskdag::kernels {

/// What enforces the dependencies between adaptive tasks.
enum class CoarseMode {
  graph,    ///< kernel nodes of a CUDA graph
  streams,  ///< launches in several streams, events between them
};

struct AtaOptions {
  Index granularity = 0;  ///< S in rows; 0: by task_size
  AtaSize task_size = AtaSize::equations;
  double launch_ratio = 100;  ///< R of Eq. (2)
  /// How values move along the edges (section III-B2). pull: CSR, hand-over by value; push: CSC, pending operands are
  /// counted down.
  AtaFlow flow = AtaFlow::pull;
  CoarseMode coarse = CoarseMode::graph;
  bool rows_share_warps = true;  ///< short rows of one level share a warp; false: a warp a row, as in the paper
};

/// What came out of the analysis.
struct AtaReport {
  DagClass dag_class = DagClass::parallel;
  Index levels = 0;
  Index granularity = 0;           ///< S in rows; 0 where the schedule has none
  Index adaptive_tasks = 0;        ///< kernels of a solve; of the level schedules: levels
  Index untracked_tasks = 0;       ///< of these, those that run without dependency tracking
  std::int64_t edges = 0;          ///< m: dependencies of the rows
  std::int64_t coarse_edges = 0;   ///< c: dependencies of the adaptive tasks
  std::int64_t fine_edges = 0;     ///< f: dependencies inside adaptive tasks
  double launch_microseconds = 0;  ///< T_l; 0 where it was not measured
  double row_microseconds = 0;     ///< mean T_u; 0 where it was not measured
  double aggregation_ms = 0;       ///< from the rows' DAG to the hierarchical one and what its warps run
};

/// A sweep that also reports and can show what its dependency management costs.
class AtaSweep : public Sweep {
 public:
  /// For benchmarks: the kernel of solve() over all rows at once, without waiting, launches or order between tasks.
  /// The result is wrong; the time of solve() beyond this one's is the overhead that the paper reports (section IV-B).
  virtual void solve_unmanaged(const double* rhs, double* x, int* non_finite, cudaStream_t stream) = 0;
  [[nodiscard]] virtual const AtaReport& report() const = 0;
};

/// level_launch, level_graph or level_barrier. Synchronises `stream`. @throws InvalidInput for another schedule
std::unique_ptr<AtaSweep> make_level_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream,
                                           AtaFlow flow = AtaFlow::pull, bool rows_share_warps = true);

/// self_scheduled: one kernel, a warp a row in natural order. Synchronises `stream`.
std::unique_ptr<AtaSweep> make_self_scheduled_sweep(const SweepInput& input, cudaStream_t stream,
                                                    AtaFlow flow = AtaFlow::pull);

/// ata_concurrency, ata_locality or ata_greedy. Synchronises `stream`. @throws InvalidInput for another schedule or a
/// negative granularity
std::unique_ptr<AtaSweep> make_ata_sweep(SolveSchedule policy, const SweepInput& input, const AtaOptions& options,
                                         cudaStream_t stream);

}  // namespace taskdag::kernels
