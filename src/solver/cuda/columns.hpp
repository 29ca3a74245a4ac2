/// \file
/// Several right-hand sides and solutions on CUDA.
#pragma once

#include "solver/cuda/staging.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::cuda {

/// Right-hand sides and solutions in device memory, column by column: column k is b + k · ldb and x + k · ldx.
struct CudaColumns {
  Index count = 0;  ///< 1 to kernels::many::kMostColumns
  const double* b = nullptr;
  std::int64_t ldb = 0;
  double* x = nullptr;
  std::int64_t ldx = 0;
};

/// Runs `solve(device_columns)` for columns of `rows` doubles in either space.
template <class Solve>
void with_device_columns(CudaStaging& staging, CudaVectorPair& vectors, Index rows, const CudaColumns& columns,
                         bool on_device, cudaStream_t stream, const Solve& solve) {
  if (on_device) {
    solve(columns);
    return;
  }
  const auto size = static_cast<std::size_t>(rows);
  vectors.reserve(size * static_cast<std::size_t>(columns.count), stream);
  const std::int64_t ld = rows;
  for (Index k = 0; k < columns.count; ++k) {
    staging.upload(vectors.in() + k * ld, columns.b + k * columns.ldb, size, stream);
  }
  solve(CudaColumns{columns.count, vectors.in(), ld, vectors.out(), ld});
  for (Index k = 0; k < columns.count; ++k) {
    staging.download(columns.x + k * columns.ldx, vectors.out() + k * ld, size, stream);
  }
}

}  // namespace taskdag::cuda
