#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"

namespace taskdag::kernels::cells {

std::optional<Lines> guess_lines(const Distances& distances, Index rows) {
  struct Group {
    Index least;
    Index most;
  };
  // A group ends where the next distance is more than twice as large: around a line of n rows distances are n − 1 to
  // n + 1, with u unknowns a point up to u − 1 more to either side.
  constexpr int kMostGroups = 3;
  std::array<Group, kMostGroups> group{};
  int groups = 0;
  for (std::size_t k = 0; k < distances.most.size(); ++k) {
    const Index least = distances.least[k];
    const Index most = distances.most[k];
    if (most == 0) continue;
    if (groups > 0 && least / 2 <= group[static_cast<std::size_t>(groups - 1)].most) {
      group[static_cast<std::size_t>(groups - 1)].most = most;
      continue;
    }
    if (groups == kMostGroups) return std::nullopt;
    group[static_cast<std::size_t>(groups++)] = {least, most};
  }
  if (groups < 2 || group[0].least != 1) return std::nullopt;
  const auto middle = [&](std::size_t g) { return group[g].least + (group[g].most - group[g].least) / 2; };
  Lines lines;
  lines.rows = rows;
  lines.line = middle(1);
  lines.plane = groups == 3 ? middle(2) : rows;
  const bool whole = groups < 3 || lines.plane % lines.line == 0;
  if (!whole || lines.line >= lines.plane || lines.plane > rows) return std::nullopt;
  return lines;
}

}  // namespace taskdag::kernels::cells
