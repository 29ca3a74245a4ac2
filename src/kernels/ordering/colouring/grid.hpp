/// \file
/// Regular grids in natural order, recognised by their stencil.
#pragma once

#include <optional>
#include <vector>

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Rows that are looked at for a stencil, and how many of a row's neighbours: a 27-point stencil has 26.
inline constexpr Index kStencilRows = 256;
inline constexpr Index kStencilWidth = 26;

/// The rows of a sample, spread evenly.
TASKDAG_HD Index stencil_rows(Index rows) { return rows < kStencilRows ? rows : kStencilRows; }
TASKDAG_HD Index stencil_row(Index rows, Index sample) {
  return static_cast<Index>((2 * std::int64_t{sample} + 1) * rows / (2 * std::int64_t{stencil_rows(rows)}));
}

/// Sample s has the neighbours row + offsets[s · kStencilWidth + k], k < degree[s]; a row with more of them than the
/// width has no stencil.
struct StencilSample {
  std::vector<Index> degree;
  std::vector<Index> offsets;
};

/// each(row, add): calls add(neighbour) for all neighbours of the row but itself.
template <class Each>
StencilSample sample_stencils(Index rows, const Each& each) {
  StencilSample sample;
  const auto looked_at = static_cast<std::size_t>(stencil_rows(rows));
  constexpr auto kWidth = static_cast<std::size_t>(kStencilWidth);
  sample.degree.resize(looked_at);
  sample.offsets.assign(looked_at * kWidth, 0);
  for (std::size_t s = 0; s < looked_at; ++s) {
    const Index row = stencil_row(rows, static_cast<Index>(s));
    each(row, [&](Index neighbour) {
      const auto k = static_cast<std::size_t>(sample.degree[s]++);
      if (k < kWidth) sample.offsets[s * kWidth + k] = neighbour - row;
    });
  }
  return sample;
}

/// Rows that a block is to have.
struct BlockSize {
  Index rows = 0;
  bool asked = true;  ///< false: ours to choose; then boxes of a grid have what is best for its stencil
};

/// Points x + nx · (y + ny · z) in boxes: as many a direction as `span` is divided into, of which the grid fills the
/// first `extent` points.
struct Grid {
  Index extent[3] = {1, 1, 1};  // x, y, z
  Index boxes[3] = {1, 1, 1};
  Index span[3] = {1, 1, 1};
  Index points = 1;   ///< that a box was to have
  Index stencil = 1;  ///< points of it

  [[nodiscard]] TASKDAG_HD Index blocks() const { return boxes[0] * boxes[1] * boxes[2]; }
  [[nodiscard]] TASKDAG_HD Index block_of(Index row) const {
    const Index plane = row / extent[0];
    const Index x = box(0, row % extent[0]);
    const Index y = box(1, plane % extent[1]);
    const Index z = box(2, plane / extent[1]);
    return (z * boxes[1] + y) * boxes[0] + x;
  }

 private:
  [[nodiscard]] TASKDAG_HD Index box(int direction, Index coordinate) const {
    return static_cast<Index>(std::int64_t{coordinate} * boxes[direction] / span[direction]);
  }
};

/// The grid that at least half of the sampled rows agree on, in boxes of about `size` points. Nothing where there
/// is none: a wrong guess would cost quality only, whatever the blocks they are coloured by the true couplings.
std::optional<Grid> find_grid(const StencilSample& sample, Index rows, const BlockSize& size);

}  // namespace taskdag::kernels
