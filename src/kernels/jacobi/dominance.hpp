/// \file
/// Dominance of the diagonal: the task of a row, and how it runs over all rows on either backend.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/task.hpp"
#include "taskdag/dominance.hpp"

namespace taskdag::kernels {

/// What a row counts for.
struct RowDominance {
  bool zero = false;
  bool negative = false;
  bool strict = false;
  bool poor = false;
};

/// Of a row that was collected with JacobiDiagonal::row_l1.
TASKDAG_HD RowDominance dominance_of(const JacobiRow& row, const DominanceLimits& limits) {
  const double d = row.diagonal < 0 ? -row.diagonal : row.diagonal;
  // Neither infinite nor NaN, without a function that one of the compilers lacks.
  const bool finite = row.sum - row.sum == 0.0 && d - d == 0.0;
  if (!finite || d == 0.0) return {true, false, false, false};
  return {false, row.diagonal<0, row.sum <= limits.strict * d, row.sum> limits.poor * d};
}

DiagonalDominance host_dominance(const CsrView& a, const DominanceLimits& limits, host::ThreadPool& pool);

}  // namespace taskdag::kernels
