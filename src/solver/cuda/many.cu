#include <algorithm>
#include <utility>

#include "backends/cuda/device_rates.hpp"
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

bool ManyVectors::reserve(std::size_t size, bool keep_old, cudaStream_t stream) {
  if (first_.size() >= size) return false;
  DeviceArray<double> first(size, stream);
  DeviceArray<double> second(size, stream);
  if (keep_old) {
    old_.reserve(old_.size() + 2);
    old_.push_back(std::move(first_));
    old_.push_back(std::move(second_));
  }
  first_ = std::move(first);
  second_ = std::move(second);
  return true;
}

std::int64_t ManyVectors::bytes() const {
  std::int64_t sum = first_.bytes() + second_.bytes();
  for (const DeviceArray<double>& array : old_) sum += array.bytes();
  return sum;
}

void ManyPair::prepare(Index count, cudaStream_t stream) {
  const int stride = many::stride_of(count);
  const auto size = static_cast<std::size_t>(std::max(first_.slots(), second_.slots())) * static_cast<unsigned>(stride);
  bool reset = start_.must_reset(stream);
  reset = vectors_.reserve(size, start_.captured(), stream) || reset;
  if (reset) {
    first_.reset(stream);
    second_.reset(stream);
    many::fill_not_yet(slots(), vectors_.size(), stream);
  }
  // What an application leaves in work() lies where one with another stride publishes.
  if (reset || stride_ != stride) many::fill_not_yet(work(), vectors_.size(), stream);
  stride_ = stride;
}

void ManyPair::solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, work(), stream);
  first_.solve(columns.count, work(), slots(), non_finite, stream);
  second_.solve(columns.count, slots(), work(), non_finite, stream);
  start_.launched();
  many::to_columns(rows_, columns.count, work(), inverse_out_.data(), nullptr, columns.x, columns.ldx, stream);
}

void ManyPair::solve_first(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, work(), stream);
  first_.solve(columns.count, work(), slots(), non_finite, stream);
  many::to_columns(rows_, columns.count, slots(), nullptr, scale, columns.x, columns.ldx, stream);
  many::fill_not_yet(slots(), vectors_.size(), stream);
  start_.launched();
}

void ManyPair::solve_second(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::fill_not_yet(work(), vectors_.size(), stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, scale, slots(), stream);
  second_.solve(columns.count, slots(), work(), non_finite, stream);
  start_.launched();
  many::to_columns(rows_, columns.count, work(), inverse_out_.data(), nullptr, columns.x, columns.ldx, stream);
}

ManySingle::ManySingle(const AnalysedTriangle& triangle, const Offset* source, cudaStream_t stream)
    : rows_(triangle.pattern.rows), sweep_(make(triangle, source, nullptr, stream)) {}

void ManySingle::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  sweep_.load_values(source, pivot, stream);
}

void ManySingle::prepare(Index count, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(sweep_.slots()) * static_cast<unsigned>(many::stride_of(count));
  bool reset = start_.must_reset(stream);
  reset = vectors_.reserve(size, start_.captured(), stream) || reset;
  if (reset) sweep_.reset(stream);
  if (reset || count_ != count) {  // what solves of other columns have left lies where this one or the next publishes
    many::fill_not_yet(vectors_.first(), vectors_.size(), stream);
    many::fill_not_yet(vectors_.second(), vectors_.size(), stream);
  }
  count_ = count;
}

void ManySingle::solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream) {
  prepare(columns.count, stream);
  many::to_rows(rows_, columns.count, columns.b, columns.ldb, nullptr, vectors_.first(), stream);
  sweep_.solve(columns.count, vectors_.first(), vectors_.second(), non_finite, stream);
  start_.launched();
  many::to_columns(rows_, columns.count, vectors_.second(), nullptr, nullptr, columns.x, columns.ldx, stream);
  vectors_.swap();
}

bool many_pays(const ChosenSweep& sweep, Index count) {
  return count > 1 && many::microseconds(sweep.features, count, device_rates()) < count * sweep.at_least;
}

bool many_pays(const ChosenSweep& first, const ChosenSweep& second, Index count) {
  if (count == 1) return false;
  const DeviceRates rates = device_rates();
  const double together =
      many::microseconds(first.features, count, rates) + many::microseconds(second.features, count, rates);
  return together < count * (first.at_least + second.at_least);
}

}  // namespace taskdag::cuda
