#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

template <class Points>
__device__ int entry_of(const Pencils<Points>& grid, Index row, Index operand) {
  const Index line = row / grid.columns;
  const Index from = operand / grid.columns;
  return Points::entry(line / grid.lines - from / grid.lines, line % grid.lines - from % grid.lines,
                       row % grid.columns - operand % grid.columns);
}

/// Entries that no row of such a grid has, and such as a row has twice.
template <class Points>
__global__ void look_for_pencil_misfits(SweepOrder order, Pencils<Points> grid, const Index* col_indices,
                                        const Offset* first, const Index* count, int* misfits) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  const Index step = order(row);
  unsigned seen = 0;
  for (Index e = 0; e < count[row]; ++e) {
    const int k = entry_of(grid, step, order(col_indices[first[row] + e]));
    if (k < 0 || (seen >> k & 1U) != 0) {
      *misfits = 1;
      return;
    }
    seen |= 1U << k;
  }
}

template <class Points>
__global__ void note_pencil_entries(SweepOrder order, Pencils<Points> grid, const Index* col_indices,
                                    const Offset* first, const Index* count, const Offset* source_entry,
                                    Offset* source) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  const Index step = order(row);
  for (Index e = 0; e < count[row]; ++e) {
    const Offset from = first[row] + e;
    const std::int64_t k = entry_of(grid, step, order(col_indices[from]));
    source[k * order.rows + step] = source_entry ? source_entry[from] : from;
  }
}

/// Whether rows have as many entries in each line as Points has, at most.
template <class Points>
bool may_be(const Lines& lines) {
  for (Index planes = 0; planes < 2; ++planes) {
    for (Index reach = -Lines::kReach; reach <= Lines::kReach; ++reach) {
      unsigned long long expected = 0;
      for (Index columns = -1; columns <= 1; ++columns) expected += Points::entry(planes, reach, columns) >= 0 ? 1 : 0;
      if (lines.most[static_cast<std::size_t>(planes)][static_cast<std::size_t>(reach + Lines::kReach)] > expected)
        return false;
    }
  }
  return true;
}

}  // namespace

template <class Points>
std::optional<Pencils<Points>> find_pencils(const SweepInput& input, const Lines& lines, cudaStream_t stream) {
  if (lines.planes() < 2 || lines.line < 2 || lines.plane % lines.line != 0 || lines.rows % lines.plane != 0)
    return std::nullopt;
  if (!may_be<Points>(lines)) return std::nullopt;
  const Pencils<Points> pencils{lines.line, lines.plane / lines.line, lines.rows / lines.plane};
  if (pencils.lines < 2) return std::nullopt;
  // Numbers of rows go up to the end of a pencil, and a step further.
  const std::int64_t most_planes = pencils.slabs() * Points::kPlanes + 1;
  if (most_planes * (pencils.lines + kLanes + Points::kPlanes) * pencils.columns > INT_MAX) return std::nullopt;
  const cuda::ScratchArray<int> misfits(1, stream);
  cuda::check(cudaMemsetAsync(misfits.data(), 0, sizeof(int), stream), "clearing a flag");
  look_for_pencil_misfits<<<element_blocks(lines.rows), kElementBlock, 0, stream>>>(
      order_of(input), pencils, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      misfits.data());
  cuda::check_launch("look_for_pencil_misfits");
  if (cuda::fetch(misfits.data(), stream) != 0) return std::nullopt;
  return pencils;
}

template <class Points>
void find_entries(const SweepInput& input, const Pencils<Points>& pencils, Offset* source, cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  cuda::check(cudaMemsetAsync(source, 0xFF, at(Points::kEntries) * at(rows) * sizeof(Offset), stream),
              "clearing the sources of pencils");
  note_pencil_entries<<<element_blocks(rows), kElementBlock, 0, stream>>>(
      order_of(input), pencils, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      input.source_entry, source);
  cuda::check_launch("note_pencil_entries");
}

template std::optional<Pencils<SevenPoints>> find_pencils(const SweepInput&, const Lines&, cudaStream_t);
template std::optional<Pencils<TwentySevenPoints>> find_pencils(const SweepInput&, const Lines&, cudaStream_t);
template void find_entries(const SweepInput&, const Pencils<SevenPoints>&, Offset*, cudaStream_t);
template void find_entries(const SweepInput&, const Pencils<TwentySevenPoints>&, Offset*, cudaStream_t);

double microseconds_of(const Pencils<SevenPoints>& pencils) {
  // Fitted on an H100.
  constexpr double kStart = 11.0;
  constexpr double kStep = 0.065;
  constexpr double kSlab = 1.05;
  constexpr double kCrowdedSlab =
      0.65;  // more for each pencil above half of the multiprocessors, in terms of that half
  constexpr double kBand = 4.0;
  constexpr double kRow = 29e-6;  // what its bytes take at two thirds of the memory's speed
  const double crowd = std::max(2.0 * pencils.count() / cuda::device_limits().multiprocessors - 1.0, 0.0);
  const double chain = kStep * (pencils.columns + pencils.kLines) +
                       (kSlab + kCrowdedSlab * crowd) * (pencils.slabs() - 1) + kBand * (pencils.in_slab() - 1);
  const double rows = static_cast<double>(pencils.columns) * pencils.lines * pencils.planes;
  return std::max(kStart + chain, kRow * rows);
}

double microseconds_of(const Pencils<TwentySevenPoints>& pencils) {
  // Fitted on an H100.
  constexpr double kStart = 22.0;
  constexpr double kLevel = 0.163;
  constexpr double kSlab = 0.3;
  constexpr double kBand = 1.8;
  constexpr double kPencilStep = 0.0038;  // what its bytes take at 0.6 of the memory's speed
  const double levels = pencils.columns + 2.0 * pencils.lines + 4.0 * pencils.planes;
  const Index bands = pencils.last_band(pencils.slabs() - 1) + 1;
  const double chain = kLevel * levels + kSlab * (pencils.slabs() - 1) + kBand * (bands - 1);
  const double steps = 1.0 * pencils.count() * (pencils.columns + TwentySevenPoints::kBehind * kLanes);
  return std::max(kStart + chain, kPencilStep * steps);
}

}  // namespace taskdag::kernels::cells
