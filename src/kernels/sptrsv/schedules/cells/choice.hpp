/// \file
/// The schedule cells in the catalogue: see CudaSchedule. A variant is a number of cells.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels::cells {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int variant);
std::optional<Expectation> expect(Selection& selection);
double at_least(const Selection& selection);
std::vector<int> trials(const Selection& selection);

/// Whether the triangle would be pencils of a grid with 19- or 27-point stencils, one or three unknowns a point, and
/// memory suffices for them. Of `input` pattern, triangle and ranges. Synchronises `stream`.
bool fits_large_pencils(const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
