#include "reference/jacobi.hpp"

#include <cmath>

#include "kernels/jacobi/weights.hpp"

namespace taskdag::kernels {

std::vector<double> reference_jacobi(const CsrView& a, const JacobiOptions& options, const std::vector<double>& b,
                                     bool transposed, const std::vector<double>& guess) {
  const auto n = static_cast<std::size_t>(a.pattern.rows);
  std::vector<double> d(n, 0.0);
  std::vector<double> largest(n, 0.0);
  std::vector<double> sum(n, 0.0);
  std::vector<double> beside(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (Offset e = a.pattern.row_offsets[i]; e < a.pattern.row_offsets[i + 1]; ++e) {
      if (static_cast<std::size_t>(a.pattern.col_indices[e]) == i) d[i] = a.values[e];
      largest[i] = std::fmax(largest[i], std::abs(a.values[e]));
      sum[i] += a.values[e];
      if (static_cast<std::size_t>(a.pattern.col_indices[e]) != i) beside[i] += std::abs(a.values[e]);
    }
    if (!options.outside.empty()) {
      largest[i] = std::fmax(largest[i], options.outside[i]);
      sum[i] += options.outside[i];
      beside[i] += options.outside[i];
    }
    if (options.diagonal == JacobiDiagonal::row_max) d[i] = largest[i];
    if (options.diagonal == JacobiDiagonal::row_sum) d[i] = sum[i];
    if (options.diagonal == JacobiDiagonal::row_l1) d[i] += std::copysign(options.l1_scale, d[i]) * beside[i];
    if (options.absolute) d[i] = std::abs(d[i]);
    if (d[i] == 0.0) d[i] = 1.0;
  }
  std::vector<double> x = guess.empty() ? std::vector<double>(n, 0.0) : guess;
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    const double weight = jacobi_weight(options.weights, options.sweeps, sweep);
    std::vector<double> residual(b);
    for (std::size_t i = 0; i < n; ++i) {
      for (Offset e = a.pattern.row_offsets[i]; e < a.pattern.row_offsets[i + 1]; ++e) {
        const auto j = static_cast<std::size_t>(a.pattern.col_indices[e]);
        if (transposed) {
          residual[j] -= a.values[e] * x[i];
        } else {
          residual[i] -= a.values[e] * x[j];
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) x[i] += options.damping * weight * residual[i] / d[i];
  }
  return x;
}

}  // namespace taskdag::kernels
