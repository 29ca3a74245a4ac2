/// \file
/// Values into the steps of pencils.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/layout.hpp"

namespace taskdag::kernels::cells {

/// Device memory. source: of entries (cut/pencils.hpp).
struct PencilValues {
  PencilEntries source;
  double* entry;  ///< pencils · steps · kPencilPlanes · 3 · kLanes
  double* pivot;  ///< by row; null: pivots are 1
};

/// `pivot`: inverse pivots by row, null where target.pivot is. Asynchronous.
void load_values(const Pencils& pencils, SweepOrder order, const PencilValues& target, const double* source,
                 const double* pivot, cudaStream_t stream);
/// The same for products of values; pivots are 1.
void load_products(const Pencils& pencils, SweepOrder order, const PencilValues& target, const ValueProducts& products,
                   cudaStream_t stream);

}  // namespace taskdag::kernels::cells
