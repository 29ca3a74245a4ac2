#include "reference/sor.hpp"

namespace taskdag::kernels {
namespace {

/// x_i ← (1 − ω) x_i + ω (b_i − Σ_{j ≠ i} a_ij x_j) / (a_ii + shift), every row with what x holds then.
void relax_row(const CsrView& a, const SorOptions& options, Index i, const std::vector<double>& b,
               std::vector<double>& x) {
  double sum = b[static_cast<std::size_t>(i)];
  double diagonal = 0.0;
  for (Offset e = a.pattern.row_offsets[i]; e < a.pattern.row_offsets[i + 1]; ++e) {
    const Index j = a.pattern.col_indices[e];
    if (j == i) {
      diagonal = a.values[e];
    } else {
      sum -= a.values[e] * x[static_cast<std::size_t>(j)];
    }
  }
  if (options.omega != 1.0 || options.shift > 0.0) diagonal += options.shift;
  double& mine = x[static_cast<std::size_t>(i)];
  mine = (1.0 - options.omega) * mine + sum * options.omega / diagonal;
}

}  // namespace

std::vector<double> reference_sor(const CsrView& a, const SorOptions& options, SorSweep sweep, int iterations,
                                  const std::vector<double>& b, std::vector<double> x) {
  for (int k = 0; k < iterations; ++k) {
    if (sweep != SorSweep::backward) {
      for (Index i = 0; i < a.pattern.rows; ++i) relax_row(a, options, i, b, x);
    }
    if (sweep != SorSweep::forward) {
      for (Index i = a.pattern.rows - 1; i >= 0; --i) relax_row(a, options, i, b, x);
    }
  }
  return x;
}

}  // namespace taskdag::kernels
