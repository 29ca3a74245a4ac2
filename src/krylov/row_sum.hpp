/// \file
/// The sum over a row of a sparse matrix, by one or several workers.
#pragma once

#include <cstdint>

#include "taskdag/csr.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::krylov {

/// The columns of a matrix's entries. On a GPU a large matrix whose entries are all near the diagonal has their
/// distances from it in 16 bits, too, and these are what is read: a sixth of the bytes less.
struct Columns {
  const Index* column = nullptr;
  const std::int16_t* distance = nullptr;  ///< column − row; null: they are not there
};
/// Those of a row.
struct ColumnsOfRow {
  Columns all;
  Index row;
  [[nodiscard]] TASKDAG_TASK Index operator[](std::uint32_t entry) const {
    return all.distance != nullptr ? row + all.distance[entry] : all.column[entry];
  }
};

/// What worker `rank` of `size` has of Σ value[e] · of(column[e]) over the entries [begin, end), in their order. On a
/// GPU so many elements are asked for at a time, also at the end of a row, since most rows are short and each element
/// would be waited for; more than a kernel has registers for cost more than they save.
template <std::uint32_t ahead_on_gpu, class Of>
TASKDAG_TASK double sum_of_row(Offset begin, Offset end, const ColumnsOfRow& columns, const double* value, int rank,
                               int size, const Of& of) {
  double sum = 0.0;
#if defined(__CUDA_ARCH__)
  constexpr std::uint32_t ahead = ahead_on_gpu;
  const auto stop = static_cast<std::uint32_t>(end);
  const auto step = static_cast<std::uint32_t>(size);
  for (std::uint32_t e = static_cast<std::uint32_t>(begin + rank); e < stop; e += ahead * step) {
    Index j[ahead];
    double a[ahead];
    double x[ahead];
    for (std::uint32_t k = 0; k < ahead; ++k) {
      const bool is = e + k * step < stop;
      j[k] = is ? columns[e + k * step] : 0;
      a[k] = is ? value[e + k * step] : 0.0;
    }
    for (std::uint32_t k = 0; k < ahead; ++k) x[k] = e + k * step < stop ? of(j[k]) : 0.0;
    for (std::uint32_t k = 0; k < ahead; ++k) sum += a[k] * x[k];
  }
#else
  for (Offset e = begin + rank; e < end; e += size) sum += value[e] * of(columns.all.column[e]);
#endif
  return sum;
}

}  // namespace taskdag::krylov
