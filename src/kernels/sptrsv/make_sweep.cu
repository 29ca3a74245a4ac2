#include "kernels/sptrsv/flat.hpp"
#include "kernels/sptrsv/sweep.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

std::unique_ptr<Sweep> make_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream) {
  switch (schedule) {
    case SolveSchedule::flat:
      return std::make_unique<FlatSweep>(input, stream);
    case SolveSchedule::cells:
    case SolveSchedule::level_launch:
    case SolveSchedule::level_graph:
    case SolveSchedule::level_barrier:
    case SolveSchedule::self_scheduled:
    case SolveSchedule::ata_concurrency:
    case SolveSchedule::ata_locality:
    case SolveSchedule::ata_greedy:
    case SolveSchedule::cusparse:
      throw DeviceError("the schedule is not built");
    default:
      throw InvalidInput("a sweep on CUDA is made from a CUDA schedule");
  }
}

}  // namespace taskdag::kernels
