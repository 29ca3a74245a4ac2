#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "csr/permuted_values.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// length[row_order[i]] = length of row i; length[rows] = 0.
__global__ void lengths_before(DevicePattern pattern, const Index* row_order, Offset* length) {
  const auto i = static_cast<Index>(element());
  if (i > pattern.rows) return;
  if (i == pattern.rows) {
    length[i] = 0;
  } else {
    length[row_order[i]] = pattern.row_offsets[i + 1] - pattern.row_offsets[i];
  }
}

/// A thread a row. In its row of the matrix an entry is behind those whose columns were smaller.
template <class Put>
__global__ void find_entries_before(DevicePattern pattern, const Index* row_order, const Index* col_order,
                                    const Offset* offsets, Put put) {
  const auto i = static_cast<Index>(element());
  if (i >= pattern.rows) return;
  const Offset begin = pattern.row_offsets[i];
  const Offset end = pattern.row_offsets[i + 1];
  const Offset from = offsets[row_order[i]];
  for (Offset e = begin; e < end; ++e) {
    const Index column = col_order[pattern.col_indices[e]];
    Offset before = 0;
    for (Offset other = begin; other < end; ++other) before += col_order[pattern.col_indices[other]] < column ? 1 : 0;
    put(e, from + before);
  }
}

struct PutValue {
  const double* values;
  double* out;
  __device__ void operator()(Offset e, Offset from) const { out[e] = values[from]; }
};
struct PutSource {
  Offset* source;
  __device__ void operator()(Offset e, Offset from) const { source[e] = from; }
};

template <class Put>
void put_entries(const DevicePattern& pattern, const Index* row_order, const Index* col_order, const Put& put,
                 cudaStream_t stream) {
  if (pattern.rows == 0) return;
  const cuda::ScratchArray<Offset> offsets(static_cast<std::size_t>(pattern.rows) + 1, stream);
  lengths_before<<<element_blocks(std::int64_t{pattern.rows} + 1), kElementBlock, 0, stream>>>(pattern, row_order,
                                                                                               offsets.data());
  cuda::check_launch("lengths_before");
  cuda::exclusive_sum(offsets.data(), offsets.data(), std::int64_t{pattern.rows} + 1, stream);
  find_entries_before<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern, row_order, col_order,
                                                                                  offsets.data(), put);
  cuda::check_launch("find_entries_before");
}

}  // namespace

void permute_values(const DevicePattern& pattern, const Index* row_order, const Index* col_order, const double* values,
                    double* out, cudaStream_t stream) {
  put_entries(pattern, row_order, col_order, PutValue{values, out}, stream);
}

void find_sources(const DevicePattern& pattern, const Index* row_order, const Index* col_order, Offset* source,
                  cudaStream_t stream) {
  put_entries(pattern, row_order, col_order, PutSource{source}, stream);
}

}  // namespace taskdag::kernels
