/// \file
/// Incomplete factorisations under adaptive task aggregation (ATA) and the schedules it is compared with, on CUDA.
/// Source: Helal et al., PACT 2019, algorithms 2 (pull) and 5; docs/papers/ata.md.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "csr/device_csr.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "papers/helal/ata.hpp"

namespace taskdag::kernels {

/// Ends on any numbers.
class AtaFactorization : public EliminationMethod {
 public:
  /// For benchmarks: the kernel of factor() over all rows at once without dependency management, and without looking at
  /// pivots. The factor is wrong.
  virtual void factor_unmanaged(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                                cudaStream_t stream) = 0;
  [[nodiscard]] virtual const AtaReport& report() const = 0;
};

/// Which vectors of the matrix are the tasks of an ILU.
enum class FactorForm {
  rows,  ///< up-looking on CSR: a row takes the rows above it (Saad, algorithm 10.4)
  /// For benchmarks: left-looking on CSC, as in the paper: a column takes the columns before it. Pivots are not
  /// reported whatever they are: the sum that one is held against is that of a row.
  columns,
};

/// ILU of `pattern`, in device memory as its diagonal entries are, at `diagonal`, with a warp for each row or column.
/// Both outlive the result. Of the options the flow is pull always, and rows_share_warps has no meaning. Synchronises
/// `stream`. @throws InvalidInput for a schedule that is none of ATA's or its baselines'
std::unique_ptr<AtaFactorization> make_ata_ilu(SolveSchedule schedule, const DevicePattern& pattern,
                                               const Offset* diagonal, bool diagonal_only, FactorForm form,
                                               const AtaOptions& options, cudaStream_t stream);

/// IC, A ≈ Uᵀ D U, with a warp for each row of U, which takes the rows above it. `upper`, which outlives the result,
/// holds the diagonal entry first in each row; `above` is its transpose. The rest as for make_ata_ilu().
std::unique_ptr<AtaFactorization> make_ata_ic(SolveSchedule schedule, const DevicePattern& upper, DeviceCsr above,
                                              bool diagonal_only, const AtaOptions& options, cudaStream_t stream);

}  // namespace taskdag::kernels
