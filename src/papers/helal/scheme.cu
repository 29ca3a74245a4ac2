#include <algorithm>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "papers/helal/granularity.hpp"
#include "papers/helal/scheme.hpp"
#include "papers/helal/task_size.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

Scheme scheme_of(SolveSchedule schedule, const AtaOptions& options) {
  if (options.granularity < 0) throw InvalidInput("a granularity is a number of rows, not negative");
  const RunMode coarse = options.coarse == CoarseMode::graph ? RunMode::graph : RunMode::streams;
  switch (schedule) {
    case SolveSchedule::level_launch:
      return {Aggregation::by_level, RunMode::streams, 1, options.rows_share_warps};  // a chain stays in one stream
    case SolveSchedule::level_graph:
      return {Aggregation::by_level, RunMode::graph, 1, options.rows_share_warps};
    case SolveSchedule::level_barrier:
      return {Aggregation::by_level, RunMode::barrier, 1, options.rows_share_warps};
    case SolveSchedule::self_scheduled:
      return {Aggregation::sweep_order, RunMode::streams, 1, false};
    case SolveSchedule::ata_concurrency:
      return {Aggregation::concurrency, coarse, options.granularity, options.rows_share_warps};
    case SolveSchedule::ata_locality:
      return {Aggregation::locality, coarse, options.granularity, options.rows_share_warps};
    case SolveSchedule::ata_greedy:
      return {Aggregation::greedy, coarse, options.granularity, options.rows_share_warps};
    default:
      throw InvalidInput("not a schedule of ATA or one of its baselines");
  }
}

SchemeTimes set_granularity(Scheme& scheme, const AtaOptions& options, const void* tracked, double rows_per_warp,
                            Index rows, Index levels, const std::function<void()>& unmanaged, cudaStream_t stream) {
  SchemeTimes times;
  if (scheme.granularity > 0) return times;
  if (options.task_size == AtaSize::warps_and_levels) {
    scheme.granularity = granularity_of_levels(smallest_granularity(tracked, 1.0), rows, levels);
    return times;
  }
  const Index smallest = smallest_granularity(tracked, rows_per_warp);
  scheme.granularity = std::clamp(smallest, 1, rows);
  if (scheme.aggregation == Aggregation::greedy) return times;
  times.launch_microseconds = launch_microseconds(scheme.mode, stream);
  times.row_microseconds = cuda::time_of(unmanaged, stream) / rows;
  scheme.granularity =
      choose_granularity(smallest, options.launch_ratio, times.launch_microseconds, times.row_microseconds, rows);
  return times;
}

AtaReport report_of(const FineDag& dag, const HierarchicalDag& hierarchy, const SchemeTimes& times) {
  constexpr Index kWarpsThatFill = 4;  // of a multiprocessor: one for each of its schedulers
  const CoarseDag& coarse = hierarchy.coarse;
  AtaReport report;
  report.dag_class = classify(dag.rows_of_level, kWarpsThatFill * cuda::device_limits().multiprocessors);
  report.levels = dag.levels();
  report.granularity = coarse.granularity;
  report.adaptive_tasks = coarse.tasks();
  report.untracked_tasks = static_cast<Index>(std::count(coarse.tracked.begin(), coarse.tracked.end(), 0));
  report.edges = dag.edges;
  report.coarse_edges = static_cast<std::int64_t>(coarse.predecessors.size());
  report.fine_edges = coarse.fine_edges;
  report.launch_microseconds = times.launch_microseconds;
  report.row_microseconds = times.row_microseconds;
  report.aggregation_ms = hierarchy.milliseconds;
  return report;
}

}  // namespace taskdag::kernels
