/// \file
/// Factors on host threads in single precision: unit triangles, and whether they fit.
#pragma once

#include <memory>

#include "base/index.hpp"
#include "kernels/factor/precision.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::host {

/// Entries of U, row by row, of D·U in `upper` with `values`.
inline std::unique_ptr<double[]> unit_values(const CsrPattern& upper, const double* values, const double* inverse) {
  auto unit = std::make_unique_for_overwrite<double[]>(at(upper.entries()));
  for (Index i = 0; i < upper.rows; ++i) {
    for (Offset e = upper.row_offsets[i]; e < upper.row_offsets[i + 1]; ++e) unit[at(e)] = values[e] * inverse[i];
  }
  return unit;
}

using kernels::FoundLoss;

/// The first entry of a strict unit triangle that does not fit. `inverse`: inverse pivots by row.
inline FoundLoss find_loss(const CsrPattern& pattern, const double* unit, const double* inverse, Triangle triangle) {
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
      const double column = inverse[pattern.col_indices[e]];
      const double ratio = triangle == Triangle::lower ? inverse[i] / column : column / inverse[i];
      const PrecisionLoss loss = kernels::loss_in_single(unit[e], ratio);
      if (loss != PrecisionLoss::none) return {loss, i};
    }
  }
  return {};
}

}  // namespace taskdag::host
