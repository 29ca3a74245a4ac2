/// \file
/// Sweeps to several columns in one pass: set-up and launch.
#include <algorithm>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/many/many.hpp"
#include "kernels/sptrsv/many/pack.hpp"
#include "kernels/sptrsv/many/solve.cuh"

namespace taskdag::kernels {

namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

__global__ void load_kernel(Offset entries, const Offset* source, const double* values, double* value) {
  const auto e = static_cast<Offset>(element());
  if (e < entries) value[e] = source[e] >= 0 ? values[source[e]] : 1.0;
}

__global__ void load_pivots(Index places, Index rows, const many::Place* place, const double* values, double* pivot) {
  const auto p = static_cast<Index>(element());
  if (p < places) pivot[p] = place[p].slot < rows ? values[place[p].slot] : 1.0;
}

/// Warps in flight: some average levels, so that rows are fetched before they are needed, and no more, because waiting
/// warps poll; but some warps a multiprocessor at least. Measured on an H200.
constexpr int kLookaheadLevels = 16;
constexpr int kWarpsPerMultiprocessor = 4;

template <int Stride>
void launch(const many::SolveParameters& p, Index levels, cudaStream_t stream) {
  const auto& limits = cuda::device_limits();
  int per_multiprocessor = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, many::level_kernel<Stride>,
                                                            many::kLevelWarps * cuda::kWarpSize, 0),
              "asking for the occupancy of a kernel");
  constexpr int kInBlock = many::kLevelWarps;
  const std::int64_t per_level = pieces_of(p.places, levels);
  const std::int64_t least = std::int64_t{limits.multiprocessors} * kWarpsPerMultiprocessor;
  const std::int64_t most = std::int64_t{limits.multiprocessors} * per_multiprocessor * kInBlock;
  const std::int64_t warps = std::min({std::max(per_level * kLookaheadLevels, least), most, std::int64_t{p.places}});
  many::level_kernel<Stride>
      <<<static_cast<int>((warps + kInBlock - 1) / kInBlock), kInBlock * cuda::kWarpSize, 0, stream>>>(p);
  cuda::check_launch("level_kernel");
}

}  // namespace

ManySweep::ManySweep(const SweepInput& input, cudaStream_t stream)
    : rows_(input.pattern.rows), levels_(input.levels->levels) {
  many::Packed packed = many::pack(input, stream);
  slots_ = packed.slots;
  entries_ = packed.entries;
  place_ = std::move(packed.place);
  column_ = std::move(packed.column);
  source_ = std::move(packed.source);
  gate_ = std::move(packed.gate);
  value_ = {static_cast<std::size_t>(entries_), stream};
  counter_ = {static_cast<std::size_t>(many::kLevelWarps) * many::kCounterStride, stream};
  spare_counter_ = {counter_.size(), stream};
}

void ManySweep::reset(cudaStream_t stream) {
  for (const auto* const counter : {&counter_, &spare_counter_}) {
    cuda::check(cudaMemsetAsync(counter->data(), 0, counter->size() * sizeof(int), stream), "resetting a counter");
  }
}

void ManySweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  if (entries_ > 0) {
    load_kernel<<<element_blocks(entries_), kElementBlock, 0, stream>>>(entries_, source_.data(), source,
                                                                        value_.data());
    cuda::check_launch("load_kernel");
  }
  unit_pivots_ = pivot == nullptr;
  if (unit_pivots_ || slots_ == 0) return;
  if (pivot_.size() == 0) pivot_ = {static_cast<std::size_t>(slots_), stream};
  load_pivots<<<element_blocks(slots_), kElementBlock, 0, stream>>>(slots_, rows_, place_.data(), pivot, pivot_.data());
  cuda::check_launch("load_pivots");
}

void ManySweep::solve(Index count, double* in, double* out, int* non_finite, cudaStream_t stream) {
  if (slots_ == 0) return;
  const many::SolveParameters parameters{place_.data(),
                                         column_.data(),
                                         value_.data(),
                                         unit_pivots_ ? nullptr : pivot_.data(),
                                         gate_.data(),
                                         slots_,
                                         rows_,
                                         count,
                                         in,
                                         out,
                                         non_finite,
                                         counter_.data(),
                                         spare_counter_.data()};
  switch (many::stride_of(count)) {
    case 4:
      launch<4>(parameters, levels_, stream);
      break;
    case 8:
      launch<8>(parameters, levels_, stream);
      break;
    case 16:
      launch<16>(parameters, levels_, stream);
      break;
    default:
      launch<32>(parameters, levels_, stream);
  }
  std::swap(counter_, spare_counter_);
}

std::int64_t ManySweep::bytes() const {
  return place_.bytes() + column_.bytes() + source_.bytes() + value_.bytes() + pivot_.bytes() + gate_.bytes() +
         counter_.bytes() + spare_counter_.bytes();
}

}  // namespace taskdag::kernels
