#include "reference/ilu.hpp"

#include <cmath>

#include "reference/pivot.hpp"

namespace taskdag::kernels {

CsrMatrix reference_ilu(const CsrView& b, const FactorOptions& options, double shift, FactorStatus& status) {
  const CsrPattern& p = b.pattern;
  const auto n = static_cast<std::size_t>(p.rows);
  const auto entries = static_cast<std::size_t>(p.entries());
  CsrMatrix f{p.rows, p.cols, {0}, {p.col_indices, p.col_indices + entries}, {b.values, b.values + entries}};
  if (n > 0) f.row_offsets.assign(p.row_offsets, p.row_offsets + n + 1);
  std::vector<double> row(n, 0.0);
  std::vector<double> pivots(n, 0.0);
  std::vector<Index> owner(n, -1);  // owner[j] == i: column j is in the pattern of row i
  status = {};
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::size_t>(f.row_offsets[i]);
    const auto end = static_cast<std::size_t>(f.row_offsets[i + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      row[static_cast<std::size_t>(f.col_indices[e])] = f.values[e];
      owner[static_cast<std::size_t>(f.col_indices[e])] = static_cast<Index>(i);
    }
    row[i] += shift;
    for (std::size_t e = begin; static_cast<std::size_t>(f.col_indices[e]) < i; ++e) {
      const auto k = static_cast<std::size_t>(f.col_indices[e]);
      if (row[k] == 0.0) continue;
      row[k] /= pivots[k];
      for (auto g = static_cast<std::size_t>(f.row_offsets[k]); g < static_cast<std::size_t>(f.row_offsets[k + 1]);
           ++g) {
        const auto j = static_cast<std::size_t>(f.col_indices[g]);
        if (j > k && owner[j] == static_cast<Index>(i)) row[j] -= row[k] * f.values[g];
      }
    }
    double sum = 0.0;
    for (std::size_t e = begin; e < end; ++e) {
      const auto j = static_cast<std::size_t>(f.col_indices[e]);
      f.values[e] = row[j];
      if (j != i) sum += std::abs(row[j]);
    }
    const double pivot = reference_pivot(options, static_cast<Index>(i), row[i], sum, status);
    pivots[i] = pivot;
    for (std::size_t e = begin; e < end; ++e) {
      if (static_cast<std::size_t>(f.col_indices[e]) == i) f.values[e] = pivot;
    }
  }
  return f;
}

}  // namespace taskdag::kernels
