#include "reference/sptrsv.hpp"

namespace taskdag::kernels {

// Not transposed: row i is finished by subtracting what is known. Transposed: once x_i is known, row i (a column of
// the system) is subtracted from the rest, in the opposite direction.
void reference_sptrsv(const CsrView& a, const TriangularOptions& options, const double* b, double* x) {
  const CsrPattern& p = a.pattern;
  const bool lower = options.triangle == Triangle::lower;
  for (Index i = 0; i < p.rows; ++i) x[i] = b[i];
  for (Index step = 0; step < p.rows; ++step) {
    const Index i = lower != options.transposed ? step : p.rows - 1 - step;
    double diagonal = 1.0;
    for (Offset e = p.row_offsets[i]; e < p.row_offsets[i + 1]; ++e) {
      const Index j = p.col_indices[e];
      if (j == i && !options.unit_diagonal) diagonal = a.values[e];
      if (!options.transposed && (lower ? j < i : j > i)) x[i] -= a.values[e] * x[j];
    }
    x[i] /= diagonal;
    if (!options.transposed) continue;
    for (Offset e = p.row_offsets[i]; e < p.row_offsets[i + 1]; ++e) {
      const Index j = p.col_indices[e];
      if (lower ? j < i : j > i) x[j] -= a.values[e] * x[i];
    }
  }
}

}  // namespace taskdag::kernels
