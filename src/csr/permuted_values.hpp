/// \file
/// Values of a matrix in the order of its permuted pattern, without the map of entries that permute_pattern() leaves:
/// that is four bytes an entry, and found again in a pass.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// `pattern`: what permute_pattern() has made with these orders. out[e] = values[entry e comes from]. A thread a row,
/// in time with the square of its entries. Asynchronous.
void permute_values(const DevicePattern& pattern, const Index* row_order, const Index* col_order, const double* values,
                    double* out, cudaStream_t stream);

/// source[e] = entry that e comes from: what DeviceCsr::source was. Asynchronous, too.
void find_sources(const DevicePattern& pattern, const Index* row_order, const Index* col_order, Offset* source,
                  cudaStream_t stream);

}  // namespace taskdag::kernels
