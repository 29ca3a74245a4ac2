/// \file
/// What the schedules of the papers can be told. Contracts carry it as a pointer that no schedule of the product looks
/// at.
#pragma once

#include <memory>

#include "taskdag/solve_schedule.hpp"

namespace taskdag::kernels {

struct Study {
  AtaFlow flow = AtaFlow::pull;       ///< of the schedules ata_…
  AtaSize size = AtaSize::equations;  ///< of the schedules ata_…, of sweeps and of factorisations
  bool rows_share_warps = true;       ///< of the schedules ata_… and level_…, of sweeps alone
};

/// That of the options of a solver.
template <class Options>
std::shared_ptr<const Study> study_of(const Options& options) {
  return std::make_shared<const Study>(Study{options.ata_flow, options.ata_size, options.ata_rows_share_warps});
}

}  // namespace taskdag::kernels
