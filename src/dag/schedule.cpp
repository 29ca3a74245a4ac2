#include "taskdag/schedule.hpp"

#include <algorithm>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag {

Schedule::Schedule(Triangle triangle, std::span<const Index> level)
    : triangle_(triangle), order_(level.size()), position_(level.size()) {
  const auto rows = static_cast<Index>(level.size());
  Index levels = 0;
  for (std::size_t row = 0; row < level.size(); ++row) {
    if (level[row] < 0 || level[row] >= rows) {
      throw InvalidInput("row " + std::to_string(row) + " has level " + std::to_string(level[row]) +
                         ", outside the levels that " + std::to_string(rows) + " rows can have");
    }
    levels = std::max(levels, level[row] + 1);
  }

  level_offsets_.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (const Index l : level) ++level_offsets_[static_cast<std::size_t>(l) + 1];
  for (std::size_t l = 1; l < level_offsets_.size(); ++l) {
    if (level_offsets_[l] == 0) throw InvalidInput("level " + std::to_string(l - 1) + " has no row");
    widest_level_ = std::max(widest_level_, level_offsets_[l]);
    level_offsets_[l] += level_offsets_[l - 1];
  }

  std::vector<Index> next(level_offsets_);
  for (Index step = 0; step < rows; ++step) {
    const auto row = static_cast<std::size_t>(triangle == Triangle::lower ? step : rows - 1 - step);
    const Index position = next[static_cast<std::size_t>(level[row])]++;
    order_[static_cast<std::size_t>(position)] = static_cast<Index>(row);
    position_[row] = position;
  }
}

}  // namespace taskdag
