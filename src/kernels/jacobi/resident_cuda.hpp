/// \file
/// Jacobi sweeps on CUDA in one kernel whose blocks keep their rows in shared memory.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "kernels/jacobi/resident.hpp"

namespace taskdag::kernels {

/// Blocks that a matrix of so many rows is cut into on the current device; all of them run at the same time.
Index resident_blocks(Index rows, int lanes);

class CudaResident {
 public:
  /// layout: with at most resident_blocks() blocks. Uploads it. @throws OutOfMemory, DeviceError
  CudaResident(const ResidentLayout& layout, cudaStream_t stream);
  /// Whether blocks of the layout fit the current device, all at the same time.
  static bool can_run(const ResidentLayout& layout, int lanes);

  /// x = result of `sweeps` sweeps from zero. pattern, values: of the matrix the layout was made for. Asynchronous on
  /// `stream`; may be captured.
  void enqueue(const DevicePattern& pattern, const double* values, const double* scale, const double* b, double* x,
               int sweeps, int lanes, cudaStream_t stream);
  [[nodiscard]] std::int64_t bytes() const;

 private:
  std::size_t shared_bytes_;
  cuda::DeviceArray<ResidentBlock> block_;
  cuda::DeviceArray<std::uint16_t> place_;
  cuda::DeviceArray<std::uint32_t> halo_;
  cuda::DeviceArray<std::uint16_t> row_of_slot_;
  cuda::DeviceArray<ulonglong2> slot_;      ///< two for each value
  cuda::DeviceArray<std::uint32_t> state_;  ///< sweeps of all runs, blocks that have ended
};

}  // namespace taskdag::kernels
