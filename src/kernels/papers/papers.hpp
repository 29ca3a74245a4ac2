/// \file
/// The schedules and programs of papers that the product has faster ones for. They are in a library of their own,
/// libtaskdag_papers, which is opened when one of their names is first asked for: what it hands out is declared here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/schedule.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/study.hpp"

struct CUstream_st;  // *: cudaStream_t

namespace taskdag::cuda {
struct MemoryFunctions;
}

namespace taskdag::engine {
struct PlotOptions;
struct Report;
}  // namespace taskdag::engine

namespace taskdag {
struct SuperstepOptions;
struct SuperstepSchedule;
struct OrderingOptions;
}  // namespace taskdag

namespace taskdag::kernels {

class EliminationMethod;
class JacobiProgram;
class Sweep;
struct DeviceCsr;
struct DevicePattern;
struct JacobiShape;
struct GraphView;
struct SweepInput;

/// An ordering by tasks, and what it took.
struct OrderByTasks {
  std::vector<Index> order;  ///< order[new] = old
  double set_up = 0.0;       ///< seconds: the program and its queues
  double search = 0.0;       ///< seconds: start nodes
};

/// What libtaskdag_papers has.
struct Papers {
  const char* build;  ///< version and kind: both libraries must have the same, since the types below are internal
  /// Makes the schedule of a strict triangle on `cores` cores. kind: pivotal_path, hdagg, level_set, or
  /// point_to_point, which has the portions of level_set. One thread.
  SuperstepSchedule (*superstep_schedule)(SolveSchedule kind, const CsrPattern& pattern, Triangle triangle, int cores,
                                          const SuperstepOptions& options);
  /// The form `tasks` of reverse_cuthill_mckee() for a graph in host memory, on either backend. Returns when all is
  /// done. @throws Error if a run of the engine did not finish; Unsupported, OutOfMemory, DeviceError
  OrderByTasks (*reverse_cuthill_mckee)(const Context& context, const GraphView& graph, const OrderingOptions& options);
  /// A colour for each vertex of a graph, neighbours' different, other ones in each run, on either backend. Not all
  /// numbers up to the largest need to occur. graph: of symmetric structure, in host memory. Returns when all is done.
  /// @throws Error where the program does not finish; Unsupported, OutOfMemory, DeviceError
  std::vector<Index> (*colour)(const Context& context, const CsrPattern& graph, engine::Scheduler scheduler);
  /// Jacobi sweeps of a form by tasks, on either backend. pattern: square, columns in range, in host memory; it may go
  /// afterwards. options: dependencies are the form's. Synchronises the device. @throws Unsupported where the program
  /// would have too many tasks, OutOfMemory, DeviceError
  std::unique_ptr<JacobiProgram> (*jacobi)(const Context& context, const CsrPattern& pattern, const JacobiShape& shape,
                                           engine::StaticOptions options);
  /// See engine::write_plot().
  void (*plot)(const engine::Report& report, Backend backend, const std::string& path,
               const engine::PlotOptions& options);

  // From here on null in a build without CUDA. All synchronise `stream`.
  /// A sweep by one of their schedules on CUDA. @throws Unsupported, DeviceError, OutOfMemory where it cannot
  std::unique_ptr<Sweep> (*sweep)(SolveSchedule schedule, const SweepInput& input, CUstream_st* stream);
  /// ILU of a pattern in device memory, with its diagonal entries, by rows: both outlive the result.
  std::unique_ptr<EliminationMethod> (*ilu)(SolveSchedule schedule, const DevicePattern& pattern,
                                            const Offset* diagonal, bool diagonal_only, const Study& study,
                                            CUstream_st* stream);
  /// IC, A ≈ Uᵀ D U: `upper`, which outlives the result, holds the diagonal entry first in each row; `above` is its
  /// transpose.
  std::unique_ptr<EliminationMethod> (*ic)(SolveSchedule schedule, const DevicePattern& upper, DeviceCsr above,
                                           bool diagonal_only, const Study& study, CUstream_st* stream);
};

/// Whether a backend's schedule of that name is one of theirs.
constexpr bool is_of_papers(Backend backend, SolveSchedule schedule) {
  using enum SolveSchedule;
  switch (schedule) {
    case pivotal_path:
    case hdagg:
      return true;
    case level_launch:
    case level_graph:
    case level_barrier:
    case self_scheduled:
    case ata_concurrency:
    case ata_locality:
    case ata_greedy:
    case locking:
      return backend == Backend::cuda;
    case point_to_point:
    case level_set:
      return backend == Backend::host;
    default:
      return false;
  }
}

/// Opens the library at the first call and keeps it; tries again after a failure. Safe from several threads. `wanted`:
/// what is asked for, for the message.
/// @throws Unsupported naming what is wanted, what to install and why the library cannot be used
const Papers& papers(const std::string& wanted);

/// Whether the library can be used: a search for the fastest leaves the papers' schedules out without it.
bool has_papers();

}  // namespace taskdag::kernels

/// What libtaskdag_papers exports; `memory`: the device memory that it is to take, null without CUDA. A program that
/// holds the papers' objects itself needs no library.
extern "C" const taskdag::kernels::Papers* taskdag_papers(const taskdag::cuda::MemoryFunctions* memory);
