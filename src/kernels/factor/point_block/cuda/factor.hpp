/// \file
/// Factorisations by point blocks on CUDA.
///
/// The numeric phase: a warp a block row, in the order of levels by tickets. A row at work stands in shared memory
/// where it fits. Hand-over: a word a row, set (release) when the row is in memory, waited for (acquire) by a lane of
/// each warp that needs the row. No value is looked at for it, so bad numbers end as good ones do.
///
/// Sweeps: a group of 8, 16 or 32 lanes a block row; the rows of a warp share a level, and are handed out in the order
/// of levels by tickets. Lane r of a block takes its row r: it waits for element r of the operand and passes it on to
/// the block's other lanes. Hand-over by value, each element its own flag (base/handover.hpp).
///
/// Why both end: tickets are handed out in the order of levels, so a row waits for smaller tickets only, and no lane
/// for a lane of its own warp. The smallest unfinished ticket is held by a running warp, which waits for nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/point_block/pattern.hpp"

namespace taskdag::kernels::point_block {

inline constexpr int kWarpLanes = 32;

/// Rows of a sweep in the order in which they are handed out; device memory.
struct SweepOrder {
  cuda::DeviceArray<Index> rows;  ///< 32 / lanes for each task; −1: none
  Index tasks = 0;                ///< of a warp
  int lanes = kWarpLanes;         ///< of a row
};

/// The blocks of a sweep by rows; null `blocks`: those of the factor in its own order. Device memory.
struct SweepRows {
  const Offset* offsets;
  const Offset* diagonal;
  const Index* columns;
  const Offset* blocks;
};

class DeviceFactor {
 public:
  /// `pattern` must outlive the factor. block_size: 2 to kLargestBlock. Synchronises `stream`.
  DeviceFactor(const Pattern& pattern, int block_size, cudaStream_t stream);

  /// One numeric phase. values: the matrix', in device memory. `amount` > 0: pivots of 0 take a shift. Synchronises.
  FactorReport factor(const double* values, double amount, cudaStream_t stream);

  /// Makes what a transposed application needs; not while `stream` is being captured. Synchronises.
  void prepare_transposed(cudaStream_t stream);
  [[nodiscard]] bool transposes() const { return pattern_->symmetric() || turned_.has_value(); }

  /// x = M⁻¹ b, transposed: M⁻ᵀ b, in device memory; one array for both will do. Orders of b and x by block rows; null:
  /// natural. flag: raised where x is not finite. Asynchronous, two launches.
  void apply(bool transposed, const double* b, const Index* in, double* x, const Index* out, int* flag,
             cudaStream_t stream);

  [[nodiscard]] const double* values() const { return values_.data(); }
  [[nodiscard]] const Offset* source() const { return source_.data(); }
  [[nodiscard]] const Offset* diagonal() const { return diagonal_.data(); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  /// The transposed pattern, whose blocks are those of the factor.
  struct Turned {
    cuda::DeviceArray<Offset> offsets;
    cuda::DeviceArray<Offset> diagonal;
    cuda::DeviceArray<Index> columns;
    cuda::DeviceArray<Offset> blocks;
    SweepOrder lower;
    SweepOrder upper;
  };

  const Pattern* pattern_;
  int block_size_;
  int staged_;  ///< elements of a row at work that a warp has room for in shared memory
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  cuda::DeviceArray<Offset> diagonal_;
  cuda::DeviceArray<Offset> source_;
  cuda::DeviceArray<Offset> mirror_;
  cuda::DeviceArray<Index> order_;  ///< of the numeric phase
  SweepOrder lower_;
  SweepOrder upper_;
  std::optional<Turned> turned_;
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<int> done_;      ///< by row, 1: in memory; then the ticket counter of the numeric phase
  cuda::DeviceArray<double> slots_;  ///< results of the first sweep, then of the second
  cuda::DeviceArray<int> tickets_;   ///< of either sweep
  cuda::DeviceArray<FactorReport> report_;
  cuda::StartState start_;
};

}  // namespace taskdag::kernels::point_block
