#include "reference/ic.hpp"

#include <algorithm>
#include <cmath>

#include "reference/pivot.hpp"

namespace taskdag::kernels {

// Right-looking, unlike the executors: each finished row updates the rows below it.
CsrMatrix reference_ic(const CsrView& b, const FactorOptions& options, double shift, FactorStatus& status) {
  const CsrPattern& p = b.pattern;
  CsrMatrix f{p.rows, p.cols, {0}, {}, {}};
  for (Index i = 0; i < p.rows; ++i) {
    for (Offset e = p.row_offsets[i]; e < p.row_offsets[i + 1]; ++e) {
      if (p.col_indices[e] < i) continue;
      f.col_indices.push_back(p.col_indices[e]);
      f.values.push_back(b.values[e] + (p.col_indices[e] == i ? shift : 0.0));
    }
    f.row_offsets.push_back(static_cast<Offset>(f.col_indices.size()));
  }
  status = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) {
    const auto begin = static_cast<std::size_t>(f.row_offsets[i]);
    const auto end = static_cast<std::size_t>(f.row_offsets[i + 1]);
    double sum = 0.0;
    for (std::size_t e = begin + 1; e < end; ++e) sum += std::abs(f.values[e]);
    const double pivot = reference_pivot(options, static_cast<Index>(i), f.values[begin], sum, status);
    f.values[begin] = pivot;
    for (std::size_t e = begin + 1; e < end; ++e) {
      const auto j = static_cast<std::size_t>(f.col_indices[e]);
      const auto row_begin = f.col_indices.begin() + f.row_offsets[j];
      const auto row_end = f.col_indices.begin() + f.row_offsets[j + 1];
      for (std::size_t g = e; g < end; ++g) {
        const auto found = std::lower_bound(row_begin, row_end, f.col_indices[g]);
        if (found == row_end || *found != f.col_indices[g]) continue;
        f.values[static_cast<std::size_t>(found - f.col_indices.begin())] -= f.values[e] / pivot * f.values[g];
      }
    }
    for (std::size_t e = begin + 1; e < end; ++e) f.values[e] /= pivot;
  }
  return f;
}

}  // namespace taskdag::kernels
