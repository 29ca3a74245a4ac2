/// \file
/// What single precision makes of a factor.
#pragma once

#include "taskdag/csr.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::benchmark {

/// Whether sweeps by `schedule` on CUDA have a form for values in single precision.
bool has_single(SolveSchedule schedule);

/// An ILU factor as single precision has it: L and the unit U are rounded.
void round_to_single(CsrMatrix& lu);

}  // namespace taskdag::benchmark
