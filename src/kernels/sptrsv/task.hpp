/// \file
/// The task of a sparse triangular solve: one row, in the form that several threads can share; waiting and publishing
/// are the backend's (see docs/design.md, "seam"). Used on CUDA. The host's sweeps add a row up in a loop of their own
/// (host/planned_sweep.hpp, subtract_row), which streams through four sums.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

TASKDAG_HD void add_product(double& sum, double a, double b) { sum += a * b; }

/// x_i = (rhs − Σ_j a_ij x_j) · pivot, the sum over the strictly triangular entries of row i.
///
/// Number: double, or a complex number with an add_product() of its own. Pivot: one, or what stands for 1.
/// Group: the threads that share a row: sum(v) adds v over them in a fixed order.
/// Entries: count() is what one member has to do, load(first, column, value) fetches Batch of them (value 0 and a
/// column that is ready where the row has ended).
/// Operands: wait(column, operand) returns when all Batch operands are published.
/// Batch: operands asked for at once; their latencies overlap.
template <int Batch, class Group, class Entries, class Operands, class Number, class Pivot>
TASKDAG_HD Number sptrsv_row(const Group& group, const Entries& entries, const Operands& operands, Number rhs,
                             Pivot pivot) {
  Number sum = 0.0;
  for (Index first = 0; first < entries.count(); first += Batch) {
    Index column[static_cast<unsigned>(Batch)];
    Number value[static_cast<unsigned>(Batch)];
    Number operand[static_cast<unsigned>(Batch)];
    entries.load(first, column, value);
    operands.wait(column, operand);
    for (int k = 0; k < Batch; ++k) add_product(sum, value[k], operand[k]);
  }
  return (rhs - group.sum(sum)) * pivot;
}

}  // namespace taskdag::kernels
