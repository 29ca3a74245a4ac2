/// \file
/// Sweeps by one thread block: the plan on the device, and its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/schedules/one_block/plan.hpp"

namespace taskdag::kernels::one_block {

/// Right-hand sides and solutions: column k of `columns` is rhs + k · ld_rhs and x + k · ld_x. Device memory.
struct Vectors {
  const double* rhs = nullptr;
  const Index* rhs_index = nullptr;  ///< row → entry; null: the same
  std::int64_t ld_rhs = 0;
  double* x = nullptr;
  const Index* x_index = nullptr;  ///< row → entry; null: the same
  std::int64_t ld_x = 0;
  int columns = 1;
};

/// A plan in device memory with the values of its entries. A thread block has the vector to itself, in its shared
/// memory where it fits, else in global memory; what separates levels is a barrier of the block. Nothing waits for a
/// value, so solves end on any numbers.
class Program {
 public:
  Program() = default;
  /// Synchronises `stream`: the plan may go.
  Program(const Plan& plan, Index rows, cudaStream_t stream);

  /// Where values go: of entries as in Plan::source, and the inverse pivots of Plan::row; 0 for padding. To be filled
  /// on the stream of the next run.
  [[nodiscard]] double* values() const { return values_.data(); }
  [[nodiscard]] double* pivots() const { return values_.data() + entries_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] std::int64_t places() const { return places_; }  ///< of Plan::row, and of pivots()

  /// A thread block a column (@pre there are some), all at once where they fit into shared memory. unit_pivots:
  /// pivots() are not read, all are 1. Sets *non_finite where a solution is not finite. rhs and x may be the same array
  /// whatever their index maps. Asynchronous.
  void run(const Vectors& vectors, bool unit_pivots, int* non_finite, cudaStream_t stream);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  Index rows_ = 0;
  int threads_ = kWarp;
  bool shared_ = false;  ///< the vector fits into the shared memory of a block
  std::int64_t entries_ = 0;
  std::int64_t places_ = 0;
  int step_count_ = 0;
  cuda::DeviceArray<Step> steps_;  ///< and an empty one
  cuda::DeviceArray<Index> row_;   ///< this and the next as the vector's bytes before; padding: an element behind it
  cuda::DeviceArray<Index> column_;
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<double> work_;  ///< the vector, where it does not
};

}  // namespace taskdag::kernels::one_block
