#include "matfactor/engine_runs.hpp"

#include "taskdag/engine/trace.hpp"
#include "taskdag/error.hpp"

namespace taskdag::petsc {
namespace {

/// All programs as one: their types one after the other, each with the name of what it was part of.
engine::Report together(const std::vector<EngineRun>& runs) {
  engine::Report all;
  for (const EngineRun& run : runs) {
    const auto offset = static_cast<std::uint16_t>(all.types.size());
    for (engine::TypeReport type : run.report.types) {
      type.name = run.what + ": " + type.name;
      all.types.push_back(std::move(type));
    }
    for (engine::TraceEvent event : run.report.events) {
      event.type = static_cast<std::uint16_t>(event.type + offset);
      all.events.push_back(event);
    }
    all.dropped_events += run.report.dropped_events;
  }
  return all;
}

std::string waits(const engine::Report& report) {
  if (report.predecessor_waits != 0) return std::to_string(report.predecessor_waits) + " for the ends of predecessors";
  if (report.level_waits != 0) return std::to_string(report.level_waits) + " for the ends of levels";
  return "for values, in the tasks";
}

}  // namespace

std::string describe(const std::vector<EngineRun>& runs) {
  std::string lines;
  for (const EngineRun& run : runs) {
    lines += "  " + run.what + ": " + std::to_string(run.report.slices) + " runs";
    for (const engine::TypeReport& type : run.report.types) {
      lines += ", " + std::to_string(type.executed) + " tasks \"" + type.name + "\" of " + std::to_string(type.lanes) +
               (type.lanes == 1 ? " thread" : " lanes");
    }
    lines += ", waits: " + waits(run.report) + '\n';
    for (const engine::KernelInfo& kernel : run.report.kernels) {
      if (kernel.launches == 0 || kernel.registers == 0) continue;
      lines += "    kernel \"" + kernel.name + "\": " + std::to_string(kernel.launches) + " launches, " +
               std::to_string(kernel.threads) + " threads a block, " + std::to_string(kernel.registers) +
               " registers a thread, " + std::to_string(kernel.blocks_per_sm) + " blocks a multiprocessor\n";
    }
  }
  return lines;
}

void write_traces(const std::vector<EngineRun>& runs, Backend backend, std::string path) {
  PetscMPIInt ranks = 1;
  PetscMPIInt rank = 0;
  if (MPI_Comm_size(PETSC_COMM_WORLD, &ranks) != MPI_SUCCESS || MPI_Comm_rank(PETSC_COMM_WORLD, &rank) != MPI_SUCCESS) {
    throw Error("MPI says neither how many ranks there are nor which this is");
  }
  if (ranks > 1) {
    path.push_back('.');
    path += std::to_string(rank);
  }
  const engine::Report all = together(runs);
  engine::write_chrome_trace(all, backend, path);
  try {
    engine::write_plot(all, backend, path + ".svg", {.title = "Programs of the task engine"});
  } catch (const Unsupported& error) {  // Perfetto shows the same
    static_cast<void>(PetscInfo(nullptr, "There is no plot beside the trace: %s\n", error.what()));
  }
}

}  // namespace taskdag::petsc
