/// \file
/// Values into the chunks of bands.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "kernels/sptrsv/schedules/cells/bands/layout.hpp"
#include "kernels/sptrsv/schedules/cells/pack/sources.hpp"

namespace taskdag::kernels::cells {

/// Device memory.
template <class Value>
struct BandValues {
  SourceView sources;  ///< of entries (cut/bands.hpp)
  Value* entry;        ///< bands · chunks · kChunk · kLanes · 2
  Value* edge;         ///< bands · columns
  double* pivot;       ///< by row; null: pivots are 1
};

/// `pivot`: inverse pivots by row, null where target.pivot is. Asynchronous.
template <class Value>
void load_values(const Bands& bands, SweepOrder order, const BandValues<Value>& target, const double* source,
                 const double* pivot, cudaStream_t stream);
/// The reverse of load_values(): values to the entries that they came from. `pivot` as it was there. Asynchronous.
template <class Value>
void return_values(const Bands& bands, SweepOrder order, const BandValues<Value>& from, const double* pivot,
                   double* entries, cudaStream_t stream);
/// load_values() for products of values; pivots are 1.
void load_products(const Bands& bands, SweepOrder order, const BandValues<double>& target,
                   const ValueProducts& products, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
