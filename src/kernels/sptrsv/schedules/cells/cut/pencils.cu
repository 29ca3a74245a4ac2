#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// What a row of a grid of seven points has; misfits: entries that no such row has.
struct PencilRow {
  Offset before = -1;
  Offset line_before = -1;
  Offset plane_before = -1;
  bool misfits = false;
};

__device__ PencilRow entries_of_row(SweepOrder order, const Pencils& grid, const Index* col_indices, Offset first,
                                    Index count, Index step) {
  PencilRow found;
  const Index plane = grid.columns * grid.lines;
  for (Index e = 0; e < count; ++e) {
    const Index distance = step - order(col_indices[first + e]);
    if (distance == 1 && step % grid.columns > 0 && found.before < 0) {
      found.before = first + e;
    } else if (distance == grid.columns && step % plane >= grid.columns && found.line_before < 0) {
      found.line_before = first + e;
    } else if (distance == plane && found.plane_before < 0) {
      found.plane_before = first + e;
    } else {
      found.misfits = true;
    }
  }
  return found;
}

__global__ void look_for_pencil_misfits(SweepOrder order, Pencils grid, const Index* col_indices, const Offset* first,
                                        const Index* count, int* misfits) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  if (entries_of_row(order, grid, col_indices, first[row], count[row], order(row)).misfits) *misfits = 1;
}

__global__ void note_pencil_entries(SweepOrder order, Pencils grid, const Index* col_indices, const Offset* first,
                                    const Index* count, const Offset* source_entry, PencilEntries entries) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  const Index step = order(row);
  const PencilRow mine = entries_of_row(order, grid, col_indices, first[row], count[row], step);
  const auto source = [&](Offset e) { return e >= 0 && source_entry ? source_entry[e] : e; };
  entries.before[step] = source(mine.before);
  entries.line_before[step] = source(mine.line_before);
  entries.plane_before[step] = source(mine.plane_before);
}

}  // namespace

std::optional<Pencils> find_pencils(const SweepInput& input, const Lines& lines, cudaStream_t stream) {
  if (lines.planes() < 2 || lines.line < 2 || lines.plane % lines.line != 0 || lines.rows % lines.plane != 0)
    return std::nullopt;
  const Pencils pencils{lines.line, lines.plane / lines.line, lines.rows / lines.plane};
  if (pencils.lines < 2) return std::nullopt;
  // Numbers of rows go up to the end of a pencil, and a step further.
  if (std::int64_t{pencils.slabs() * kPencilPlanes + 1} * (pencils.lines + kPencilLines) * pencils.columns > INT_MAX)
    return std::nullopt;
  const cuda::ScratchArray<int> misfits(1, stream);
  cuda::check(cudaMemsetAsync(misfits.data(), 0, sizeof(int), stream), "clearing a flag");
  look_for_pencil_misfits<<<element_blocks(lines.rows), kElementBlock, 0, stream>>>(
      order_of(input), pencils, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      misfits.data());
  cuda::check_launch("look_for_pencil_misfits");
  if (cuda::fetch(misfits.data(), stream) != 0) return std::nullopt;
  return pencils;
}

void find_entries(const SweepInput& input, const Pencils& pencils, const PencilEntries& entries, cudaStream_t stream) {
  note_pencil_entries<<<element_blocks(input.pattern.rows), kElementBlock, 0, stream>>>(
      order_of(input), pencils, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      input.source_entry, entries);
  cuda::check_launch("note_pencil_entries");
}

double microseconds_of(const Pencils& pencils) {
  // Fitted on an H100.
  constexpr double kStart = 11.0;
  constexpr double kStep = 0.065;
  constexpr double kSlab = 1.05;
  constexpr double kMostSlab = 2.2;  // where there are many more pencils than half of the multiprocessors
  constexpr double kBand = 4.0;
  constexpr double kTurn = 2.0;   // from one pencil of a block to its next one
  constexpr double kRow = 29e-6;  // what its bytes take at two thirds of the memory's speed
  const int at_once = cuda::device_limits().multiprocessors;
  const double steps = kStep * (pencils.columns + kPencilLines);
  const double crowd = 2.0 * pencils.count() / at_once - 1.0;
  const double slab = std::clamp(kSlab + 2 * (kMostSlab - kSlab) * crowd, kSlab, kMostSlab);
  const double chain = steps + slab * (pencils.slabs() - 1) + kBand * (pencils.in_slab() - 1);
  const double rounds = (pencils.count() + at_once - 1) / at_once * (steps + kTurn);
  const double rows = static_cast<double>(pencils.columns) * pencils.lines * pencils.planes;
  return std::max(kStart + std::max(chain, rounds), kRow * rows);
}

double bytes_of(const Pencils& pencils) {
  constexpr double kLaneBytes = 3 * kPencilPlanes * sizeof(double);
  constexpr double kRowBytes = 2 * sizeof(double) + 3 * sizeof(Offset);
  const double rows = static_cast<double>(pencils.columns) * pencils.lines * pencils.planes;
  return (kLaneBytes + 2 * sizeof(double)) * kLanes * pencils.count() * (pencils.columns + 39.0) + kRowBytes * rows;
}

}  // namespace taskdag::kernels::cells
