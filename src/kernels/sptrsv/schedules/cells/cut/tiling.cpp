#include "kernels/sptrsv/schedules/cells/cut/tiling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/schedules/cells/memory.hpp"
#include "taskdag/calibration.hpp"

namespace taskdag::kernels::cells {
namespace {

// Microseconds, fitted on an H200.
constexpr double kStart = 6.0;  // of a solve: a launch
// From one tile of a multiprocessor to the next, which begins with what others have left in the cache that they share,
// and from a tile to one that waits for it: hops.
constexpr double kNextTile = 2.0;
constexpr double kHop = 1.4;
// Steps inside a multiprocessor.
constexpr double kStep = 0.0156;  // of the compute warp, and more the more pairs of entries it multiplies
constexpr double kPair = 0.0201;
constexpr double kPairSquared = 0.0019;
constexpr double kWay = 0.02;           // and where lanes of a row add up what they have, each time
constexpr double kOutsideRow = 0.0024;  // a row of the fetchers, and an entry of it
constexpr double kFetch = 0.0014;
constexpr double kBeside = 0.38;  // of the shorter of the two times: compute warp and fetchers slow each other down

/// More tiles than this many times the multiprocessors are not tried: each costs kNextTile.
constexpr double kMost = 16.0;

/// Most entries of a row that the compute warp multiplies.
double held_by_compute_warp(int ways) { return 2.0 * kMaxPairs * ways; }

/// How many entries of a row have their operands in the row's tile.
struct Inside {
  double mean = 0.0;
  double most = 0.0;
};

Inside inside_of(const Lines& lines, const TileShape& shape) {
  Inside inside;
  for (Index planes = 0; planes < 2; ++planes) {
    for (Index l = -Lines::kReach; l <= Lines::kReach; ++l) {
      const Index leaning = l + lines.shear * planes;  // lines between row and operand in a tile that leans
      if (planes >= shape.planes || leaning >= shape.lines || leaning < 0) continue;
      const double share =
          (1.0 - static_cast<double>(planes) / shape.planes) * (1.0 - static_cast<double>(leaning) / shape.lines);
      const auto p = at(planes);
      const auto distance = at(l + Lines::kReach);
      inside.mean += share * static_cast<double>(lines.entries[p][distance]) / lines.rows;
      inside.most += static_cast<double>(lines.most[p][distance]);
    }
  }
  return inside;
}

/// Tiles of a shape: where they are, and in which order they can start.
class TileLayout {
 public:
  TileLayout(const Lines& lines, const TileShape& shape) : lines_(lines), shape_(shape) {
    across_ = (lines.lines() + lines.shear * (shape.planes - 1) + shape.lines - 1) / shape.lines;
    slabs_ = (lines.planes() + shape.planes - 1) / shape.planes;
    ahead_ = (lines.shear * shape.planes + shape.lines - 1) / shape.lines;
    back_ = (Lines::kReach + lines.shear + shape.lines - 1) / shape.lines;
    const std::size_t size = at(across_) * at(slabs_);
    held_.resize(size);
    start_.resize(size);
    for (Index slab = 0; slab < slabs_; ++slab) {
      for (Index across = 0; across < across_; ++across) {
        held_[index(slab, across)] = lines_of(slab, across);
        if (held_[index(slab, across)] > 0) order_.push_back(static_cast<Index>(index(slab, across)));
        start_[index(slab, across)] = start_of(slab, across);
      }
    }
    // A tile starts after all that it waits for: a topological order.
    std::ranges::stable_sort(order_, {}, [&](Index tile) { return start_[at(tile)]; });
  }

  [[nodiscard]] Index across() const { return across_; }
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }
  [[nodiscard]] Index lines_held(Index tile) const { return held_[at(tile)]; }
  [[nodiscard]] std::int64_t start(Index tile) const { return start_[at(tile)]; }
  [[nodiscard]] std::size_t size() const { return held_.size(); }

  /// Calls visit(tile) for the tiles with rows that `tile` may wait for.
  template <class Visit>
  void before(Index tile, const Visit& visit) const {
    const Index slab = tile / across_;
    const Index across = tile % across_;
    const auto offer = [&](Index s, Index p) {
      if (s >= 0 && p >= 0 && p < across_ && held_[index(s, p)] > 0) visit(static_cast<Index>(index(s, p)));
    };
    for (Index back = 1; back <= back_; ++back) offer(slab, across - back);
    for (Index p = across - back_; p <= across + ahead_; ++p) offer(slab - 1, p);
  }

