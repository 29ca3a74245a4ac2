/// \file
/// The schedules of CUDA: how each is made, what it expects of itself, and the choice of one of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/sptrsv/schedules/outlook.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// A schedule of CUDA. All functions synchronise the outlook's stream.
struct CudaSchedule {
  SolveSchedule schedule;
  /// Makes the sweep of `input`: that of the outlook, but for index maps. variant: one of trials(), 0 for the
  /// schedule's own choice. @throws Unsupported, DeviceError, OutOfMemory where it cannot
  std::unique_ptr<Sweep> (*make)(const SweepInput& input, Outlook& outlook, int variant);
  /// Microseconds of a solve, or nothing where it cannot run the triangle or would take too much memory. Null: it is
  /// never chosen automatically.
  std::optional<Expectation> (*expect)(Outlook& outlook);
  /// Microseconds of a solve, rather too few than too many: what a pass over several columns must beat. Null: as flat.
  double (*at_least)(const Outlook& outlook);
  /// Variants that tuning tries, 0 for the schedule's own. Null: 0 alone.
  std::vector<int> (*trials)(const Outlook& outlook);
  bool takes_left;  ///< it goes by the input's ranges, and so runs what another schedule leaves
};

/// In the order in which they are asked: the cheap ones first.
std::span<const CudaSchedule> cuda_catalogue();

/// @throws InvalidInput for a schedule that CUDA does not have
const CudaSchedule& cuda_row_of(SolveSchedule schedule);

/// Asks the schedules of the automatic role one after the other; each sees what the best so far expects. The same
/// triangle gets the same one on the same kind of device with the same room.
ExpectedSchedule choose_schedule(Outlook& outlook);

}  // namespace taskdag::kernels
