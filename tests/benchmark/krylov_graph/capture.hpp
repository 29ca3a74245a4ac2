/// \file
/// What PETSc submits to its stream, captured into a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>
#include <petscsys.h>

#include <functional>
#include <string>

namespace taskdag::benchmark {

using Work = std::function<PetscErrorCode()>;

/// A graph, or the reason why there is none.
class CapturedWork {
 public:
  /// Runs `work` once, capturing. An error inside is noted, not printed; PETSc's objects that `work` used are then in
  /// no state to be used again.
  CapturedWork(cudaStream_t stream, cudaStreamCaptureMode mode, const Work& work);
  ~CapturedWork();
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  /// Empty where there is a graph. Else the first error, and the functions that it came through, innermost first.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] int kernels() const { return kernels_; }
  [[nodiscard]] int other_nodes() const { return other_nodes_; }  ///< copies, fills, events, allocations

  /// Replays the graph. @pre failure() is empty
  PetscErrorCode launch() const;

 private:
  void count_nodes();
  void note(const char* call, cudaError_t error);

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t replay_ = nullptr;
  std::string failure_;
  int kernels_ = 0;
  int other_nodes_ = 0;
};

}  // namespace taskdag::benchmark
