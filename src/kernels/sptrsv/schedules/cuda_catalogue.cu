#include <algorithm>
#include <array>

#include "kernels/sptrsv/schedules/ata/choice.hpp"
#include "kernels/sptrsv/schedules/cells/choice.hpp"
#include "kernels/sptrsv/schedules/cuda_catalogue.hpp"
#include "kernels/sptrsv/schedules/cusparse/choice.hpp"
#include "kernels/sptrsv/schedules/engine/choice.hpp"
#include "kernels/sptrsv/schedules/flat/choice.hpp"
#include "kernels/sptrsv/schedules/joined/choice.hpp"
#include "kernels/sptrsv/schedules/one_block/sweep.hpp"
#include "kernels/sptrsv/schedules/supernodes/choice.hpp"
#include "kernels/sptrsv/schedules/supersteps/choice.hpp"

namespace taskdag::kernels {

namespace {

// schedule, make, expect, at_least, trials, takes_left
constexpr std::array kRows{
    CudaSchedule{SolveSchedule::flat, flat::make, flat::expect, flat::at_least, nullptr, true},
    CudaSchedule{SolveSchedule::blocks, blocks::make, blocks::expect, blocks::at_least, blocks::trials, false},
    CudaSchedule{SolveSchedule::cells, cells::make, cells::expect, cells::at_least, cells::trials, true},
    CudaSchedule{SolveSchedule::supernodes, supernodes::make, supernodes::expect, supernodes::at_least,
                 supernodes::trials, false},
    CudaSchedule{SolveSchedule::joined_levels, joined::make, joined::expect, joined::at_least, nullptr, false},
    CudaSchedule{SolveSchedule::one_block, one_block::make, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::cusparse, cusparse::make, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::level_launch, ata::make<SolveSchedule::level_launch>, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::level_graph, ata::make<SolveSchedule::level_graph>, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::level_barrier, ata::make<SolveSchedule::level_barrier>, nullptr, nullptr, nullptr,
                 false},
    CudaSchedule{SolveSchedule::self_scheduled, ata::make<SolveSchedule::self_scheduled>, nullptr, nullptr, nullptr,
                 false},
    CudaSchedule{SolveSchedule::ata_concurrency, ata::make<SolveSchedule::ata_concurrency>, nullptr, nullptr, nullptr,
                 false},
    CudaSchedule{SolveSchedule::ata_locality, ata::make<SolveSchedule::ata_locality>, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::ata_greedy, ata::make<SolveSchedule::ata_greedy>, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::engine, engine_schedule::make, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::locking, cores::make<SolveSchedule::locking>, nullptr, nullptr, nullptr, false},
    CudaSchedule{SolveSchedule::pivotal_path, cores::make<SolveSchedule::pivotal_path>, nullptr, nullptr, nullptr,
                 false},
    CudaSchedule{SolveSchedule::hdagg, cores::make<SolveSchedule::hdagg>, nullptr, nullptr, nullptr, false},
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
  Outlook outlook(input, {}, kRows, stream);
  return outlook.row_of(schedule).make(input, outlook, 0);
}

}  // namespace taskdag::kernels
