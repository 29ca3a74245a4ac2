#include <algorithm>
#include <limits>

#include "backends/cuda/stream.hpp"
#include "solver/cuda_sweep.hpp"
#include "solver/cuda_trial.hpp"

namespace taskdag::cuda {

namespace {

constexpr int kTimedSolves = 3;

}  // namespace

SweepTrial::SweepTrial(const kernels::SweepInput& input, cudaStream_t stream)
    : stream_(stream),
      values_(static_cast<std::size_t>(input.pattern.entries), stream),
      rhs_(extent(input.rhs_index, input.pattern.rows, stream), stream),
      x_(extent(input.x_index, input.pattern.rows, stream), stream),
      non_finite_(1, stream) {
  for (const ScratchArray<double>* const array : {&values_, &rhs_}) {
    if (array->size() == 0) continue;
    check(cudaMemsetAsync(array->data(), 0, array->size() * sizeof(double), stream), "clearing trial values");
  }
}

double SweepTrial::microseconds(kernels::Sweep& sweep) {
  sweep.load_values(values_.data(), nullptr, stream_);
  sweep.solve(rhs_.data(), x_.data(), non_finite_.data(), stream_);
  float least = std::numeric_limits<float>::max();
  const UniqueEvent begin;
  const UniqueEvent end;
  for (int k = 0; k < kTimedSolves; ++k) {
    begin.record(stream_);
    sweep.solve(rhs_.data(), x_.data(), non_finite_.data(), stream_);
    end.record(stream_);
    least = std::min(least, end.milliseconds_since(begin));
  }
  return 1000.0 * static_cast<double>(least);
}

}  // namespace taskdag::cuda
