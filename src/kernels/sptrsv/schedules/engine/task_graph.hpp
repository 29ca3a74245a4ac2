/// \file
/// Which warp tasks wait for which: for individual dependencies and phases. In order, tasks wait for values by
/// themselves.
#pragma once

#include "kernels/sptrsv/schedules/flat/packed_triangle.hpp"
#include "taskdag/engine/static/order.hpp"

namespace taskdag::kernels::engine_schedule {

/// The order of one sweep, or of two in a row (then `second` with, by its positions, the position of `first` that has
/// the right-hand side, −1: none; device). Levels and successors are filled in where `dependencies` needs them: on the
/// host, serially. Synchronises `stream`.
engine::StaticOrder order_of(const PackedTriangle& first, const PackedTriangle* second, const Index* rhs_index,
                             engine::Dependencies dependencies, cudaStream_t stream);

}  // namespace taskdag::kernels::engine_schedule
