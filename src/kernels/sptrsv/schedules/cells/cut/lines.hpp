/// \file
/// Rows that are numbered line by line and plane by plane, as on a structured grid, recognised by their entries.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Rows count in the direction of the sweep. Row r lies on line r % plane / line of plane r / plane; with several
/// unknowns a point, all rows of a point lie on one line. An entry's operand lies `planes` planes and `lines` lines
/// before its row; planes is 0 or 1, and lines is negative only where planes is 1 and then not below −shear.
struct Lines {
  Index rows = 0;
  Index line = 0;   ///< rows of a line
  Index plane = 0;  ///< rows of a plane, a multiple of `line` where there are several planes
  Index shear = 0;
  Index line_levels = 0;       ///< levels of the first line
  Index levels_per_line = 0;   ///< by which the second line is behind the first
  Index levels_per_plane = 0;  ///< and the second plane behind the first; 0: there is one

  static constexpr Index kReach = 2;  ///< most lines between a row and its operands
  /// Entries whose operand lies p planes and l lines before: entries[p][l + kReach]; most[p][…]: of one row.
  using ByReach = std::array<std::array<unsigned long long, 2 * kReach + 1>, 2>;
  ByReach entries{};
  ByReach most{};

  [[nodiscard]] Index lines() const { return (plane + line - 1) / line; }
  [[nodiscard]] Index planes() const { return (rows + plane - 1) / plane; }
};

/// The lines of a triangle, if its rows are numbered by several lines. They are guessed from a sample of the rows and
/// checked against all entries. Without input.levels the numbers of levels are 0. Synchronises `stream`.
std::optional<Lines> find_lines(const SweepInput& input, cudaStream_t stream);

/// Distances between rows and their operands, by octave: least[k] and most[k] are the extremes in [2^k, 2^(k + 1));
/// most[k] is 0 where there are none. On a grid they come in groups: around 1, a line and a plane.
struct Distances {
  static constexpr int kOctaves = 31;
  std::array<Index, kOctaves> least{};
  std::array<Index, kOctaves> most{};
};

/// The lines that such distances suggest, two guesses at most: `rows`, `line` and `plane` of them.
std::vector<Lines> guess_lines(const Distances& distances, Index rows);

}  // namespace taskdag::kernels::cells
