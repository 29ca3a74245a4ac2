#include "kernels/sptrsv/schedules/ata/ata.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cusparse/cusparse.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"
#include "kernels/sptrsv/schedules/joined/joined.hpp"
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"
#include "kernels/sptrsv/schedules/supersteps/supersteps.hpp"
#include "kernels/sptrsv/sweep.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

std::unique_ptr<Sweep> make_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream) {
  const MakeSweep make_left = [stream](const SweepInput& left) {
    return make_sweep(cells_supported() ? SolveSchedule::cells : SolveSchedule::flat, left, stream);
  };
  switch (schedule) {
    case SolveSchedule::flat:
      return std::make_unique<FlatSweep>(input, stream);
    case SolveSchedule::level_launch:
    case SolveSchedule::level_graph:
    case SolveSchedule::level_barrier:
      return make_level_sweep(schedule, input, stream);
    case SolveSchedule::self_scheduled:
      return make_self_scheduled_sweep(input, stream);
    case SolveSchedule::ata_concurrency:
    case SolveSchedule::ata_locality:
    case SolveSchedule::ata_greedy:
      return make_ata_sweep(schedule, input, {}, stream);
    case SolveSchedule::cusparse:
      return make_cusparse_sweep(input, stream);
    case SolveSchedule::cells:
      return make_cells_sweep(input, {}, stream);
    case SolveSchedule::supernodes:
      return make_supernodes_sweep(input, CondensedTriangle(input, supernodes::find(input, stream), stream), make_left,
                                   stream);
    case SolveSchedule::joined_levels:
      return make_joined_sweep(input, JoinedLevels(input, joined::most_terms(input.pattern), stream), make_left,
                               stream);
    case SolveSchedule::blocks:
      return make_blocks_sweep(input, {}, stream);
    case SolveSchedule::locking:
    case SolveSchedule::pivotal_path:
    case SolveSchedule::hdagg:
      return make_cores_sweep(schedule, input, {}, stream);
    default:
      throw InvalidInput("a sweep on CUDA is made from a CUDA schedule");
  }
}

}  // namespace taskdag::kernels
