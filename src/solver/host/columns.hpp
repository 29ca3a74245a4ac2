/// \file
/// Several columns of right-hand sides and solutions, by rows of a fixed width.
#pragma once

#include <cstdint>

#include "kernels/sptrsv/host/plan/planned_sweep.hpp"

namespace taskdag::host {

/// Right-hand sides and solutions, column by column.
struct Columns {
  Index count;
  const double* b;
  std::int64_t ldb;
  double* x;
  std::int64_t ldx;

  /// Row i of the right-hand sides; columns that are not there are 0.
  template <int Width>
  [[nodiscard]] kernels::ColumnValues<Width> read(Index i) const {
    kernels::ColumnValues<Width> values{};
    for (Index k = 0; k < count; ++k) values.at[k] = b[i + k * ldb];
    return values;
  }
  template <int Width>
  void write(Index i, const kernels::ColumnValues<Width>& values) const {
    for (Index k = 0; k < count; ++k) x[i + k * ldx] = values.at[k];
  }
};

/// Calls body.operator()<width>() for the narrowest form that has room for `count` columns.
template <class Body>
void with_width(Index count, const Body& body) {
  if (count <= 2) {
    body.template operator()<2>();
  } else if (count <= 4) {
    body.template operator()<4>();
  } else {
    static_assert(kernels::kHostColumns == 8);
    body.template operator()<8>();
  }
}

}  // namespace taskdag::host
