/// \file
/// Values into the steps of pencils.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "kernels/sptrsv/schedules/cells/pack/sources.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/layout.hpp"

namespace taskdag::kernels::cells {

/// Device memory.
template <class Points>
struct PencilValues {
  SourceView sources;             ///< of entries (cut/pencils.hpp)
  typename Points::Value* entry;  ///< pencils · steps · kPlanes · kEntries · kLanes; 0 before the first load
  double* pivot;                  ///< by row; null: pivots are 1
};

/// `pivot`: inverse pivots by row, null where target.pivot is. Asynchronous.
template <class Points>
void load_values(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& target,
                 const double* source, const double* pivot, cudaStream_t stream);
/// The reverse of load_values(): values to the entries that they came from. `pivot` as it was there. Asynchronous.
template <class Points>
void return_values(const Pencils<Points>& pencils, SweepOrder order, const PencilValues<Points>& from,
                   const double* pivot, double* entries, cudaStream_t stream);
/// load_values() for products of values; pivots are 1.
void load_products(const Pencils<SevenPoints>& pencils, SweepOrder order, const PencilValues<SevenPoints>& target,
                   const ValueProducts& products, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
