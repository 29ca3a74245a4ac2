/// \file
/// Incomplete factorisations on CUDA: storage, input and report of one attempt.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>

#include "backends/cuda/memory.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/pivot.hpp"
#include "kernels/sptrsv/cuda.hpp"

namespace taskdag::kernels {

/// What an attempt found out, written by the kernel.
struct FactorReport {
  Index first_zero = INT_MAX;
  Index last_zero = -1;
  Index first_non_finite = INT_MAX;
  int shifted = 0;
};

/// The values to factorise: entry e of the factor's pattern is values[source ? source[e] : e], plus `shift` on the
/// diagonal. Device memory.
struct FactorInput {
  const double* values = nullptr;
  const Offset* source = nullptr;
  double shift = 0.0;
};

/// Device memory of a factor. entries: one per entry of the pattern, pivots not inverted.
struct FactorStorage {
  cuda::DeviceArray<double> entries;
  cuda::DeviceArray<double> inverse_pivots;
  cuda::DeviceArray<double> overflow;  ///< workspace for rows that do not fit into shared memory; empty if all do
  cuda::DeviceArray<FactorReport> report;
  cuda::DeviceArray<int> counter;
  SolveTuning tuning;

  [[nodiscard]] std::int64_t bytes() const {
    return entries.bytes() + inverse_pivots.bytes() + overflow.bytes() + report.bytes() + counter.bytes();
  }
};

/// Allocates for a pattern; `tasks` decides whether a row needs the overflow workspace. Synchronises.
FactorStorage make_factor_storage(const DevicePattern& pattern, const TaskList& tasks, cudaStream_t stream);

/// Makes all slots not_yet and the report empty for the next attempt. Asynchronous.
void reset_factor(const FactorStorage& storage, Offset entries, Index rows, cudaStream_t stream);

/// Lanes for a row of the factorisation: count[i] of build_tasks such that a lane gets about one entry of a pivot row.
/// out[i] = half the entries of row i. Asynchronous.
void factor_row_lengths(const DevicePattern& pattern, Index* out, cudaStream_t stream);

/// Largest Σ_j |a_ij| − |a_ii| − a_ii over the rows (what a positive definite shift starts from). Synchronises.
double diagonal_dominance(const DevicePattern& pattern, const double* values, const Offset* source,
                          cudaStream_t stream);

/// ILU(0): `pattern` with the positions of its diagonal entries. Asynchronous.
void ilu0(const DevicePattern& pattern, const Offset* diagonal, const TaskList& tasks, const FactorInput& input,
          const FactorStorage& storage, const PivotRule& rule, cudaStream_t stream);

/// IC(0): `upper` holds the diagonal entry first in each row; `above` is its transpose with source = entry of upper
/// (the last entry of a row of `above` is the diagonal). Asynchronous.
void ic0(const DevicePattern& upper, const DeviceCsr& above, const TaskList& tasks, const FactorInput& input,
         const FactorStorage& storage, const PivotRule& rule, cudaStream_t stream);

/// unit[e] = entries[e] · inverse_pivots[row of e]: D·U to U. Asynchronous.
void scale_to_unit(const DevicePattern& upper, const FactorStorage& storage, double* unit, cudaStream_t stream);

}  // namespace taskdag::kernels
