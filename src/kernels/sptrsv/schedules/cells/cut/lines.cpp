#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"

namespace taskdag::kernels::cells {

std::vector<Lines> guess_lines(const Distances& distances, Index rows) {
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
    if (groups == kMostGroups) return {};
    group[static_cast<std::size_t>(groups++)] = {least, most};
  }
  if (groups < 2 || group[0].least != 1) return {};
  // Distances lie about a line's evenly, or end with it: an elimination leaves fill at shorter ones alone.
  std::vector<Lines> guesses;
  const auto guess = [&](Index line, Index plane) {
    const bool whole = groups < 3 || plane % line == 0;
    if (!whole || line >= plane || plane > rows) return;
    if (!guesses.empty() && guesses[0].line == line && guesses[0].plane == plane) return;
    guesses.push_back({.rows = rows, .line = line, .plane = plane});
  };
  const auto middle = [&](std::size_t g) { return group[g].least + (group[g].most - group[g].least) / 2; };
  guess(middle(1), groups == 3 ? middle(2) : rows);
  guess(group[1].most, groups == 3 ? group[2].most : rows);
  return guesses;
}

}  // namespace taskdag::kernels::cells
