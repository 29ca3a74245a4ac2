/// \file
/// Levels counted from the end of a sweep.
#pragma once

#include <optional>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Usual levels say how early a row can run; late levels say how late it may: a row at the head of a long chain comes
/// first, a row that no other row needs comes last. Cells run their rows in that order; which order is the better one
/// depends on the pattern. `mirrored`: the levels of a sweep whose dependencies are those of `input` reversed. @returns
/// nothing where they are not: some operand's late level is not below its row's. Synchronises `stream`.
std::optional<RowLevels> late_levels(const SweepInput& input, const RowLevels& mirrored, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
