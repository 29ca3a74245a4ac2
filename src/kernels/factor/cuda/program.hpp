/// \file
/// The numeric elimination as a static program of the task engine: a task is a warp task of the lists.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "kernels/factor/cuda/numeric.hpp"
#include "taskdag/engine/static/order.hpp"

namespace taskdag::kernels {

/// What one attempt takes, beside slots.
struct EliminationArguments {
  EliminationView lists;
  FactorInput input;
  PivotRule rule;
  double* entries;
  double* inverse_pivots;
  FactorReport* report;
};

class EliminationProgram {
 public:
  /// Synchronises `stream`. For dependencies other than ordered the graph of the tasks is made on the host.
  EliminationProgram(const Elimination& elimination, FactorKind kind, const engine::StaticOptions& options,
                     cudaStream_t stream);
  ~EliminationProgram();
  /// One attempt. Asynchronous.
  void enqueue(const EliminationArguments& arguments, cudaStream_t stream);
  /// The device is idle.
  [[nodiscard]] engine::Report report() const;
  [[nodiscard]] std::int64_t bytes() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag::kernels
