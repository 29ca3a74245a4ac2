/// \file
/// The task of a sparse triangular solve: one row, in the form that several threads can share; waiting and publishing
/// are the backend's (see docs/design.md, "seam"). Used on CUDA. The host's sweeps add a row up in a loop of their own
/// (host/planned_sweep.hpp, subtract_row), which streams through four sums.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// x_i = (rhs − Σ_j a_ij x_j) · pivot, the sum over the strictly triangular entries of row i.
///
/// Group: the threads that share a row: sum(v) adds v over them in a fixed order.
/// Entries: count() is what one member has to do, load(first, column, value) fetches Batch of them (value 0 and a
/// column that is ready where the row has ended).
/// Operands: wait(column, operand) returns when all Batch operands are published.
/// Batch: operands asked for at once; their latencies overlap.
template <int Batch, class Group, class Entries, class Operands>
TASKDAG_HD double sptrsv_row(const Group& group, const Entries& entries, const Operands& operands, double rhs,
                             double pivot) {
  double sum = 0.0;
  for (Index first = 0; first < entries.count(); first += Batch) {
    Index column[static_cast<unsigned>(Batch)];
    double value[static_cast<unsigned>(Batch)];
    double operand[static_cast<unsigned>(Batch)];
    entries.load(first, column, value);
    operands.wait(column, operand);
    for (int k = 0; k < Batch; ++k) sum += value[k] * operand[k];
  }
  return (rhs - group.sum(sum)) * pivot;
}

}  // namespace taskdag::kernels
