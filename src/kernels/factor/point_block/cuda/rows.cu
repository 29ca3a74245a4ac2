#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/factor/point_block/block.hpp"
#include "kernels/factor/point_block/cuda/rows.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;

/// A row of the pattern by rows, row `row` of the blocks of row `block_row`: its entries left of the diagonal, then
/// that, then those right of it.
template <class Size>
struct Row {
  Size size;
  int row;
  Offset first_block;
  Offset diagonal_block;
  Offset end_block;

  __device__ Row(const FactorBlocks& factor, Size block_size, Index block_row, int row_of_block)
      : size(block_size),
        row(row_of_block),
        first_block(factor.offsets[block_row]),
        diagonal_block(factor.diagonal[block_row]),
        end_block(factor.offsets[block_row + 1]) {}

  [[nodiscard]] __device__ Offset left() const { return (diagonal_block - first_block) * size.rows(); }
  [[nodiscard]] __device__ Offset entries() const { return (end_block - first_block - 1) * size.rows() + 1; }
  /// Of the row's first entry in the pattern.
  [[nodiscard]] __device__ Offset first_entry(Index block_row) const {
    const int n = size.rows();
    return n * ((first_block - block_row) * n + block_row) + row * entries();
  }
  /// The block of entry k, and its column in there.
  struct Element {
    Offset block;
    int column;
  };
  [[nodiscard]] __device__ Element at(Offset k) const {
    const int n = size.rows();
    if (k == left()) return {diagonal_block, row};
    const Offset beside = k < left() ? k : k - 1 + n;
    return {first_block + beside / n, static_cast<int>(beside % n)};
  }
};

/// Warp w of the grid has row w of the matrix: work(row, its block row, its lane). Nothing for further warps.
template <class Size, class Work>
__device__ void with_row_of_warp(const FactorBlocks& factor, const Work& work) {
  const Size size(factor.block_size);
  const std::int64_t warp = element() / kWarpSize;
  if (warp >= std::int64_t{factor.rows} * size.rows()) return;
  const auto block_row = static_cast<Index>(warp / size.rows());
  work(Row<Size>(factor, size, block_row, static_cast<int>(warp % size.rows())), block_row,
       static_cast<int>(threadIdx.x) % kWarpSize);
}

template <class Size>
__global__ void pattern_by_rows_kernel(FactorBlocks factor, Offset* offsets, Index* columns) {
  with_row_of_warp<Size>(factor, [&](const Row<Size>& row, Index block_row, int lane) {
    const Offset begin = row.first_entry(block_row);
    const Offset entries = row.entries();
    const Index number = block_row * row.size.rows() + row.row;
    if (lane == 0) offsets[number + 1] = begin + entries;
    if (lane == 0 && number == 0) offsets[0] = 0;
    for (Offset k = lane; k < entries; k += kWarpSize) {
      const auto element = row.at(k);
      columns[begin + k] = factor.columns[element.block] * row.size.rows() + element.column;
    }
  });
}

template <class Size>
__global__ void values_by_rows_kernel(FactorBlocks factor, bool conjugated, double* entries) {
  with_row_of_warp<Size>(factor, [&](const Row<Size>& row, Index block_row, int lane) {
    const int n = row.size.rows();
    const double* const inverse = factor.values + elements_of(row.size, row.diagonal_block);
    double* const to = entries + row.first_entry(block_row);
    for (Offset k = lane; k < row.entries(); k += kWarpSize) {
      const auto [block, column] = row.at(k);
      const double* const from = factor.values + elements_of(row.size, block);
      const double value = block < row.diagonal_block   ? from[column * n + row.row]
                           : block > row.diagonal_block ? product(row.size, inverse, from, row.row, column)
                                                        : 1.0;
      to[k] = conjugated ? not_conjugated(value, row.row, column) : value;
    }
  });
}

template <class Size>
__global__ void divide_by_diagonal_kernel(FactorBlocks factor, Form form, const double* y, const Index* index,
                                          double* z) {
  const Size size(factor.block_size);
  const int n = size.rows();
  const std::int64_t i = element();
  if (i >= std::int64_t{factor.rows} * n) return;
  const auto block_row = static_cast<Index>(i / n);
  const int row = static_cast<int>(i % n);
  const double* const inverse = factor.values + elements_of(size, factor.diagonal[block_row]);
  double sum = 0.0;
#pragma unroll
  for (int c = 0; c < n; ++c) {
    const Index other = block_row * n + c;
    const double own = inverse[form == Form::as_it_is ? c * n + row : row * n + c];
    const double element = form == Form::complex_transposed ? not_conjugated(own, row, c) : own;
    sum += element * y[index != nullptr ? index[other] : other];
  }
  z[i] = sum;
}

__global__ void order_by_rows_kernel(Index rows, int block_size, const Index* order, Index* by_rows) {
  const auto i = static_cast<Index>(element());
  if (i < rows) by_rows[i] = order[i / block_size] * block_size + i % block_size;
}

}  // namespace

DeviceCsr pattern_by_rows(const FactorBlocks& factor, cudaStream_t stream) {
  const Index rows = factor.rows * factor.block_size;
  const Offset entries = factor.entries_by_rows();
  DeviceCsr result{
      rows, entries, {static_cast<std::size_t>(rows) + 1, stream}, {static_cast<std::size_t>(entries), stream}, {}};
  if (rows == 0) {
    cuda::check(cudaMemsetAsync(result.row_offsets.data(), 0, sizeof(Offset), stream), "clearing an offset");
    return result;
  }
  with_block_size(factor.block_size, [&](auto size) {
    using Size = decltype(size);
    pattern_by_rows_kernel<Size><<<element_blocks(std::int64_t{rows} * kWarpSize), kElementBlock, 0, stream>>>(
        factor, result.row_offsets.data(), result.col_indices.data());
    cuda::check_launch("pattern_by_rows_kernel");
  });
  return result;
}

void values_by_rows(const FactorBlocks& factor, bool conjugated, double* entries, cudaStream_t stream) {
  if (factor.rows == 0) return;
  const std::int64_t warps = std::int64_t{factor.rows} * factor.block_size;
  with_block_size(factor.block_size, [&](auto size) {
    using Size = decltype(size);
    values_by_rows_kernel<Size>
        <<<element_blocks(warps * kWarpSize), kElementBlock, 0, stream>>>(factor, conjugated, entries);
    cuda::check_launch("values_by_rows_kernel");
  });
}

void divide_by_diagonal(const FactorBlocks& factor, Form form, const double* y, const Index* index, double* z,
                        cudaStream_t stream) {
  if (factor.rows == 0) return;
  with_block_size(factor.block_size, [&](auto size) {
    using Size = decltype(size);
    divide_by_diagonal_kernel<Size>
        <<<element_blocks(std::int64_t{factor.rows} * factor.block_size), kElementBlock, 0, stream>>>(factor, form, y,
                                                                                                      index, z);
    cuda::check_launch("divide_by_diagonal_kernel");
  });
}

cuda::DeviceArray<Index> order_by_rows(const cuda::DeviceArray<Index>& order, int block_size, cudaStream_t stream) {
  if (order.size() == 0) return {};
  cuda::DeviceArray<Index> result(order.size() * static_cast<std::size_t>(block_size), stream);
  const auto rows = static_cast<Index>(result.size());
  order_by_rows_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, block_size, order.data(),
                                                                           result.data());
  cuda::check_launch("order_by_rows_kernel");
  return result;
}

}  // namespace taskdag::kernels::point_block
