/// \file
/// What packing reads of the matrix.
#pragma once

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::supersteps {

/// `number`: of a row, by position while portions are measured, by place after.
struct Rows {
  const Index* col_indices;
  const Offset* first;
  const Index* count;
  const Index* number;
};

inline Rows rows_of(const SweepInput& input, const Index* number) {
  return {input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(), number};
}

/// What is read of it once a layout is made: entries of rows by their columns alone.
struct TriangleRows {
  DevicePattern pattern;
  bool lower;
};

/// Operand of entry k of a row that begins at `first`, numbered from `portion_first`; outside [0, rows) elsewhere.
__device__ inline Index local_operand(const Rows& rows, Offset first, Index k, Index portion_first) {
  return rows.number[rows.col_indices[first + k]] - portion_first;
}

/// All of its bytes. Asynchronous.
template <class T>
void set_bytes(const cuda::DeviceArray<T>& array, int byte, cudaStream_t stream) {
  if (array.size() > 0) {
    cuda::check(cudaMemsetAsync(array.data(), byte, array.size() * sizeof(T), stream), "filling an array");
  }
}

}  // namespace taskdag::kernels::supersteps
