#include "reference/point_block_sor.hpp"

#include <cmath>
#include <utility>

#include "base/index.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// y of D y = r, with exchanges of rows; d[row][column].
std::vector<double> solve_dense(std::vector<std::vector<double>> d, std::vector<double> r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(d[i][k]) > std::abs(d[pivot][k])) pivot = i;
    }
    std::swap(d[k], d[pivot]);
    std::swap(r[k], r[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = d[i][k] / d[k][k];
      for (std::size_t j = k; j < n; ++j) d[i][j] -= factor * d[k][j];
      r[i] -= factor * r[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) r[k] -= d[k][j] * r[j];
    r[k] /= d[k][k];
  }
  return r;
}

/// x_i ← (1 − ω) x_i + ω (A_ii + shift)⁻¹ (b_i − Σ_{j ≠ i} A_ij x_j), every block with what x holds then.
void relax_block(const CsrView& a, const SorOptions& options, Index i, const std::vector<double>& b,
                 std::vector<double>& x) {
  const std::size_t n = at(options.block_size);
  std::vector<double> sum(n);
  std::vector<std::vector<double>> own(n, std::vector<double>(n, 0.0));
  for (std::size_t r = 0; r < n; ++r) sum[r] = b[at(i) * n + r];
  for (Offset e = a.pattern.row_offsets[i]; e < a.pattern.row_offsets[i + 1]; ++e) {
    const Index j = a.pattern.col_indices[e];
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        const double value = a.values[(at(e) * n + c) * n + r];
        if (j == i) {
          own[r][c] = value;
        } else {
          sum[r] -= value * x[at(j) * n + c];
        }
      }
    }
  }
  if (options.omega != 1.0 || options.shift > 0.0) {
    for (std::size_t r = 0; r < n; ++r) own[r][r] += options.shift;
  }
  const std::vector<double> solved = solve_dense(std::move(own), std::move(sum));
  for (std::size_t r = 0; r < n; ++r) {
    double& mine = x[at(i) * n + r];
    mine = (1.0 - options.omega) * mine + options.omega * solved[r];
  }
}

}  // namespace

std::vector<double> reference_sor(const CsrView& a, const SorOptions& options, SorSweep sweep, int iterations,
                                  const std::vector<double>& b, std::vector<double> x) {
  for (int k = 0; k < iterations; ++k) {
    if (sweep != SorSweep::backward) {
      for (Index i = 0; i < a.pattern.rows; ++i) relax_block(a, options, i, b, x);
    }
    if (sweep != SorSweep::forward) {
      for (Index i = a.pattern.rows - 1; i >= 0; --i) relax_block(a, options, i, b, x);
    }
  }
  return x;
}

}  // namespace taskdag::kernels::point_block
