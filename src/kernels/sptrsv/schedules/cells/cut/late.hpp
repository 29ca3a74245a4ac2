/// \file
/// Levels counted from the end of a sweep.
#pragma once

#include <optional>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Usual levels say how early a row can run, these how late it may: rows that much waits for come first, rows that
/// nothing waits for come last. Cells run their rows in that order; which order is the better one depends on the
/// pattern. `mirrored`: the levels of a sweep whose dependencies are those of `input` the other way round. Nothing
/// where it is not such a one: then an entry leads to no higher level. Synchronises `stream`.
std::optional<RowLevels> late_levels(const SweepInput& input, const RowLevels& mirrored, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
