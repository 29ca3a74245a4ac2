#include "backends/cuda/stream.hpp"
#include "solver/cuda/sweep.hpp"
#include "solver/cuda/trial.hpp"

namespace taskdag::cuda {

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
  return time_of([&] { sweep.solve(rhs_.data(), x_.data(), non_finite_.data(), stream_); }, stream_);
}

}  // namespace taskdag::cuda
