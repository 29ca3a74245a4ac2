/// \file
/// Passes over a finished factor: they scale and round its entries, and find what does not fit into single precision.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/seam.cuh"
#include "csr/row_lanes.cuh"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/precision.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// One warp a row.
__global__ void dominance_kernel(DevicePattern pattern, FactorInput input, double* out) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  double sum = 0.0;
  for (Offset e = pattern.row_offsets[row] + lane; e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const double value = input.value(e);
    sum += pattern.col_indices[e] == row ? -value : fabs(value);
  }
  sum = cuda::LaneGroup(lane, kWarpSize).sum(sum);
  if (lane == 0) out[row] = sum;
}

/// kLanes threads a row.
template <int kLanes>
__global__ void unit_kernel(DevicePattern upper, const double* entries, const double* inverse_pivots, double* unit) {
  const auto row = static_cast<Index>(element() / kLanes);
  if (row >= upper.rows) return;
  const double scale = inverse_pivots[row];
  for (Offset e = upper.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kLanes; e < upper.row_offsets[row + 1];
       e += kLanes) {
    unit[e] = entries[e] * scale;
  }
}

/// A thread a row. back: divides.
__global__ void scale_right_kernel(DevicePattern pattern, const Offset* diagonal, const double* inverse_pivots,
                                   bool back, double* entries) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  const double scale = inverse_pivots[row];
  for (Offset e = diagonal[row] + 1; e < pattern.row_offsets[row + 1]; ++e) {
    entries[e] = back ? entries[e] / scale : entries[e] * scale;
  }
}

__global__ void put_pivots_kernel(Index rows, const Offset* diagonal, const double* inverse_pivots, double* entries) {
  const auto row = static_cast<Index>(element());
  if (row < rows) entries[diagonal[row]] = 1.0 / inverse_pivots[row];
}

/// A warp a row. found: the least of 4 · row + what is lost there.
__global__ void find_loss_kernel(DevicePattern pattern, const double* entries, const double* unit,
                                 const double* inverse_pivots, unsigned long long* found) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const double own = inverse_pivots[row];
  for (Offset e = pattern.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kWarpSize;
       e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const Index column = pattern.col_indices[e];
    if (column == row) continue;
    const double other = inverse_pivots[column];
    const PrecisionLoss loss =
        column < row ? loss_in_single(entries[e], own / other) : loss_in_single(unit[e], other / own);
    if (loss == PrecisionLoss::none) continue;
    atomicMin(found, 4ULL * static_cast<unsigned long long>(row) + static_cast<unsigned long long>(loss));
  }
}

__device__ double rounded(double value) { return double{__double2float_rn(value)}; }

/// A warp a row.
__global__ void round_kernel(DevicePattern pattern, const double* entries, const double* unit,
                             const double* inverse_pivots, bool with_pivots, double* out) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const double inverse = inverse_pivots[row];
  for (Offset e = pattern.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kWarpSize;
       e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const Index column = pattern.col_indices[e];
    double value = entries[e];
    if (column < row) value = rounded(value);
    if (column > row) value = with_pivots ? rounded(unit[e]) / inverse : rounded(unit[e]);
    out[e] = value;
  }
}

__global__ void balance_kernel(DevicePattern pattern, const double* entries, const double* inverse_pivots,
                               double* out) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const double root = sqrt(inverse_pivots[row]);
  for (Offset e = pattern.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kWarpSize;
       e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const Index column = pattern.col_indices[e];
    const double other = sqrt(inverse_pivots[column]);
    // What stands below the diagonal has been divided by the pivot of its column.
    out[e] = column < row ? entries[e] * root / other : entries[e] * root * other;
  }
}

__global__ void not_positive_kernel(Index rows, const double* inverse_pivots, int* first) {
  const auto row = static_cast<Index>(element());
  if (row < rows && !(inverse_pivots[row] > 0.0)) atomicMin(first, row);
}

}  // namespace

void balance(const DevicePattern& pattern, const Factor& factor, double* out, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  balance_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, factor.entries(), factor.inverse_pivots(), out);
  cuda::check_launch("balance_kernel");
}

Index find_not_positive(Index rows, const Factor& factor, cudaStream_t stream) {
  if (rows == 0) return -1;
  const int none = rows;
  const ScratchArray<int> first(1, stream);
  cuda::copy_to_device(first.data(), &none, 1, stream);
  not_positive_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, factor.inverse_pivots(), first.data());
  cuda::check_launch("not_positive_kernel");
  const int found = cuda::fetch(first.data(), stream);
  return found == none ? -1 : found;
}

double diagonal_dominance(const DevicePattern& pattern, const double* values, const Offset* source,
                          cudaStream_t stream) {
  if (pattern.rows == 0) return 0.0;
  ScratchArray<double> dominance(static_cast<std::size_t>(pattern.rows), stream);
  dominance_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, FactorInput{values, source, {}}, dominance.data());
  cuda::check_launch("dominance_kernel");
  return cuda::largest(dominance.data(), pattern.rows, stream);
}

void scale_to_unit(const DevicePattern& upper, const Factor& factor, double* unit, cudaStream_t stream) {
  if (upper.rows == 0) return;
  // A row at once, but for long ones.
  const Offset average = upper.entries / upper.rows;
  const int lanes = average <= 4 ? 4 : average <= 16 ? 16 : kWarpSize;
  with_row_lanes(lanes, upper.rows, [&](auto count, int blocks) {
    unit_kernel<count.value>
        <<<blocks, kElementBlock, 0, stream>>>(upper, factor.entries(), factor.inverse_pivots(), unit);
  });
  cuda::check_launch("unit_kernel");
}

void scale_right_of_diagonal(const DevicePattern& pattern, const Offset* diagonal, const Factor& factor, bool back,
                             double* entries, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  scale_right_kernel<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(
      pattern, diagonal, factor.inverse_pivots(), back, entries);
  cuda::check_launch("scale_right_kernel");
}

void put_pivots(Index rows, const Offset* diagonal, const Factor& factor, double* entries, cudaStream_t stream) {
  if (rows == 0) return;
  put_pivots_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, diagonal, factor.inverse_pivots(),
                                                                        entries);
  cuda::check_launch("put_pivots_kernel");
}

FoundLoss find_precision_loss(const DevicePattern& pattern, const Factor& factor, const double* unit,
                              cudaStream_t stream) {
  constexpr unsigned long long kNothing = ~0ULL;
  if (pattern.rows == 0) return {};
  const ScratchArray<unsigned long long> found(1, stream);
  cuda::check(cudaMemsetAsync(found.data(), 0xff, sizeof(unsigned long long), stream), "clearing a number");
  find_loss_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, factor.entries(), unit, factor.inverse_pivots(), found.data());
  cuda::check_launch("find_loss_kernel");
  const unsigned long long least = cuda::fetch(found.data(), stream);
  if (least == kNothing) return {};
  return {static_cast<PrecisionLoss>(least % 4), static_cast<Index>(least / 4)};
}

void round_factor(const DevicePattern& pattern, const Factor& factor, const double* unit, bool with_pivots, double* out,
                  cudaStream_t stream) {
  if (pattern.rows == 0) return;
  round_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, factor.entries(), unit, factor.inverse_pivots(), with_pivots, out);
  cuda::check_launch("round_kernel");
}

}  // namespace taskdag::kernels
