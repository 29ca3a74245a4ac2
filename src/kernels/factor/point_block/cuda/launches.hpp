/// \file
/// The kernel of the numeric phase, as the host launches it. All pointers are of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"

namespace taskdag::kernels::point_block {

struct FactorArguments {
  Index rows;  ///< of blocks
  int block_size;
  int staged;   ///< elements of a row at work that a warp has in shared memory; longer rows are worked on in place
  int fetched;  ///< elements of a finished row that it has room for there; 0, or no less than what comes before a list
  int ahead;    ///< rows of which it has so many there, 1 to 4
  const Offset* offsets;
  const Index* columns;
  const Offset* diagonal;
  const Offset* source;
  const Offset* mirror;     ///< null: ilu
  const RowEntries* order;  ///< rows as tickets hand them out
  const double* input;
  double* values;
  int* done;  ///< by row; 0 before
  int* ticket;
  FactorReport* report;
  Pivoting pivoting;
};
void launch_factor(const FactorArguments& arguments, cudaStream_t stream);

}  // namespace taskdag::kernels::point_block
