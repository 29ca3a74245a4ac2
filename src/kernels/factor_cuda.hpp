/// \file
/// Incomplete factorisations on CUDA: storage, input and report of one attempt.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>

#include "backends/cuda/memory.hpp"
#include "base/macros.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/pivot.hpp"
#include "kernels/sptrsv/cuda.hpp"

namespace taskdag::kernels {

/// How the elimination kernel is compiled: kRounds pivot rows for each part of a row's lanes are prepared before it
/// waits, kWidth entries of each by every lane; kBlocks blocks must fit on a multiprocessor.
enum class FactorShape { short_rows, long_rows };
struct ShortRowShape {
  static constexpr int kRounds = 4, kWidth = 1, kBlocks = 8;
};
struct LongRowShape {
  static constexpr int kRounds = 4, kWidth = 2, kBlocks = 6;
};

/// Long rows: more pivot row entries on average than a warp takes at once. parts: see factor_lanes().
FactorShape choose_shape(const DevicePattern& pattern, Index parts);

/// What an attempt found out, written by the kernel.
struct FactorReport {
  Index first_zero = INT_MAX;
  Index last_zero = -1;
  Index first_non_finite = INT_MAX;
  int shifted = 0;
};

/// The values to factorise: entry e of the factor's pattern is values[source ? source[e] : e], 0 where source[e] is −1,
/// plus `shift` on the diagonal. Device memory.
struct FactorInput {
  const double* values = nullptr;
  const Offset* source = nullptr;
  double shift = 0.0;

  TASKDAG_HD double value(Offset e) const {
    const Offset from = source ? source[e] : e;
    return from < 0 ? 0.0 : values[from];
  }
};

/// Device memory of a factor. entries: one per entry of the pattern, pivots not inverted.
struct FactorStorage {
  cuda::DeviceArray<double> entries;
  cuda::DeviceArray<double> inverse_pivots;
  cuda::DeviceArray<double> overflow;  ///< workspace for rows that do not fit into shared memory; empty if all do
  cuda::DeviceArray<FactorReport> report;
  cuda::DeviceArray<int> counter;
  SolveTuning tuning;
  FactorShape shape = FactorShape::short_rows;

  [[nodiscard]] std::int64_t bytes() const {
    return entries.bytes() + inverse_pivots.bytes() + overflow.bytes() + report.bytes() + counter.bytes();
  }
};

/// Allocates for a pattern; `tasks` decides whether a row needs the overflow workspace. Synchronises.
FactorStorage make_factor_storage(const DevicePattern& pattern, const TaskList& tasks, FactorShape shape,
                                  cudaStream_t stream);

/// Makes all slots not_yet and the report empty for the next attempt. Asynchronous.
void reset_factor(const FactorStorage& storage, Offset entries, Index rows, cudaStream_t stream);

/// Lanes for each row (1, 2, … 32): as many as still leave some levels of rows in flight, because rows that share a
/// warp wait for each other, but at least as many as share one pivot row. parts: what a pivot row's used entries are of
/// a row's own (2 for ilu0: the upper half; 1 for ic0, whose pattern holds nothing else). Asynchronous.
void factor_lanes(const DevicePattern& pattern, Index parts, FactorShape shape, Index levels, Index* lanes,
                  cudaStream_t stream);

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
