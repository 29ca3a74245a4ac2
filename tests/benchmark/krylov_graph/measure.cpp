#include "measure.hpp"

#include <petscdevice_cuda.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace taskdag::benchmark {
namespace {

constexpr double batch_us = 1e4;  // long beside the wait at its end
constexpr int most_in_batch = 200;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Microseconds of `count` runs and the wait for the last one.
PetscErrorCode run_batch(cudaStream_t stream, int count, const Work& work, double* us) {
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(stream));
  const double start = now_us();
  for (int k = 0; k < count; ++k) PetscCall(work());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *us = now_us() - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode median_of_batches(cudaStream_t stream, int repeat, int count, const Work& work, double* us) {
  PetscFunctionBegin;
  std::vector<double> all(static_cast<std::size_t>(repeat));
  for (double& one : all) PetscCall(run_batch(stream, count, work, &one));
  std::sort(all.begin(), all.end());
  *us = all[all.size() / 2] / count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode measure(cudaStream_t stream, int repeat, const Work& work, Times* times) {
  PetscFunctionBegin;
  double once = 0.0;
  for (int k = 0; k < 3; ++k) PetscCall(run_batch(stream, 1, work, &once));
  const int count = std::clamp(static_cast<int>(batch_us / once), 1, most_in_batch);
  PetscCall(median_of_batches(stream, repeat, count, work, &times->back_to_back));
  PetscCall(median_of_batches(stream, repeat, 1, work, &times->with_wait));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::benchmark
