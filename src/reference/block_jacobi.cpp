#include "reference/block_jacobi.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/jacobi/weights.hpp"

namespace taskdag::kernels {

namespace {

using Dense = std::vector<std::vector<double>>;

/// Solves m y = y by elimination with exchanges of rows.
void solve(Dense m, std::vector<double>& y) {
  const std::size_t n = y.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t r = k + 1; r < n; ++r) {
      if (std::abs(m[r][k]) > std::abs(m[best][k])) best = r;
    }
    std::swap(m[k], m[best]);
    std::swap(y[k], y[best]);
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = m[r][k] / m[k][k];
      for (std::size_t c = k; c < n; ++c) m[r][c] -= factor * m[k][c];
      y[r] -= factor * y[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) y[k] -= m[k][c] * y[c];
    y[k] /= m[k][k];
  }
}

}  // namespace

std::vector<double> reference_block_jacobi(const CsrView& a, const JacobiBlocks& blocks,
                                           const BlockJacobiOptions& options, const std::vector<double>& b,
                                           bool transposed, const std::vector<double>& guess) {
  const auto n = static_cast<std::size_t>(a.pattern.rows);
  std::vector<Dense> dense(blocks.offsets.size() - 1);
  std::vector<std::vector<std::size_t>> rows(dense.size());
  std::vector<std::size_t> block_of(n);
  std::vector<std::size_t> rank(n);
  for (std::size_t block = 0; block < dense.size(); ++block) {
    for (Index p = blocks.offsets[block]; p < blocks.offsets[block + 1]; ++p) {
      const auto row = static_cast<std::size_t>(blocks.order.empty() ? p : blocks.order[static_cast<std::size_t>(p)]);
      block_of[row] = block;
      rank[row] = rows[block].size();
      rows[block].push_back(row);
    }
    dense[block].assign(rows[block].size(), std::vector<double>(rows[block].size(), 0.0));
  }
  const auto each_entry = [&](const auto& body) {
    for (std::size_t i = 0; i < n; ++i) {
      for (Offset e = a.pattern.row_offsets[i]; e < a.pattern.row_offsets[i + 1]; ++e) {
        const auto j = static_cast<std::size_t>(a.pattern.col_indices[e]);
        transposed ? body(j, i, a.values[e]) : body(i, j, a.values[e]);
      }
    }
  };
  each_entry([&](std::size_t i, std::size_t j, double value) {
    if (block_of[i] == block_of[j]) dense[block_of[i]][rank[i]][rank[j]] = value;
  });
  std::vector<double> x = guess.empty() ? std::vector<double>(n, 0.0) : guess;
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    std::vector<double> residual(b);
    each_entry([&](std::size_t i, std::size_t j, double value) { residual[i] -= value * x[j]; });
    for (std::size_t block = 0; block < dense.size(); ++block) {
      std::vector<double> y;
      for (const std::size_t row : rows[block]) y.push_back(residual[row]);
      solve(dense[block], y);
      const double factor = options.damping * jacobi_weight(options.weights, options.sweeps, sweep);
      for (std::size_t k = 0; k < y.size(); ++k) x[rows[block][k]] += factor * y[k];
    }
  }
  return x;
}

}  // namespace taskdag::kernels
