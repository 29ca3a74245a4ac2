#include "papers/helal/task_size.hpp"

#include <algorithm>
#include <cstdint>

namespace taskdag::kernels {

Index choose_granularity(Index smallest, double ratio, double launch, double row, Index rows) {
  const double wanted = row > 0.0 ? ratio * launch / row : 0.0;
  const double most = static_cast<double>(std::max(rows, 1));
  return static_cast<Index>(std::clamp(std::max(wanted, static_cast<double>(smallest)), 1.0, most));
}

Index granularity_of_levels(Index warps, Index rows, Index levels) {
  // Fitted on an H100: docs/papers/papers.md, "Granularity".
  constexpr std::int64_t kRowsPerWarp = 4;
  constexpr std::int64_t kLevelsPerTask = 8;
  const std::int64_t filling = kRowsPerWarp * warps;
  const std::int64_t spanning = kLevelsPerTask * rows / std::max(levels, 1);
  return static_cast<Index>(std::clamp<std::int64_t>(std::max(filling, spanning), 1, std::max(rows, 1)));
}

}  // namespace taskdag::kernels
