/// \file
/// The numeric phase of factorisations by point blocks on CUDA.
///
/// A warp a block row, in the order of levels by tickets. A row at work stands in shared memory where it fits.
/// Hand-over: a word a row, set (release) when the row is in memory, waited for (acquire) by a lane of each warp that
/// needs the row. No value is looked at for it, so bad numbers end as good ones do.
///
/// Why it ends: tickets are handed out in the order of levels, so a row waits for smaller tickets only. The smallest
/// unfinished ticket is held by a running warp, which waits for nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/point_block/cuda/pattern.hpp"
#include "kernels/factor/point_block/cuda/rows.hpp"
#include "kernels/factor/point_block/pivoting.hpp"

namespace taskdag::kernels::point_block {

/// A row of the factor, and its entries.
struct alignas(16) RowEntries {
  Index row;
  Offset first;
  Offset diagonal;
  Offset end;
};

class DeviceFactor {
 public:
  /// block_size: 2 to kLargestBlock. Synchronises `stream`.
  DeviceFactor(DeviceFactorPattern pattern, int block_size, cudaStream_t stream);

  /// One attempt. values: the matrix', in device memory. Synchronises.
  FactorReport factor(const double* values, const Pivoting& pivoting, cudaStream_t stream);

  [[nodiscard]] FactorBlocks blocks() const {
    return {pattern_.rows,           pattern_.blocks,          block_size_,   pattern_.offsets.data(),
            pattern_.columns.data(), pattern_.diagonal.data(), values_.data()};
  }
  [[nodiscard]] const DeviceFactorPattern& pattern() const { return pattern_; }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void put_in_order(cudaStream_t stream);

  DeviceFactorPattern pattern_;
  int block_size_;
  int staged_ = 0;   ///< elements of a row at work that a warp has room for in shared memory
  int fetched_ = 0;  ///< elements of a finished row that it has room for there
  int ahead_ = 0;    ///< finished rows of which it has those
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<RowEntries> order_;  ///< of rows, by levels
  cuda::DeviceArray<int> done_;          ///< by row, 1: in memory; then the ticket counter
  cuda::DeviceArray<FactorReport> report_;
};

/// What the shift positive_definite starts from, of a matrix of complex numbers: max over its rows of Σ|a_ij| − |a_ii|
/// − Re a_ii. All arrays are of device memory. Synchronises.
double dominance_of_numbers(Index rows, const Offset* offsets, const Index* columns, const double* values,
                            cudaStream_t stream);

}  // namespace taskdag::kernels::point_block
