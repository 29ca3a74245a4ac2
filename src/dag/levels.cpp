#include "dag/levels.hpp"

#include <algorithm>
#include <memory>

#include "base/memory_errors.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// Finds the level of each row and calls found(level), row by row.
// One thread: a row costs a few nanoseconds, a hand-over between threads a hundred, and most patterns wait for the row
// before. Measured on stencils, two threads took 1.2 to 10 times as long.
template <Triangle Of, class Found>
void find_levels(const CsrPattern& pattern, Index* level, const Found& found) {
  const Offset* const offsets = pattern.row_offsets;
  const Index* const columns = pattern.col_indices;
  Index before = -1;
  Index of_before = -1;
  for (Index step = 0; step < pattern.rows; ++step) {
    const Index row = Of == Triangle::lower ? step : pattern.rows - 1 - step;
    Index level_of_row = 0;
    const auto look_at = [&](Index column) {
      // The row before is the operand that comes last: through memory each row would wait for it.
      Index operand = of_before;
      if (column != before) operand = level[column];
      if (operand >= level_of_row) level_of_row = operand + 1;
    };
    if (Of == Triangle::lower) {
      for (Offset e = offsets[row]; e < offsets[row + 1] && columns[e] < row; ++e) look_at(columns[e]);
    } else {
      for (Offset e = offsets[row + 1]; e > offsets[row] && columns[e - 1] > row; --e) look_at(columns[e - 1]);
    }
    before = row;
    of_before = level_of_row;
    level[row] = level_of_row;
    found(level_of_row);
  }
}

template <class Found>
void find_levels(const CsrPattern& pattern, Triangle triangle, Index* level, const Found& found) {
  if (triangle == Triangle::lower) {
    find_levels<Triangle::lower>(pattern, level, found);
  } else {
    find_levels<Triangle::upper>(pattern, level, found);
  }
}

}  // namespace

std::vector<Index> compute_levels(const CsrPattern& pattern, Triangle triangle) {
  std::vector<Index> level(static_cast<std::size_t>(pattern.rows));
  find_levels(pattern, triangle, level.data(), [](Index) {});
  return level;
}

LevelCount count_levels(const CsrPattern& pattern, Triangle triangle) {
  const auto level = std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(pattern.rows));
  std::vector<Index> width;
  find_levels(pattern, triangle, level.get(), [&](Index of_row) {
    const auto l = static_cast<std::size_t>(of_row);
    if (l >= width.size()) width.resize(l + 1, 0);
    ++width[l];
  });
  return {static_cast<Index>(width.size()), width.empty() ? 0 : *std::max_element(width.begin(), width.end())};
}

Schedule make_level_schedule(const CsrPattern& pattern, Triangle triangle, int threads) {
  if (threads < 0) throw InvalidInput("the number of threads is negative");
  validate(pattern, {.square = true});
  return with_memory_errors("the levels", pattern.rows,
                            [&] { return Schedule(triangle, compute_levels(pattern, triangle)); });
}

}  // namespace taskdag
