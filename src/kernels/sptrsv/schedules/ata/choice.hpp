/// \file
/// The schedules of ATA and its baselines in the catalogue: see CudaSchedule.
#pragma once

#include <memory>

#include "kernels/papers/study.hpp"
#include "kernels/sptrsv/schedules/ata/ata.hpp"
#include "kernels/sptrsv/schedules/catalogue/outlook.hpp"

namespace taskdag::kernels::ata {

/// kSchedule: a level schedule, self_scheduled, or one of ATA's.
template <SolveSchedule kSchedule>
std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int /*variant*/) {
  const Study study = input.study != nullptr ? *input.study : Study{};
  if constexpr (kSchedule == SolveSchedule::self_scheduled) {
    return make_self_scheduled_sweep(input, outlook.stream);
  } else if constexpr (kSchedule == SolveSchedule::level_launch || kSchedule == SolveSchedule::level_graph ||
                       kSchedule == SolveSchedule::level_barrier) {
    return make_level_sweep(kSchedule, input, outlook.stream, AtaFlow::pull, study.rows_share_warps);
  } else {
    return make_ata_sweep(kSchedule, input,
                          {.task_size = study.size, .flow = study.flow, .rows_share_warps = study.rows_share_warps},
                          outlook.stream);
  }
}

}  // namespace taskdag::kernels::ata
