#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "base/index.hpp"
#include "base/missing_diagonal.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"
#include "kernels/factor/point_block/cuda/pattern.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::DeviceArray;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;

/// The upper triangle of a matrix, whose rows begin with the diagonal, and its transpose, whose rows end with it.
struct Triangles {
  Index rows;
  const Offset* upper_offsets;
  const Index* upper_columns;
  const Offset* upper_source;  ///< entry → the matrix' block
  const Offset* lower_offsets;
  const Index* lower_columns;
  const Offset* lower_source;  ///< entry → its mirror image above

  [[nodiscard]] __device__ Offset left(Index i) const { return lower_offsets[i + 1] - lower_offsets[i] - 1; }
  [[nodiscard]] __device__ Offset right(Index i) const { return upper_offsets[i + 1] - upper_offsets[i]; }
};

__global__ void mirrored_lengths(Triangles t, Offset* length) {
  const auto i = static_cast<Index>(cuda::element());
  if (i <= t.rows) length[i] = i < t.rows ? t.left(i) + t.right(i) : 0;  // one more entry: the scan's total
}

/// A warp a row: what is left of the diagonal, then the row of the upper triangle.
__global__ void mirror_rows(Triangles t, const Offset* offsets, Index* columns, Offset* diagonal, Offset* source,
                            Offset* mirror) {
  const auto i = static_cast<Index>(cuda::element() / kWarpSize);
  if (i >= t.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Offset left = t.left(i);
  const Offset begin = offsets[i];
  if (lane == 0) diagonal[i] = begin + left;
  for (Offset k = lane; k < left; k += kWarpSize) {
    const Offset e = t.lower_offsets[i] + k;
    const Index j = t.lower_columns[e];
    columns[begin + k] = j;
    source[begin + k] = -1;
    mirror[begin + k] = offsets[j] + t.left(j) + t.lower_source[e] - t.upper_offsets[j];
  }
  for (Offset k = lane; k < t.right(i); k += kWarpSize) {
    const Offset e = t.upper_offsets[i] + k;
    columns[begin + left + k] = t.upper_columns[e];
    source[begin + left + k] = t.upper_source[e];
    mirror[begin + left + k] = -1;
  }
}

/// source: of the matrix that the upper triangle is of; the matrix' block of an entry.
DeviceFactorPattern mirrored(const DeviceCsr& upper, const Offset* source, cudaStream_t stream) {
  const Index rows = upper.rows;
  const Offset entries = 2 * upper.entries - rows;
  const DeviceCsr lower = transpose_pattern(upper.pattern(), stream);
  const cuda::ScratchArray<Offset> upper_source(at(upper.entries), stream);
  gather(upper.entries, source, upper.source.data(), upper_source.data(), stream);
  const Triangles triangles{rows,
                            upper.row_offsets.data(),
                            upper.col_indices.data(),
                            upper_source.data(),
                            lower.row_offsets.data(),
                            lower.col_indices.data(),
                            lower.source.data()};
  DeviceFactorPattern full{rows,
                           entries,
                           {at(rows) + 1, stream},
                           {at(entries), stream},
                           {at(rows), stream},
                           {at(entries), stream},
                           {at(entries), stream}};
  const cuda::ScratchArray<Offset> length(at(rows) + 1, stream);
  mirrored_lengths<<<element_blocks(std::int64_t{rows} + 1), kElementBlock, 0, stream>>>(triangles, length.data());
  cuda::check_launch("mirrored_lengths");
  cuda::exclusive_sum(length.data(), full.offsets.data(), rows + 1, stream);
  if (rows == 0) return full;
  mirror_rows<<<element_blocks(std::int64_t{rows} * kWarpSize), kElementBlock, 0, stream>>>(
      triangles, full.offsets.data(), full.columns.data(), full.diagonal.data(), full.source.data(),
      full.mirror.data());
  cuda::check_launch("mirror_rows");
  return full;
}

}  // namespace

DeviceFactorPattern upload(const Pattern& pattern, cudaStream_t stream) {
  return {pattern.rows,
          static_cast<Offset>(pattern.columns.size()),
          cuda::upload(pattern.row_offsets, stream),
          cuda::upload(pattern.columns, stream),
          cuda::upload(pattern.diagonal, stream),
          cuda::upload(pattern.source, stream),
          cuda::upload(pattern.mirror, stream)};
}

DeviceFactorPattern find_pattern(const DevicePattern& blocks, const Index* row_order, const Index* col_order,
                                 FactorKind kind, int block_size, cudaStream_t stream) {
  DeviceCsr matrix =
      row_order != nullptr ? permute_pattern(blocks, row_order, col_order, stream) : copy_pattern(blocks, stream);
  DeviceArray<Offset> diagonal(at(matrix.rows), stream);
  const Index missing = find_diagonal(matrix.pattern(), diagonal.data(), stream);
  if (missing >= 0)
    refuse_missing_diagonal(row_order != nullptr ? cuda::fetch(row_order + missing, stream) : missing,
                            {.blocks = true});
  if (matrix.source.size() == 0) {
    matrix.source = {at(matrix.entries), stream};
    number(matrix.entries, matrix.source.data(), stream);
  }
  DeviceFactorPattern found;
  if (kind == FactorKind::ic) {
    const DeviceCsr upper = upper_pattern(matrix.pattern(), diagonal.data(), stream);
    static_cast<void>(checked_elements(2 * std::int64_t{upper.entries}, block_size));
    found = mirrored(upper, matrix.source.data(), stream);
  } else {
    static_cast<void>(checked_elements(matrix.entries, block_size));
    found = {matrix.rows,
             matrix.entries,
             std::move(matrix.row_offsets),
             std::move(matrix.col_indices),
             std::move(diagonal),
             std::move(matrix.source),
             {}};
  }
  cuda::synchronize(stream);  // the caller's arrays may go
  return found;
}

}  // namespace taskdag::kernels::point_block
