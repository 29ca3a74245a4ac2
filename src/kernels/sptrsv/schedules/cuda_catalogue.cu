#include <algorithm>
#include <array>
#include <string>

#include "kernels/papers/papers.hpp"
#include "kernels/sptrsv/schedules/blocks/choice.hpp"
#include "kernels/sptrsv/schedules/cells/choice.hpp"
#include "kernels/sptrsv/schedules/cuda_catalogue.hpp"
#include "kernels/sptrsv/schedules/cusparse/choice.hpp"
#include "kernels/sptrsv/schedules/engine/choice.hpp"
#include "kernels/sptrsv/schedules/flat/choice.hpp"
#include "kernels/sptrsv/schedules/joined_levels/choice.hpp"
#include "kernels/sptrsv/schedules/one_block/sweep.hpp"
#include "kernels/sptrsv/schedules/supernodes/choice.hpp"

namespace taskdag::kernels {

namespace {

/// A schedule of the papers' library.
template <SolveSchedule kSchedule>
std::unique_ptr<Sweep> of_papers(const SweepInput& input, Selection& selection, int /*variant*/) {
  static_assert(is_of_papers(Backend::cuda, kSchedule));
  return papers(std::string("the schedule ") + to_string(kSchedule)).sweep(kSchedule, input, selection.stream);
}

constexpr std::array kRows{
    CudaSchedule{.schedule = SolveSchedule::flat,
                 .make = flat::make,
                 .expect = flat::expect,
                 .at_least = flat::at_least,
                 .complex_numbers = true,
                 .takes_remaining = true},
    CudaSchedule{.schedule = SolveSchedule::blocks,
                 .make = blocks::make,
                 .expect = blocks::expect,
                 .settles = blocks::settles,
                 .at_least = blocks::at_least,
                 .trials = blocks::trials},
    CudaSchedule{.schedule = SolveSchedule::cells,
                 .make = cells::make,
                 .expect = cells::expect,
                 .at_least = cells::at_least,
                 .trials = cells::trials,
                 .takes_remaining = true},
    CudaSchedule{.schedule = SolveSchedule::supernodes,
                 .make = supernodes::make,
                 .expect = supernodes::expect,
                 .at_least = supernodes::at_least,
                 .trials = supernodes::trials},
    CudaSchedule{.schedule = SolveSchedule::joined_levels,
                 .make = joined::make,
                 .expect = joined::expect,
                 .at_least = joined::at_least},
    CudaSchedule{.schedule = SolveSchedule::one_block, .make = one_block::make},
    CudaSchedule{.schedule = SolveSchedule::cusparse, .make = cusparse::make},
    CudaSchedule{.schedule = SolveSchedule::engine, .make = engine_schedule::make},
    CudaSchedule{.schedule = SolveSchedule::level_launch, .make = of_papers<SolveSchedule::level_launch>},
    CudaSchedule{.schedule = SolveSchedule::level_graph, .make = of_papers<SolveSchedule::level_graph>},
    CudaSchedule{.schedule = SolveSchedule::level_barrier, .make = of_papers<SolveSchedule::level_barrier>},
    CudaSchedule{.schedule = SolveSchedule::self_scheduled, .make = of_papers<SolveSchedule::self_scheduled>},
    CudaSchedule{.schedule = SolveSchedule::ata_concurrency, .make = of_papers<SolveSchedule::ata_concurrency>},
    CudaSchedule{.schedule = SolveSchedule::ata_locality, .make = of_papers<SolveSchedule::ata_locality>},
    CudaSchedule{.schedule = SolveSchedule::ata_greedy, .make = of_papers<SolveSchedule::ata_greedy>},
    CudaSchedule{.schedule = SolveSchedule::locking, .make = of_papers<SolveSchedule::locking>},
    CudaSchedule{.schedule = SolveSchedule::pivotal_path, .make = of_papers<SolveSchedule::pivotal_path>},
    CudaSchedule{.schedule = SolveSchedule::hdagg, .make = of_papers<SolveSchedule::hdagg>},
};

constexpr const CudaSchedule* find(SolveSchedule schedule) {
  for (const CudaSchedule& row : kRows) {
    if (row.schedule == schedule) return &row;
  }
  return nullptr;
}

static_assert(std::ranges::all_of(kCatalogue,
                                  [](const SolveScheduleInfo& info) {
                                    const CudaSchedule* const row = find(info.schedule);
                                    if (info.schedule == SolveSchedule::automatic || info.cuda == ScheduleRole::absent)
                                      return row == nullptr;
                                    return row != nullptr &&
                                           (row->expect != nullptr) == (info.cuda == ScheduleRole::automatic);
                                  }),
              "the catalogue's schedules of CUDA are here, and those that may be chosen say what they expect");

}  // namespace

std::span<const CudaSchedule> cuda_catalogue() { return kRows; }

std::unique_ptr<Sweep> make_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream) {
  Selection selection(input, {}, kRows, stream);
  return selection.row_of(schedule).make(input, selection, 0);
}

}  // namespace taskdag::kernels