 private:
  [[nodiscard]] std::size_t index(Index slab, Index across) const { return at(slab) * at(across_) + at(across); }

  /// Lines of all planes of a slab that lie in the tile.
  [[nodiscard]] Index lines_of(Index slab, Index across) const {
    const Index planes = std::min(shape_.planes, lines_.planes() - slab * shape_.planes);
    Index sum = 0;
    for (Index k = 0; k < planes; ++k) {
      const Index from = std::max(across * shape_.lines, lines_.shear * k);
      const Index to = std::min((across + 1) * shape_.lines, lines_.shear * k + lines_.lines());
      sum += std::max(0, to - from);
    }
    return sum;
  }

  /// When a tile can start, in levels, as if no tile ever waited: after all tiles that it may wait for, whose starts
  /// are known already.
  [[nodiscard]] std::int64_t start_of(Index slab, Index across) const {
    std::int64_t start = std::int64_t{lines_.levels_per_line} * shape_.lines * across +
                         std::int64_t{lines_.levels_per_plane} * shape_.planes * slab;
    before(static_cast<Index>(index(slab, across)), [&](Index tile) { start = std::max(start, start_[at(tile)] + 1); });
    return start;
  }

  const Lines& lines_;
  TileShape shape_;
  Index across_;
  Index slabs_;
  Index ahead_;  ///< tiles by which one of the slab before may be ahead of one that waits for it
  Index back_;   ///< tiles by which it may be behind
  std::vector<Index> held_;
  std::vector<std::int64_t> start_;
  std::vector<Index> order_;
};

/// The levels of a tile that no border of the grid cuts.
double levels_of(const Lines& lines, const TileShape& shape) {
  const Index levels = lines.line_levels + lines.levels_per_line * (shape.lines - 1) +
                       (lines.levels_per_plane - lines.shear * lines.levels_per_line) * (shape.planes - 1);
  return std::max(1, levels);
}

/// The steps of a tile. Each of its lines has about as many rows in a level, one or some.
double steps_of(const Lines& lines, double lines_held, double levels, int ways) {
  const double rows = lines_held * lines.line / lines.line_levels;
  return levels + lines.line_levels * (std::ceil(rows * ways / kLanes) - 1.0);
}

/// How many entries of a row the fetchers take, in the mean.
double outside_of(const Lines& lines, const Inside& inside, int ways) {
  double all = 0.0;
  for (const auto& plane : lines.entries) {
    for (const auto entries : plane) all += static_cast<double>(entries);
  }
  return all / lines.rows - std::min(inside.mean, held_by_compute_warp(ways));
}

/// Tiles of one shape with `ways` lanes a row, on such a device.
struct Trial {
  const Lines& lines;
  const TileLayout& layout;
  TileShape shape;
  int ways;
  int multiprocessors;
  DeviceRates rates;
};

/// When the last tile ends. The simulation stops at `limit`: the result is then `limit` or later.
double simulate(const Trial& trial, double limit) {
  struct Times {
    double begin = 0.0;
    double end = 0.0;
  };
  const Lines& lines = trial.lines;
  const TileLayout& layout = trial.layout;
  const DeviceRates& rates = trial.rates;
  const double start = rates.launch * kStart;
  const double hop = rates.hop * kHop;
  const Inside inside = inside_of(lines, trial.shape);
  const double pairs = std::ceil(std::min(inside.most, held_by_compute_warp(trial.ways)) / (2.0 * trial.ways));
  const double step = kStep + pairs * (kPair + pairs * kPairSquared) + kWay * std::log2(trial.ways);
  const double a_row = kOutsideRow + outside_of(lines, inside, trial.ways) * kFetch;
  const double levels = levels_of(lines, trial.shape);
  const auto takes = [&](Index tile) {
    const double held = layout.lines_held(tile);
    const double running = rates.step * steps_of(lines, held, levels, trial.ways) * step;
    const double fetching = rates.step * held * lines.line * a_row;
    return std::max(running, fetching) + kBeside * std::min(running, fetching) + rates.hop * kNextTile;
  };
  // At least: all work, evenly shared; all levels, one after the other.
  double work = 0.0;
  double most = 0.0;
  for (const Index tile : layout.order()) {
    work += takes(tile);
    most = std::max(most, takes(tile));
  }
  const double all_levels = lines.line_levels + lines.levels_per_line * (lines.lines() - 1.0) +
                            lines.levels_per_plane * (lines.planes() - 1.0);
  const double least = start + std::max(work / trial.multiprocessors, most * all_levels / levels);
  if (least >= limit) return least;

  std::vector<Times> times(layout.size());
  std::priority_queue<double, std::vector<double>, std::greater<>> idle_from;
  for (int k = 0; k < trial.multiprocessors; ++k) idle_from.push(0.0);
  double last = 0.0;
  for (const Index tile : layout.order()) {
    const double mine = takes(tile);
    const double a_level = mine / levels;
    double begin = idle_from.top();
    idle_from.pop();
    double end = 0.0;
    layout.before(tile, [&](Index other) {
      const auto behind = static_cast<double>(layout.start(tile) - layout.start(other));
      begin = std::max(begin, times[at(other)].begin + hop + a_level * behind);
      end = std::max(end, times[at(other)].end + hop + a_level * std::min(behind, levels));
    });
    end = std::max(end, begin + mine);
    times[at(tile)] = {begin, end};
    idle_from.push(end);
    last = std::max(last, end);
    if (start + last >= limit) break;
  }
  return start + last;
}

Tiling tiling_of(const Trial& trial, double microseconds) {
  const TileLayout& layout = trial.layout;
  Tiling tiling;
  tiling.shape = trial.shape;
  tiling.ways = trial.ways;
  tiling.across = layout.across();
  tiling.tiles = static_cast<int>(layout.order().size());
  tiling.microseconds = microseconds;
  tiling.number.assign(layout.size(), -1);
  for (std::size_t k = 0; k < layout.order().size(); ++k) tiling.number[at(layout.order()[k])] = static_cast<Index>(k);
  const Inside inside = inside_of(trial.lines, trial.shape);
  const double levels = levels_of(trial.lines, trial.shape);
  for (const Index tile : layout.order()) {
    const double held = layout.lines_held(tile);
    tiling.bytes += bytes_of(steps_of(trial.lines, held, levels, trial.ways),
                             std::min(inside.mean, held_by_compute_warp(trial.ways)) / trial.ways,
                             held * trial.lines.line * outside_of(trial.lines, inside, trial.ways));
  }
  return tiling;
}

}  // namespace

