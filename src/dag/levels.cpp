#include "dag/levels.hpp"

#include <algorithm>

#include "base/memory_errors.hpp"
#include "dag/dependencies.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

// One thread: a row costs a few nanoseconds, a hand-over between threads a hundred, and most patterns wait for the row
// before. Measured on stencils, two threads took 1.2 to 10 times as long.
std::vector<Index> compute_levels(const CsrPattern& pattern, Triangle triangle) {
  std::vector<Index> level(static_cast<std::size_t>(pattern.rows));
  for (Index step = 0; step < pattern.rows; ++step) {
    const Index row = triangle == Triangle::lower ? step : pattern.rows - 1 - step;
    Index deepest = -1;
    for (const Index column : dependencies(pattern, triangle, row)) {
      deepest = std::max(deepest, level[static_cast<std::size_t>(column)]);
    }
    level[static_cast<std::size_t>(row)] = deepest + 1;
  }
  return level;
}

LevelCount count_levels(const CsrPattern& pattern, Triangle triangle) {
  std::vector<Index> width;
  for (const Index level : compute_levels(pattern, triangle)) {
    const auto l = static_cast<std::size_t>(level);
    if (l >= width.size()) width.resize(l + 1, 0);
    ++width[l];
  }
  return {static_cast<Index>(width.size()), width.empty() ? 0 : *std::max_element(width.begin(), width.end())};
}

Schedule make_level_schedule(const CsrPattern& pattern, Triangle triangle, int threads) {
  if (threads < 0) throw InvalidInput("the number of threads is negative");
  validate(pattern, {.square = true});
  return with_memory_errors("the levels", pattern.rows,
                            [&] { return Schedule(triangle, compute_levels(pattern, triangle)); });
}

}  // namespace taskdag
