#include "kernels/jacobi/tiles.hpp"

#include <algorithm>
#include <array>

#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// Rows that all tiles compute in the first of `depth` sweeps, at most so many times the rows of the matrix.
constexpr double kMostAgain = 2.0;

/// The rows of a tile by distance.
struct Reach {
  std::vector<Index> row;
  std::array<std::size_t, kMostDepth + 1> end{};  ///< rows up to each distance
};

class ReachOfTiles {
 public:
  ReachOfTiles(const CsrPattern& pattern, int depth) : pattern_(pattern), depth_(depth), seen_(at(pattern.rows), -1) {}

  Reach of(std::size_t tile, std::span<const Index> own) {
    Reach reach;
    reach.row.assign(own.begin(), own.end());
    for (const Index row : own) seen_[at(row)] = static_cast<Index>(tile);
    reach.end[0] = reach.row.size();
    std::size_t begin = 0;
    for (int d = 1; d <= depth_; ++d) {
      const std::size_t end = reach.row.size();
      for (; begin < end; ++begin) {
        const Index row = reach.row[begin];
        for (Offset e = pattern_.row_offsets[row]; e < pattern_.row_offsets[row + 1]; ++e) {
          const Index column = pattern_.col_indices[e];
          if (seen_[at(column)] == static_cast<Index>(tile)) continue;
          seen_[at(column)] = static_cast<Index>(tile);
          reach.row.push_back(column);
        }
      }
      reach.end[static_cast<std::size_t>(d)] = reach.row.size();
    }
    return reach;
  }

 private:
  const CsrPattern& pattern_;
  int depth_;
  std::vector<Index> seen_;
};

/// What tiles come to at a depth.
struct Size {
  std::size_t bytes = 0;  ///< of the largest
  std::size_t computed = 0;
  bool fits = true;  ///< what has 16 bits
};

void add_to(Size& size, const CsrPattern& pattern, const Reach& reach, const TileRoom& room, int depth) {
  const std::size_t computed = reach.end[static_cast<std::size_t>(depth) - 1];
  const std::size_t rows = reach.end[static_cast<std::size_t>(depth)];
  std::size_t entries = 0;
  for (std::size_t k = 0; k < computed; ++k) {
    entries += at(pattern.row_offsets[reach.row[k] + 1] - pattern.row_offsets[reach.row[k]]);
  }
  // One more: a value that is taken for nothing but order.
  size.bytes = std::max(size.bytes, bytes_of_tile(room, entries, computed, rows + 1));
  size.computed += computed;
  size.fits = size.fits && entries <= 0xFFFF && rows < 0xFFFF && computed <= room.computed;
}

/// The largest depth up to `most_depth` at which every tile fits and what is computed again stays within bounds; or 0.
int deepest_that_fits(const std::array<Size, kMostDepth + 1>& size, const CsrPattern& pattern, const TileRoom& room,
                      int most_depth) {
  for (int depth = most_depth; depth > 0; --depth) {
    const Size& s = size[static_cast<std::size_t>(depth)];
    const bool too_often = depth > 1 && static_cast<double>(s.computed) > kMostAgain * pattern.rows;
    if (s.fits && s.bytes <= room.bytes && !too_often) return depth;
  }
  return 0;
}

/// Of each tile the others whose values it needs, ascending. `tile_of`: by row.
std::vector<std::vector<std::uint32_t>> givers_of(const std::vector<Reach>& reach,
                                                  const std::vector<std::uint32_t>& tile_of) {
  std::vector<std::vector<std::uint32_t>> givers(reach.size());
  for (std::size_t t = 0; t < reach.size(); ++t) {
    for (std::size_t k = reach[t].end[0]; k < reach[t].row.size(); ++k) {
      givers[t].push_back(tile_of[at(reach[t].row[k])]);
    }
    std::sort(givers[t].begin(), givers[t].end());
    givers[t].erase(std::unique(givers[t].begin(), givers[t].end()), givers[t].end());
  }
  return givers;
}

