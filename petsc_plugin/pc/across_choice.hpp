/// \file
/// -pc_taskdag_across auto: whether a preconditioner of the whole matrix is expected to solve sooner than one of each
/// rank's own rows and columns. Counts in, an estimate out; where they come from is across.cpp.
#pragma once

#include <cstdint>

namespace taskdag::petsc {

/// What is known of a matrix before it is analysed: of the rank with most.
struct AcrossCounts {
  std::int64_t rows = 0;
  std::int64_t entries = 0;  ///< of these rows
  std::int64_t ghosts = 0;   ///< columns of other ranks that they have entries in
  bool on_gpus = false;      ///< where ranks reach each other's memory
};

/// Iterations are those of one rank times a number, times in microseconds, of one iteration.
struct AcrossEstimate {
  double own_iterations = 1.0;
  double across_iterations = 1.0;
  double own_us = 0.0;
  double across_us = 0.0;
  /// How much longer a solve by each rank's own rows is expected to take.
  [[nodiscard]] double gain() const { return own_iterations * own_us / (across_iterations * across_us); }
};

/// The model (docs/krylov.md), for rows by blocks of taskdag_bmc.
AcrossEstimate estimate_across(const AcrossCounts& counts);

}  // namespace taskdag::petsc
