#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "base/rates/rates.hpp"
#include "kernels/sptrsv/schedules/cells/cut/bands.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// The entries of a row, by their operands; −1: the row has no such entry.
struct RowEntries {
  Offset before = -1;       ///< the row before
  Offset line_before = -1;  ///< the row a line before
  bool misfits = false;     ///< it has further entries: this is no row of a grid of five points
};

__device__ RowEntries entries_of_row(SweepOrder order, Index columns, const Index* col_indices, Offset first,
                                     Index count, Index step) {
  RowEntries found;
  for (Index e = 0; e < count; ++e) {
    const Index distance = step - order(col_indices[first + e]);
    if (distance == 1 && step % columns > 0 && found.before < 0) {
      found.before = first + e;
    } else if (distance == columns && found.line_before < 0) {
      found.line_before = first + e;
    } else {
      found.misfits = true;
    }
  }
  return found;
}

__global__ void look_for_misfits(SweepOrder order, Index columns, const Index* col_indices, const Offset* first,
                                 const Index* count, int* misfits) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  if (entries_of_row(order, columns, col_indices, first[row], count[row], order(row)).misfits) *misfits = 1;
}

__global__ void note_entries(SweepOrder order, Index columns, const Index* col_indices, const Offset* first,
                             const Index* count, const Offset* source_entry, Offset* noted) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  const Index step = order(row);
  const RowEntries mine = entries_of_row(order, columns, col_indices, first[row], count[row], step);
  const auto source = [&](Offset e) { return e >= 0 && source_entry ? source_entry[e] : e; };
  noted[step] = source(mine.before);
  noted[std::int64_t{order.rows} + step] = source(mine.line_before);
}

}  // namespace

std::optional<Bands> find_bands(const SweepInput& input, const Lines& lines, cudaStream_t stream) {
  if (lines.planes() > 1 || lines.rows % lines.line != 0 || lines.line < 2) return std::nullopt;
  const Bands bands{lines.line, lines.rows / lines.line};
  if (bands.lines < 2) return std::nullopt;
  // Numbers of rows go up to the end of a band.
  if (std::int64_t{bands.bands()} * kLanes * bands.columns > INT_MAX) return std::nullopt;
  const cuda::ScratchArray<int> misfits(1, stream);
  cuda::check(cudaMemsetAsync(misfits.data(), 0, sizeof(int), stream), "clearing a flag");
  look_for_misfits<<<element_blocks(lines.rows), kElementBlock, 0, stream>>>(
      order_of(input), bands.columns, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      misfits.data());
  cuda::check_launch("look_for_misfits");
  if (cuda::fetch(misfits.data(), stream) != 0) return std::nullopt;
  return bands;
}

void find_entries(const SweepInput& input, const Bands& bands, Offset* source, cudaStream_t stream) {
  note_entries<<<element_blocks(input.pattern.rows), kElementBlock, 0, stream>>>(
      order_of(input), bands.columns, input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(),
      input.source_entry, source);
  cuda::check_launch("note_entries");
}

double microseconds_of(const Bands& bands) {
  // Fitted on an H100, whose launches, steps and hops take as long as an H200's.
  constexpr double kStart = 6.0;
  constexpr double kStep = 0.0302;
  constexpr double kHop = 0.92;
  constexpr double kRow = 16e-6;  // what its bytes take at half of the memory's speed
  const DeviceRates rates = cuda::device_rates();
  const double chain =
      rates.step * kStep * (static_cast<double>(bands.columns) + bands.lines) + rates.hop * kHop * (bands.bands() - 1);
  const int at_once = cuda::device_limits().multiprocessors;
  const double passes = (bands.bands() + at_once - 1) / at_once * rates.step * kStep * bands.columns;
  const double bytes = rates::byte_beyond_h100(rates) * kRow * bands.columns * bands.lines;
  return rates.launch * kStart + std::max({chain, passes, bytes});
}

double bytes_of(const Bands& bands) {
  constexpr double kLaneBytes = 2 * sizeof(double);
  constexpr double kRowBytes = 2 * sizeof(double) + 2 * sizeof(Offset);
  const double rows = static_cast<double>(bands.columns) * bands.lines;
  return kLaneBytes * kLanes * bands.bands() * (bands.columns + 47.0) + kRowBytes * rows;
}

}  // namespace taskdag::kernels::cells
