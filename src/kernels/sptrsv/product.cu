#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/product.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

__device__ Index index_at(const Index* index, Index i) { return index != nullptr ? index[i] : i; }

/// Results of a sweep by row.
struct Result {
  const double* value;
  const Index* index;
  explicit Result(const Sweep& sweep) : value(sweep.result()), index(sweep.result_index()) {}
  __device__ double operator()(Index i) const { return value[index_at(index, i)]; }
};

__global__ void take_factors(Index places, const Index* row, ProductRows rows, double* middle, double* scale) {
  const auto p = static_cast<Index>(element());
  if (p >= places) return;
  const Index i = row[p];
  middle[p] = i < 0 ? 0.0 : rows.middle[i];
  if (rows.scale != nullptr) scale[p] = i < 0 ? 0.0 : rows.scale[i];
}

__global__ void find_first(Index places, const Index* row, const Index* result_index, Index* first_index) {
  const auto p = static_cast<Index>(element());
  if (p < places) first_index[p] = row[p] < 0 ? -1 : index_at(result_index, row[p]);
}

__global__ void rows_kernel(Index n, const double* e, const double* d, const Index* order, double* middle,
                            double* scale) {
  const auto i = static_cast<Index>(element());
  if (i >= n) return;
  const double pivot = e[i];
  if (scale == nullptr) {
    middle[i] = 2.0 - d[index_at(order, i)] / pivot;
    return;
  }
  middle[i] = 2.0 * pivot - d[index_at(order, i)];
  scale[i] = 1.0 / pivot;
}

__global__ void right_kernel(Index n, ProductRows rows, const Index* order, const double* v, Result first,
                             double* right) {
  const auto i = static_cast<Index>(element());
  if (i < n) right[index_at(order, i)] = v[index_at(order, i)] - rows.middle[i] * (rows.share * first(i));
}

__global__ void sum_kernel(Index n, ProductRows rows, const Index* order, Result first, Result second, double* y,
                           int* non_finite) {
  const auto i = static_cast<Index>(element());
  if (i >= n) return;
  const double scale = rows.scale != nullptr ? rows.scale[i] : 1.0;
  const double value = rows.share * first(i) + scale * second(i);
  y[index_at(order, i)] = value;
  if (!isfinite(value)) *non_finite = 1;
}

}  // namespace

bool ProductOperands::prepare(const Sweep& first, const ProductRows& rows, Index places, const Index* row,
                              cudaStream_t stream) {
  const bool other = first_ != &first;
  const auto size = static_cast<std::size_t>(places);
  if (other) {
    first_ = nullptr;  // until all of it is there
    if (middle_.size() == 0) middle_ = {size, stream};
    if (rows.scale != nullptr && scale_.size() == 0) scale_ = {size, stream};
    if (first_index_.size() == 0) first_index_ = {size, stream};
  }
  if (places > 0) {
    if (other) {
      find_first<<<element_blocks(places), kElementBlock, 0, stream>>>(places, row, first.result_index(),
                                                                       first_index_.data());
      cuda::check_launch("find_first");
    }
    take_factors<<<element_blocks(places), kElementBlock, 0, stream>>>(places, row, rows, middle_.data(),
                                                                       scale_.data());
    cuda::check_launch("take_factors");
  }
  first_ = &first;
  share_ = rows.share;
  return other;
}

void product_rows(Index n, const double* e, const double* d, const Index* order, double* middle, double* scale,
                  cudaStream_t stream) {
  if (n == 0) return;
  rows_kernel<<<element_blocks(n), kElementBlock, 0, stream>>>(n, e, d, order, middle, scale);
  cuda::check_launch("rows_kernel");
}

void product_right(Index n, const ProductRows& rows, const Index* order, const double* v, const Sweep& first,
                   double* right, cudaStream_t stream) {
  if (n == 0) return;
  right_kernel<<<element_blocks(n), kElementBlock, 0, stream>>>(n, rows, order, v, Result(first), right);
  cuda::check_launch("right_kernel");
}

void product_sum(Index n, const ProductRows& rows, const Index* order, const Sweep& first, const Sweep& second,
                 double* y, int* non_finite, cudaStream_t stream) {
  if (n == 0) return;
  sum_kernel<<<element_blocks(n), kElementBlock, 0, stream>>>(n, rows, order, Result(first), Result(second), y,
                                                              non_finite);
  cuda::check_launch("sum_kernel");
}

}  // namespace taskdag::kernels
