/// \file
/// The schedule "joined-levels": levels joined in pairs by replacing operands (join.hpp), what is left by another
/// schedule.
///
/// Half the levels for more entries, so it pays where a level costs more than what is in it, and costs elsewhere; a
/// load of values takes longer, too. Each solve begins with a pass over the right-hand side. Products of entries take
/// the place of entries: rounding differs from that of other schedules.
#pragma once

#include <memory>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// Makes the sweep. Synchronises `stream`. @throws what join_levels() and `make` throw
std::unique_ptr<Sweep> make_joined_sweep(const SweepInput& input, const MakeSweep& make, cudaStream_t stream);

}  // namespace taskdag::kernels