/// Cuts the tiles' rows off at `depth`. Values are exchanged both ways: a tile that only gives takes a row more.
void exchange_both_ways(std::vector<Reach>& reach, Index rows, int depth) {
  const auto last = static_cast<std::size_t>(depth);
  std::vector<std::uint32_t> tile_of(at(rows));
  for (std::size_t t = 0; t < reach.size(); ++t) {
    for (std::size_t k = 0; k < reach[t].end[0]; ++k) tile_of[at(reach[t].row[k])] = static_cast<std::uint32_t>(t);
    reach[t].row.resize(reach[t].end[last]);
  }
  const std::vector<std::vector<std::uint32_t>> givers = givers_of(reach, tile_of);
  for (std::size_t t = 0; t < reach.size(); ++t) {
    for (const std::uint32_t giver : givers[t]) {
      if (!std::binary_search(givers[giver].begin(), givers[giver].end(), static_cast<std::uint32_t>(t))) {
        reach[giver].row.push_back(reach[t].row[0]);
        ++reach[giver].end[last];
      }
    }
  }
}

/// By row: whether a tile takes the value of another tile's row.
std::vector<char> rows_given(const std::vector<Reach>& reach, Index rows) {
  std::vector<char> given(at(rows), 0);
  for (const Reach& r : reach) {
    for (std::size_t k = r.end[0]; k < r.row.size(); ++k) given[at(r.row[k])] = 1;
  }
  return given;
}

}  // namespace

JacobiTiles::JacobiTiles(const CsrPattern& pattern, std::span<const Index> order, std::span<const Index> begin,
                         const TileRoom& room, int most_depth) {
  const std::size_t tiles = begin.size() - 1;
  std::vector<Reach> reach(tiles);
  std::array<Size, kMostDepth + 1> size;
  ReachOfTiles reaches(pattern, most_depth);
  for (std::size_t t = 0; t < tiles; ++t) {
    reach[t] = reaches.of(t, order.subspan(at(begin[t]), at(begin[t + 1] - begin[t])));
    for (int d = 1; d <= most_depth; ++d) add_to(size[static_cast<std::size_t>(d)], pattern, reach[t], room, d);
  }
  depth = deepest_that_fits(size, pattern, room, most_depth);
  if (depth == 0) return;
  again = static_cast<double>(size[static_cast<std::size_t>(depth)].computed) / std::max(pattern.rows, 1);

  exchange_both_ways(reach, pattern.rows, depth);
  const std::vector<char> given = rows_given(reach, pattern.rows);
  std::vector<std::uint16_t> number_of(at(pattern.rows), 0);
  bool enough = true;  // with the values that are taken for nothing but order
  for (const Reach& r : reach) {
    JacobiTile one{static_cast<std::uint32_t>(row.size()),
                   static_cast<std::uint32_t>(operand.size()),
                   static_cast<std::uint32_t>(offset.size()),
                   {}};
    for (int d = 0; d <= depth; ++d) one.level_end[d] = static_cast<Index>(r.end[static_cast<std::size_t>(d)]);
    const std::size_t computed = r.end[static_cast<std::size_t>(depth) - 1];
    enough = enough && r.row.size() <= 0xFFFF;
    for (std::size_t k = r.row.size(); k-- > 0;) number_of[at(r.row[k])] = static_cast<std::uint16_t>(k);
    offset.push_back(0);
    for (std::size_t k = 0; k < r.row.size(); ++k) {
      const Index i = r.row[k];
      row.push_back(static_cast<std::uint32_t>(i) | (k < r.end[0] && given[at(i)] != 0 ? kGiven : 0U));
      if (k >= computed) continue;
      for (Offset e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
        operand.push_back(number_of[at(pattern.col_indices[e])]);
        source.push_back(e);
      }
      offset.push_back(static_cast<std::uint16_t>(operand.size() - one.entry_begin));
    }
    shared_bytes =
        std::max(shared_bytes, bytes_of_tile(room, operand.size() - one.entry_begin, computed, r.row.size()));
    tile.push_back(one);
  }
  if (!enough || shared_bytes > room.bytes) *this = {};
}

}  // namespace taskdag::kernels
