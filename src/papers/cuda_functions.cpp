/// \file
/// Sweeps and factorisations of the papers on CUDA, by name.
#include "papers/cuda_functions.hpp"

#include <utility>

#include "papers/boehnlein/cuda/cores.hpp"
#include "papers/helal/ata.hpp"
#include "papers/helal/factor/ata.hpp"
#include "taskdag/study.hpp"

namespace taskdag::kernels {
namespace {

std::unique_ptr<Sweep> sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream) {
  const Study study = input.study != nullptr ? *input.study : Study{};
  switch (schedule) {
    case SolveSchedule::locking:
    case SolveSchedule::pivotal_path:
    case SolveSchedule::hdagg:
      return make_cores_sweep(schedule, input, {}, stream);
    case SolveSchedule::self_scheduled:
      return make_self_scheduled_sweep(input, stream);
    case SolveSchedule::level_launch:
    case SolveSchedule::level_graph:
    case SolveSchedule::level_barrier:
      return make_level_sweep(schedule, input, stream, AtaFlow::pull, study.rows_share_warps);
    default:
      return make_ata_sweep(schedule, input,
                            {.task_size = study.size, .flow = study.flow, .rows_share_warps = study.rows_share_warps},
                            stream);
  }
}

std::unique_ptr<EliminationMethod> ilu(SolveSchedule schedule, const DevicePattern& pattern, const Offset* diagonal,
                                       bool diagonal_only, const Study& study, cudaStream_t stream) {
  return make_ata_ilu(schedule, pattern, diagonal, diagonal_only, FactorForm::rows, {.task_size = study.size}, stream);
}

std::unique_ptr<EliminationMethod> ic(SolveSchedule schedule, const DevicePattern& upper, DeviceCsr above,
                                      bool diagonal_only, const Study& study, cudaStream_t stream) {
  return make_ata_ic(schedule, upper, std::move(above), diagonal_only, {.task_size = study.size}, stream);
}

}  // namespace

void add_cuda_functions(Papers& papers) {
  papers.sweep = sweep;
  papers.ilu = ilu;
  papers.ic = ic;
}

}  // namespace taskdag::kernels
