/// \file
/// A matrix cut into tiles for Jacobi sweeps: compact sets of rows with enough of what lies around them for several
/// sweeps. A tile of depth d has its own rows, the rows whose values these need (distance 1), and so on up to distance
/// d; from the values of one iterate it computes d sweeps of its own rows without asking anybody, doing again what its
/// neighbours do: sweep j of d computes the rows up to distance d − j.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

inline constexpr int kMostDepth = 4;

struct JacobiTile {
  std::uint32_t row_begin;          ///< of its rows, in JacobiTiles::row
  std::uint32_t entry_begin;        ///< of the entries of the rows up to distance depth − 1
  std::uint32_t offset_begin;       ///< of these rows' offsets: one more than rows, from 0
  Index level_end[kMostDepth + 1];  ///< rows up to distance 0, 1, …, depth
};

/// What a tile may take.
struct TileRoom {
  std::size_t bytes;     ///< see bytes_of_tile()
  bool entries;          ///< they are among these bytes, with b and scale: not where threads keep their rows
  std::size_t computed;  ///< rows that it computes, at most
};

/// Tiles that take values from each other do so in both directions: where one has only to give, it takes a value that
/// it does not use. So when values of one exchange have come from a neighbour, the neighbour has taken all values of
/// the exchange before, and two copies of each value are enough.
struct JacobiTiles {
  JacobiTiles() = default;
  /// pattern: square, columns in range, in host memory. Tile t has the rows order[begin[t]], …, order[begin[t + 1] −
  /// 1]. The depth is the largest up to `most_depth` that leaves every tile within `room` and does not compute more
  /// than twice the rows there are. depth is 0, and there is nothing else, if even 1 does not fit.
  JacobiTiles(const CsrPattern& pattern, std::span<const Index> order, std::span<const Index> begin,
              const TileRoom& room, int most_depth);

  static constexpr std::uint32_t kGiven = 0x80000000U;

  int depth = 0;
  double again = 0.0;            ///< rows that are computed in the first of `depth` sweeps, over those of the matrix
  std::size_t shared_bytes = 0;  ///< of the largest tile
  std::vector<JacobiTile> tile;
  std::vector<std::uint32_t> row;     ///< of a tile: its own, with kGiven where others take its value, then by distance
  std::vector<std::uint16_t> offset;  ///< of rows, in their tile's entries
  std::vector<std::uint16_t> operand;  ///< of each entry's column among the rows of the tile
  std::vector<Offset> source;          ///< of each entry in the matrix
};

/// Bytes that a tile takes: all rows (two iterates, number), and where entries are among them these (value, operand)
/// and the rows that it computes (b, scale, offset).
constexpr std::size_t bytes_of_tile(const TileRoom& room, std::size_t entries, std::size_t computed, std::size_t rows) {
  return ((room.entries ? 10 * entries + 18 * computed + 2 : 0) + 20 * rows + 7) / 8 * 8 + 8;
}

}  // namespace taskdag::kernels
