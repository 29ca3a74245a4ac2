/// \file
/// The positive definite shift's start, from the rows of A.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::host {

/// What the positive_definite shift starts from: max over the rows of A of Σ|a_ij| − |a_ii| − a_ii, of complex numbers
/// − Re a_ii.
class Dominance {
 public:
  /// numbers: values are blocks of two rows, complex numbers.
  explicit Dominance(const CsrPattern& pattern, bool numbers = false)
      : numbers_(numbers),
        row_offsets_(pattern.row_offsets, pattern.row_offsets + (pattern.rows == 0 ? 0 : pattern.rows + 1)) {
    for (Index i = 0; i < pattern.rows; ++i) {
      const Index* const end = pattern.col_indices + pattern.row_offsets[i + 1];
      const Index* const found = std::lower_bound(pattern.col_indices + pattern.row_offsets[i], end, i);
      diagonal_.push_back(found != end && *found == i ? static_cast<Offset>(found - pattern.col_indices) : -1);
    }
  }

  [[nodiscard]] double operator()(const double* values) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      double sum = 0.0;
      if (diagonal_[i] >= 0)
        sum -= size(values, diagonal_[i]) + values[(numbers_ ? 4 : 1) * std::ptrdiff_t{diagonal_[i]}];
      for (Offset e = row_offsets_[i]; e < row_offsets_[i + 1]; ++e) sum += size(values, e);
      largest = std::max(largest, sum);
    }
    return largest;
  }

 private:
  [[nodiscard]] double size(const double* values, Offset e) const {
    if (!numbers_) return std::abs(values[e]);
    const double* const number = values + 4 * std::ptrdiff_t{e};
    return std::hypot(number[0], number[1]);
  }

  bool numbers_;
  std::vector<Offset> row_offsets_;
  std::vector<Offset> diagonal_;  // -1: absent
};

}  // namespace taskdag::host
