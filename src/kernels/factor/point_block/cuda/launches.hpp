/// \file
/// The kernels of point blocks, as the host launches them. All pointers are of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"

namespace taskdag::kernels::point_block {

struct FactorArguments {
  Index rows;  ///< of blocks
  int block_size;
  int staged;  ///< elements of a row at work that a warp has in shared memory; longer rows are worked on in place
  const Offset* offsets;
  const Index* columns;
  const Offset* diagonal;
  const Offset* source;
  const Offset* mirror;  ///< null: ilu
  const Index* order;    ///< rows as tickets hand them out
  const double* input;
  double* values;
  int* done;  ///< by row; 0 before
  int* ticket;
  FactorReport* report;
  double amount;  ///< above 0: pivots of 0 take a shift
};
void launch_factor(const FactorArguments& arguments, cudaStream_t stream);

struct SweepArguments {
  Triangle triangle;
  bool transposed;  ///< blocks are taken transposed
  bool scales;      ///< results are multiplied by the inverse diagonal blocks
  int block_size;
  int lanes;           ///< of a row
  Index tasks;         ///< of a warp
  const Index* order;  ///< rows of the tasks
  SweepRows rows;
  const double* values;
  const double* rhs;
  const Index* rhs_order;  ///< null: as the rows
  double* slots;           ///< of this sweep: not_yet() before
  double* reset;           ///< of the other sweep, whose results nobody waits for; may be `rhs`
  double* out;             ///< null: results stay in the slots
  const Index* out_order;
  int* ticket;
  int* reset_ticket;
  int* flag;  ///< with `out`
};
void launch_sweep(const SweepArguments& arguments, cudaStream_t stream);

/// Slots and both tickets, as sweeps want to find them.
void launch_reset(double* slots, std::int64_t count, int* tickets, cudaStream_t stream);

}  // namespace taskdag::kernels::point_block