Tiling make_tiling(const Lines& lines, TileShape shape, int ways, int multiprocessors, const DeviceRates& rates) {
  const TileLayout layout(lines, shape);
  const Trial trial{lines, layout, shape, ways, multiprocessors, rates};
  return tiling_of(trial, simulate(trial, std::numeric_limits<double>::infinity()));
}

Tiling choose_tiling(const Lines& lines, int multiprocessors, const DeviceRates& rates) {
  // Those that were fastest somewhere, or nearly: by stencils, extents and unknowns a point; and larger ones for grids
  // of more lines than were measured.
  constexpr std::array<TileShape, 17> kShapes{{{8, 4},
                                               {4, 4},
                                               {4, 2},
                                               {2, 2},
                                               {1, 1},
                                               {5, 6},
                                               {4, 8},
                                               {5, 3},
                                               {4, 3},
                                               {8, 8},
                                               {6, 4},
                                               {1, 2},
                                               {2, 1},
                                               {2, 4},
                                               {12, 1},
                                               {16, 8},
                                               {16, 16}}};
  Tiling best;
  best.microseconds = std::numeric_limits<double>::infinity();
  for (const TileShape& shape : kShapes) {
    if (shape.planes > lines.planes() || shape.lines > lines.lines()) continue;
    const double tiles = static_cast<double>(lines.lines()) * lines.planes() / (shape.planes * shape.lines);
    if (tiles > kMost * multiprocessors) continue;
    const TileLayout layout(lines, shape);
    for (const int ways : {1, 2, 4}) {
      const Trial trial{lines, layout, shape, ways, multiprocessors, rates};
      const double microseconds = simulate(trial, best.microseconds);
      if (microseconds < best.microseconds) best = tiling_of(trial, microseconds);
    }
  }
  return best;
}

}  // namespace taskdag::kernels::cells
