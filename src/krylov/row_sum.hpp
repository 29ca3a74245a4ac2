/// \file
/// The sum over a row of a sparse matrix, by one or several workers.
#pragma once

#include <cstdint>

#include "taskdag/csr.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::krylov {

/// What worker `rank` of `size` has of Σ value[e] · of(column[e]) over the entries [begin, end), in their order. On a
/// GPU so many elements are asked for at a time, also at the end of a row, since most rows are short and each element
/// would be waited for; more than a kernel has registers for cost more than they save.
template <std::uint32_t ahead_on_gpu, class Of>
TASKDAG_TASK double sum_of_row(Offset begin, Offset end, const Index* column, const double* value, int rank, int size,
                               const Of& of) {
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
      j[k] = is ? column[e + k * step] : 0;
      a[k] = is ? value[e + k * step] : 0.0;
    }
    for (std::uint32_t k = 0; k < ahead; ++k) x[k] = e + k * step < stop ? of(j[k]) : 0.0;
    for (std::uint32_t k = 0; k < ahead; ++k) sum += a[k] * x[k];
  }
#else
  for (Offset e = begin + rank; e < end; e += size) sum += value[e] * of(column[e]);
#endif
  return sum;
}

}  // namespace taskdag::krylov
