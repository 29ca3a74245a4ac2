#include <algorithm>
#include <utility>

#include "csr/gather.hpp"
#include "kernels/sptrsv/many/cost.hpp"
#include "solver/cuda/many.hpp"

namespace taskdag::cuda {

namespace {

namespace many = kernels::many;

DeviceArray<Index> inverse_of(const Index* index, Index rows, cudaStream_t stream) {
  if (index == nullptr || rows == 0) return {};
  DeviceArray<Index> inverse(static_cast<std::size_t>(rows), stream);
  kernels::invert(rows, index, inverse.data(), stream);
  return inverse;
}

kernels::ManySweep make(const AnalysedTriangle& triangle, const Offset* source, const Index* in, cudaStream_t stream) {
  kernels::SweepInput input = triangle.input(source);
  input.rhs_index = in;
  return {input, stream};
}

}  // namespace

ManyPair::ManyPair(const AnalysedTriangle& forward, const Offset* forward_source, const Index* in,
                   const AnalysedTriangle& backward, const Offset* backward_source, const Index* out,
                   cudaStream_t stream)
    : rows_(forward.pattern.rows),
      first_(make(forward, forward_source, in, stream)),
      second_(make(backward, backward_source, nullptr, stream)),
      inverse_out_(inverse_of(out, rows_, stream)) {}

void ManyPair::prepare(Index count, cudaStream_t stream) {
  const int stride = many::stride_of(count);
  const auto size = static_cast<std::size_t>(std::max(first_.slots(), second_.slots())) * static_cast<unsigned>(stride);
  if (work_.size() < size) {
    work_ = {size, stream};
    slots_ = {size, stream};
    many::fill_not_yet(slots_.data(), static_cast<std::int64_t>(size), stream);
    stride_ = 0;
  }
  // What an application leaves in work_ lies where one with another stride publishes.
  if (stride_ != stride) many::fill_not_yet(work_.data(), static_cast<std::int64_t>(work_.size()), stream);
  stride_ = stride;
}

void ManyPair::solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, work_.data(), stream);
  first_.solve(columns.count, work_.data(), slots_.data(), non_finite, stream);
  second_.solve(columns.count, slots_.data(), work_.data(), non_finite, stream);
  many::to_columns(rows_, columns.count, work_.data(), inverse_out_.data(), nullptr, columns.x, columns.ldx, stream);
}

void ManyPair::solve_first(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, work_.data(), stream);
  first_.solve(columns.count, work_.data(), slots_.data(), non_finite, stream);
  many::to_columns(rows_, columns.count, slots_.data(), nullptr, scale, columns.x, columns.ldx, stream);
  many::fill_not_yet(slots_.data(), static_cast<std::int64_t>(slots_.size()), stream);
}

void ManyPair::solve_second(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::fill_not_yet(work_.data(), static_cast<std::int64_t>(work_.size()), stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, scale, slots_.data(), stream);
  second_.solve(columns.count, slots_.data(), work_.data(), non_finite, stream);
  many::to_columns(rows_, columns.count, work_.data(), inverse_out_.data(), nullptr, columns.x, columns.ldx, stream);
}

ManySingle::ManySingle(const AnalysedTriangle& triangle, const Offset* source, cudaStream_t stream)
    : rows_(triangle.pattern.rows), sweep_(make(triangle, source, nullptr, stream)) {}

void ManySingle::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  sweep_.load_values(source, pivot, stream);
}

void ManySingle::prepare(Index count, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(sweep_.slots()) * static_cast<unsigned>(many::stride_of(count));
  if (in_.size() < size) {
    in_ = {size, stream};
    out_ = {size, stream};
    count_ = 0;
  }
  if (count_ != count) {  // what solves of other columns have left lies where this one or the next publishes
    for (DeviceArray<double>* const rows : {&in_, &out_}) {
      many::fill_not_yet(rows->data(), static_cast<std::int64_t>(rows->size()), stream);
    }
  }
  count_ = count;
}

void ManySingle::solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, in_.data(), stream);
  sweep_.solve(columns.count, in_.data(), out_.data(), non_finite, stream);
  many::to_columns(rows_, columns.count, out_.data(), nullptr, nullptr, columns.x, columns.ldx, stream);
  std::swap(in_, out_);
}

bool many_pays(const ChosenSweep& sweep, Index count) {
  return count > 1 && many::microseconds(sweep.features, count) < count * sweep.at_least;
}

bool many_pays(const ChosenSweep& first, const ChosenSweep& second, Index count) {
  if (count == 1) return false;
  const double together = many::microseconds(first.features, count) + many::microseconds(second.features, count);
  return together < count * (first.at_least + second.at_least);
}

}  // namespace taskdag::cuda
