/// \file
/// Incomplete factorisations under adaptive task aggregation (ATA) and the schedules it is compared with, on CUDA: for
/// benchmarks and tests, without shifts or pivot checks. The solvers' own factorisations are in
/// kernels/factor/cuda/numeric.hpp. Source: Helal et al., PACT 2019, algorithms 2 (pull) and 5; docs/ata.md.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "kernels/sptrsv/schedules/ata/ata.hpp"

namespace taskdag::kernels {

/// A factorisation that can be repeated with other values.
class AtaFactorization {
 public:
  AtaFactorization() = default;
  virtual ~AtaFactorization() = default;
  AtaFactorization(const AtaFactorization&) = delete;
  AtaFactorization& operator=(const AtaFactorization&) = delete;

  /// `values`: device memory, one per entry of the matrix's pattern. Asynchronous. Ends on any numbers; a zero pivot
  /// gives infinities.
  virtual void factor(const double* values, cudaStream_t stream) = 0;
  /// For benchmarks: the kernel of factor() over all rows at once without dependency management. The factor is wrong.
  virtual void factor_unmanaged(const double* values, cudaStream_t stream) = 0;
  /// Writes the factor to device memory: ilu0: one value per entry of the matrix's pattern, L strictly below, pivots
  /// on, U above the diagonal. ic0: per entry of the upper triangle, row by row: pivots on, the unit U above the
  /// diagonal. Asynchronous.
  virtual void copy_factor(double* factor, cudaStream_t stream) const = 0;
  [[nodiscard]] virtual Offset entries() const = 0;  ///< of the factor
  [[nodiscard]] virtual const AtaReport& report() const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

/// Which vectors of the matrix are the tasks of ILU(0).
enum class FactorForm {
  rows,     ///< up-looking on CSR: a row takes the rows above it (Saad, algorithm 10.4)
  columns,  ///< left-looking on CSC, as in the paper: a column takes the columns before it
};

/// ILU(0) with a warp for each row or column (options.traversal is pull always, rows_share_warps has no meaning). The
/// pattern, in device memory, is copied. Synchronises `stream`.
/// @throws InvalidInput for a row without a diagonal entry, or a schedule that is none of ATA's or its baselines'
std::unique_ptr<AtaFactorization> make_ata_ilu0(SolveSchedule schedule, const DevicePattern& pattern, FactorForm form,
                                                const AtaOptions& options, cudaStream_t stream);

}  // namespace taskdag::kernels
