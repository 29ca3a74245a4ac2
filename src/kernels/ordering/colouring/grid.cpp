#include "kernels/ordering/colouring/grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// Distances to the neighbours, ascending, each once: a stencil, whichever side of it a row stores.
std::vector<Index> stencil_of(const StencilSample& sample, std::size_t s) {
  std::vector<Index> stencil;
  if (sample.degree[s] > kStencilWidth) return stencil;
  const Index* const offsets = sample.offsets.data() + s * at(kStencilWidth);
  for (Index k = 0; k < sample.degree[s]; ++k) stencil.push_back(std::abs(offsets[k]));
  std::ranges::sort(stencil);
  stencil.erase(std::unique(stencil.begin(), stencil.end()), stencil.end());
  return stencil;
}

/// What at least half of the rows have, where nearly all others have some of it: those at the boundary.
std::vector<Index> common_stencil(const StencilSample& sample) {
  constexpr double kNearlyAll = 0.9;
  std::map<std::vector<Index>, std::size_t> counts;
  for (std::size_t s = 0; s < sample.degree.size(); ++s) ++counts[stencil_of(sample, s)];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  if (most == counts.end() || 2 * most->second < sample.degree.size()) return {};
  std::size_t covered = 0;
  for (const auto& [stencil, count] : counts) {
    if (std::ranges::includes(most->first, stencil)) covered += count;
  }
  return static_cast<double>(covered) < kNearlyAll * static_cast<double>(sample.degree.size()) ? std::vector<Index>{}
                                                                                               : most->first;
}

/// Distances behind the first one as the middles of c or c − 1, c, c + 1; nothing where they are of another form.
std::optional<std::vector<Index>> middles_of(const std::vector<Index>& stencil) {
  std::vector<Index> middles;
  for (std::size_t k = 1; k < stencil.size();) {
    std::size_t next = k + 1;
    while (next < stencil.size() && stencil[next] == stencil[next - 1] + 1) ++next;
    if (next - k != 1 && next - k != 3) return std::nullopt;
    middles.push_back(stencil[k + (next - k) / 2]);
    k = next;
  }
  return middles;
}

std::optional<Grid> extents_of(const std::vector<Index>& stencil, Index rows) {
  if (stencil.empty() || stencil.front() != 1) return std::nullopt;
  const auto found = middles_of(stencil);
  if (!found) return std::nullopt;
  const std::vector<Index>& middles = *found;
  Grid grid;
  if (middles.empty()) {
    grid.extent[0] = rows;
    return grid;
  }
  grid.extent[0] = middles[0];
  Index plane = rows;  // points of a plane; all of them where there is one plane
  if (middles.size() == 2) {
    plane = middles[1];
  } else if (middles.size() == 4) {  // lines of the plane above
    if (middles[2] - middles[1] != middles[0] || middles[3] - middles[2] != middles[0]) return std::nullopt;
    plane = middles[2];
  } else if (middles.size() != 1) {
    return std::nullopt;
  }
  if (middles.size() > 1 && plane % middles[0] != 0) return std::nullopt;
  grid.extent[1] = pieces_of(plane, middles[0]);
  grid.extent[2] = pieces_of(rows, plane);
  return grid;
}

/// The edge of a cube with `volume` points in `directions` directions. whole: of x, where points that follow each other
/// lie side by side in vectors, a power of two: runs that begin where memory's own units begin; from 512 points in
/// space on a line of 128 bytes.
double edge_of(double volume, int directions, bool whole) {
  constexpr double kLargeBox = 512.0;
  constexpr double kLine = 16.0;
  const double edge = std::pow(volume, 1.0 / directions);
  if (!whole) return std::round(edge);
  return directions == 3 && volume >= kLargeBox ? std::max(edge, kLine) : std::exp2(std::round(std::log2(edge)));
}

/// Points of a box where no size was asked for, as measured on an H100 with the schedule `blocks`: in space, where rows
/// are short, large boxes have fewer operands outside, and with 19 or 27 points small ones leave room for more blocks.
/// neighbours: distances, of both sides together.
Index points_of_box(const Grid& grid, std::size_t neighbours, Index rows, Index otherwise) {
  constexpr std::size_t kFew = 3;
  constexpr std::size_t kMany = 9;
  constexpr Index kLarge = 512;
  constexpr Index kLargeFrom = 1000000;
  constexpr Index kSmall = 64;
  if (grid.extent[2] == 1) return otherwise;
  if (neighbours >= kMany) return std::min(kSmall, otherwise);
  return neighbours <= kFew && rows >= kLargeFrom ? kLarge : otherwise;
}

/// Boxes of one shape but for the last ones, so that as many blocks as possible look alike; where there are few of
/// them, edges as equal as the extents allow. x first, then from the least extent on.
void cut(Grid& grid, bool asked) {
  constexpr Index kMany = 5;
  std::array<int, 3> directions{0, 1, 2};
  std::ranges::stable_sort(directions.begin() + 1, directions.end(), {}, [&](int d) { return grid.extent[d]; });
  int remaining = static_cast<int>(std::ranges::count_if(grid.extent, [](Index extent) { return extent > 1; }));
  double volume = grid.points;
  for (const int d : directions) {
    const Index extent = grid.extent[d];
    if (extent == 1) continue;
    const Index edge =
        static_cast<Index>(std::clamp(edge_of(volume, remaining, d == 0 && !asked), 1.0, static_cast<double>(extent)));
    grid.boxes[d] = pieces_of(extent, edge);
    grid.span[d] = grid.boxes[d] * edge;
    if (grid.boxes[d] < kMany) {
      grid.boxes[d] = std::max<Index>(1, static_cast<Index>(std::lround(static_cast<double>(extent) / edge)));
      grid.span[d] = extent;
    }
    volume /= edge;
    --remaining;
  }
}

}  // namespace

std::optional<Grid> find_grid(const StencilSample& sample, Index rows, const BlockSize& size) {
  const std::vector<Index> stencil = common_stencil(sample);
  std::optional<Grid> grid = extents_of(stencil, rows);
  if (!grid) return grid;
  grid->stencil = static_cast<Index>(2 * stencil.size()) + 1;
  grid->points = size.asked ? size.rows : points_of_box(*grid, stencil.size(), rows, size.rows);
  cut(*grid, size.asked);
  return grid;
}

}  // namespace taskdag::kernels
