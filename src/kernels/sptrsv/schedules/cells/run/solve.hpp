/// \file
/// The kernel that runs cells.
#pragma once

#include "kernels/sptrsv/schedules/cells/pack/steps.hpp"

namespace taskdag::kernels::cells {

/// One solve; arrays in device memory, index arrays per position.
struct SolveArguments {
  const Cell* cell;
  const Step* step;
  const Batch* batch;
  const OutsideRow* outside_row;
  const std::byte* stream;
  const Index* outside_position;
  const double* outside_value;
  Index cells;
  int chunk_steps;
  int ways;
  const Target* target;
  const double* rhs;
  double idle_rhs;     ///< of positions without a row
  double* x;           ///< or null
  double* slots;       ///< positions + 1; the last one is 0
  double* next_slots;  ///< reset to not_yet
  unsigned* ticket;    ///< not that of the last solve, which may overlap with this one
  unsigned before;     ///< tickets that earlier solves have taken of it
  int* non_finite;
};

/// Must come before solve() on each device: lets the kernels for so many lanes a row have their shared memory.
void prepare(int ways);

/// Launches the kernel. reciprocal: a row's result is one over its sum; for one lane a row. overlaps: it may start
/// while the kernel before is still at work, and loads what does not change until that has ended. Asynchronous.
/// @returns how many tickets it takes
unsigned solve(const SolveArguments& arguments, bool reciprocal, bool overlaps, cudaStream_t stream);

/// Whether the current device can run it, and this library holds code for such devices.
bool supported();

}  // namespace taskdag::kernels::cells
