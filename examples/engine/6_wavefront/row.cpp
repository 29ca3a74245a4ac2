#include "row.hpp"

#include <sstream>

#include "taskdag/engine/trace.hpp"

namespace wavefront {

namespace {

using taskdag::engine::Report;

/// Operations of the tasks' bodies, which the engine's counts leave out. Every task has run once: the run was checked.
struct BodyCounts {
  std::uint64_t atomics;  ///< one per dependency
  std::uint64_t memory;   ///< loads and stores
};
BodyCounts body_counts(const Settings& settings) {
  const std::uint64_t rows = settings.tile_rows();
  const std::uint64_t columns = settings.tile_columns();
  BodyCounts counts{2 * rows * columns - rows - columns, settings.tasks()};
  if (settings.tile > 1 || settings.work != 0) {
    const std::uint64_t loads = 2 * settings.cells() - settings.rows - settings.columns;
    counts.memory += loads + settings.cells();
  }
  return counts;
}

}  // namespace

std::string header() {
  return "variant,worker,backend,scheduler,rows,columns,tile,work,layout,continues,blocks,rings,tasks,cells,seconds,"
         "tasks_per_second,cells_per_second,cas_per_task,atomics_per_task,memory_per_task,latency_p50_ns,"
         "latency_p99_ns,growths,checked";
}

std::string row(const std::string& variant, const taskdag::Context& context, const Settings& settings,
                const Report& report) {
  const taskdag::engine::RunOptions& run = settings.engine.run;
  const auto tasks = static_cast<double>(settings.tasks());
  std::ostringstream line;
  line << variant << ',' << (settings.warp_workers ? "warp" : "thread") << ',' << taskdag::to_string(context.backend())
       << ',' << to_string(run.scheduler) << ',' << settings.rows << ',' << settings.columns << ',' << settings.tile
       << ',' << settings.work << ',' << (settings.by_diagonals ? "diagonals" : "rows") << ','
       << (run.continues ? "yes" : "no") << ',' << run.blocks << ',' << settings.engine.runner.rings << ','
       << settings.tasks() << ',' << settings.cells() << ',' << report.seconds << ',' << tasks / report.seconds << ','
       << static_cast<double>(settings.cells()) / report.seconds << ',';
  if (settings.measure == Measure::counts) {
    const BodyCounts body = body_counts(settings);
    const taskdag::engine::OperationCounts& engine = report.operations;
    line << static_cast<double>(engine.compare_and_swaps) / tasks << ','
         << static_cast<double>(engine.other_atomics + body.atomics) / tasks << ','
         << static_cast<double>(engine.loads + engine.stores + body.memory) / tasks << ',';
  } else {
    line << ",,,";
  }
  if (settings.measure == Measure::trace) {
    const taskdag::engine::Latency latency = taskdag::engine::latencies(report).all;
    line << latency.median << ',' << latency.p99 << ',';
  } else {
    line << ",,";
  }
  line << report.growths << ",yes";
  return line.str();
}

}  // namespace wavefront
