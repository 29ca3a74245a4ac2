/// \file
/// The order of a sweep's rows.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

inline SweepOrder order_of(const SweepInput& input) { return {input.pattern.rows, input.triangle == Triangle::lower}; }

}  // namespace taskdag::kernels::cells
