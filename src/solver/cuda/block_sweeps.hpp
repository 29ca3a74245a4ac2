/// \file
/// Applications of a factor by point blocks on the device, whatever their sweeps go by.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/factor/point_block/cuda/rows.hpp"
#include "solver/cuda/sweep_pair.hpp"

namespace taskdag::cuda {

class BlockSweeps {
 public:
  BlockSweeps() = default;
  virtual ~BlockSweeps() = default;
  BlockSweeps(const BlockSweeps&) = delete;
  BlockSweeps& operator=(const BlockSweeps&) = delete;

  /// Takes the values of the factor. Asynchronous.
  virtual void load(const kernels::point_block::FactorBlocks& factor, cudaStream_t s) = 0;

  /// Whether a transposed application has what it needs.
  [[nodiscard]] virtual bool transposes() const = 0;
  /// Makes that, with the factor's values. Synchronises `s`.
  virtual void prepare_transposed(const kernels::point_block::FactorBlocks& factor, cudaStream_t s) = 0;

  /// x = M⁻¹ b, transposed: M⁻ᵀ b, in device memory; one array for both will do. non_finite: raised where x is not
  /// finite. Asynchronous.
  virtual void apply(const kernels::point_block::FactorBlocks& factor, bool transposed, const double* b, double* x,
                     int* non_finite, cudaStream_t s) = 0;

  [[nodiscard]] virtual const SweepPair& sweeps() const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

/// What both kinds are made of. Orders are of block rows; empty: natural. blocks: of the rows of the matrix, null:
/// none; must outlive the sweeps. `symmetric`: an application is its own transpose. `complex`: elements of blocks come
/// from complex numbers, so a block's transpose is not the numbers' own.
struct BlockSweepsInput {
  ScheduleRequest request;
  bool symmetric = false;
  bool complex = false;
  const DeviceArray<Index>& row_order;
  const DeviceArray<Index>& col_order;
  const RowBlocks* blocks = nullptr;
};

/// By real rows, on any schedule (row_sweeps.cu). Synchronises `s`.
std::unique_ptr<BlockSweeps> make_row_sweeps(const BlockSweepsInput& input,
                                             const kernels::point_block::FactorBlocks& factor, cudaStream_t s);
/// Of a factor whose blocks are complex numbers, by these (complex_sweeps.cu): half as many rows, with half the entries
/// to wait for, of half the bytes. They have one schedule, so deep triangles go by real rows. Synchronises `s`.
std::unique_ptr<BlockSweeps> make_complex_sweeps(const BlockSweepsInput& input,
                                                 const kernels::point_block::FactorBlocks& factor, cudaStream_t s);

}  // namespace taskdag::cuda
