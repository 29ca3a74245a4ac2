/// \file
/// The sum over a row of a sparse matrix, by one or several workers.
#pragma once

#include <cstdint>

#include "taskdag/csr.hpp"
#include "taskdag/engine/loop/stage.hpp"
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

/// What one worker has of rows with the same columns: an element and its number are read once for all of them.
template <class Of>
TASKDAG_TASK engine::GroupParts sums_of_rows(const Offset* begin, const Columns& columns, const double* value,
                                             const engine::TaskGroup& rows, int rank, int size, const Of& of) {
  engine::GroupParts sums;
  const auto first = static_cast<std::uint32_t>(begin[rows.first]);
  const auto entries = static_cast<std::uint32_t>(begin[rows.first + 1]) - first;
  const ColumnsOfRow of_row{columns, static_cast<Index>(rows.first)};
  for (std::uint32_t e = first + static_cast<std::uint32_t>(rank); e < first + entries;
       e += static_cast<std::uint32_t>(size)) {
    const double x = of(of_row[e]);
    for (std::uint32_t k = 0; k < engine::TaskGroup::most; ++k) {
      if (k < rows.count) sums.of[k] += value[e + k * entries] * x;
    }
  }
  return sums;
}

/// The same on host threads, with whole rows: of each `count` rows from `run.first + k` on, as long as there are so
/// many. Returns where it has stopped.
template <std::uint32_t count, class Of>
TASKDAG_TASK std::uint32_t sums_of_groups(const Offset* begin, const Index* column, const double* value,
                                          const engine::TaskRun& run, std::uint32_t k, const Of& of) {
  for (; k + count <= run.count; k += count) {
    const Offset first = begin[run.first + k];
    const Offset entries = begin[run.first + k + 1] - first;
    double sum[count] = {};
    for (Offset e = 0; e < entries; ++e) {
      const double x = of(column[first + e]);
      for (std::uint32_t r = 0; r < count; ++r) sum[r] += value[first + e + static_cast<Offset>(r) * entries] * x;
    }
    for (std::uint32_t r = 0; r < count; ++r) run.parts[k + r] = sum[r];
  }
  return k;
}
/// The parts of a run where so many rows each have the same columns; it may begin or end between them. Each sum is that
/// of its row alone.
template <class Of>
TASKDAG_TASK double sums_of_run(const Offset* begin, const Index* column, const double* value, std::uint32_t together,
                                const engine::TaskRun& run, const Of& of) {
  std::uint32_t k = 0;
  const auto one = [&] {
    const std::uint32_t row = run.first + k;
    run.parts[k] = sum_of_row<1>(begin[row], begin[row + 1], {{column}, static_cast<Index>(row)}, value, 0, 1, of);
  };
  for (; k < run.count && (run.first + k) % together != 0; ++k) one();
  k = together == 3 ? sums_of_groups<3>(begin, column, value, run, k, of)
                    : sums_of_groups<2>(begin, column, value, run, k, of);
  for (; k < run.count; ++k) one();
  return engine::TaskRun::done;
}

}  // namespace taskdag::krylov
