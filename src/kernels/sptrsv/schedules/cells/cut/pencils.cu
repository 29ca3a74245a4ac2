#include <algorithm>
#include <climits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "base/index.hpp"
#include "base/rates/rates.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

template <class Points>
__device__ int entry_of(const Pencils<Points>& grid, Index row, Index operand) {
  const Index point = row / Points::kUnknowns;
  const Index operand_point = operand / Points::kUnknowns;
  const Index line = point / grid.columns;
  const Index from = operand_point / grid.columns;
  return Points::entry(line / grid.lines - from / grid.lines, line % grid.lines - from % grid.lines,
                       point % grid.columns - operand_point % grid.columns, operand % Points::kUnknowns);
}

/// Sets `misfits` where a row has an entry that no row of such a grid has, or has one twice.
template <class Points>
__global__ void look_for_pencil_misfits(SweepOrder order, Pencils<Points> grid, const Index* col_indices,
                                        const Offset* first, const Index* count, int* misfits) {
  const auto row = static_cast<Index>(element());
  if (row >= order.rows) return;
  const Index step = order(row);
  unsigned long long seen = 0;
  for (Index e = 0; e < count[row]; ++e) {
    const int k = entry_of(grid, step, order(col_indices[first[row] + e]));
    if (k < 0 || (seen >> k & 1ULL) != 0) {
      *misfits = 1;
      return;
    }
    seen |= 1ULL << k;
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

/// Whether no row has more entries in a line than Points has there: a first look, without the entries.
template <class Points>
bool may_be(const Lines& lines) {
  for (Index planes = 0; planes < 2; ++planes) {
    for (Index reach = -Lines::kReach; reach <= Lines::kReach; ++reach) {
      unsigned long long expected = 0;
      for (Index columns = -1; columns <= 1; ++columns) {
        const bool own_point = planes == 0 && reach == 0 && columns == 0;  // a row waits for those before it alone
        for (Index unknown = 0; unknown < Points::kUnknowns - (own_point ? 1 : 0); ++unknown)
          expected += Points::entry(planes, reach, columns, unknown) >= 0 ? 1 : 0;
      }
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
  if (lines.line % Points::kUnknowns != 0 || !may_be<Points>(lines)) return std::nullopt;
  const Pencils<Points> pencils{lines.line / Points::kUnknowns, lines.plane / lines.line, lines.rows / lines.plane};
  if (pencils.lines < 2) return std::nullopt;
  // Numbers of rows go up to the end of a pencil, and a step further.
  const std::int64_t most_planes = pencils.slabs() * Points::kPlanes + 1;
  if (most_planes * (pencils.lines + kLanes + Points::kPlanes) * lines.line > INT_MAX) return std::nullopt;
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
template std::optional<Pencils<ThreeUnknowns>> find_pencils(const SweepInput&, const Lines&, cudaStream_t);
template void find_entries(const SweepInput&, const Pencils<SevenPoints>&, Offset*, cudaStream_t);
template void find_entries(const SweepInput&, const Pencils<TwentySevenPoints>&, Offset*, cudaStream_t);
template void find_entries(const SweepInput&, const Pencils<ThreeUnknowns>&, Offset*, cudaStream_t);

double microseconds_of(const Pencils<SevenPoints>& pencils) {
  // Fitted on an H100, whose launches, steps and hops take as long as an H200's.
  constexpr double kStart = 11.0;
  constexpr double kStep = 0.065;
  constexpr double kSlab = 1.05;
  constexpr double kCrowdedSlab =
      0.65;  // more for each pencil above half of the multiprocessors, in terms of that half
  constexpr double kBand = 4.0;
  constexpr double kRow = 29e-6;  // what its bytes take at two thirds of the memory's speed
  const DeviceRates rates = cuda::device_rates();
  const double crowd = std::max(2.0 * pencils.count() / cuda::device_limits().multiprocessors - 1.0, 0.0);
  const double chain = rates.step * kStep * (pencils.columns + pencils.kLines) +
                       rates.hop * (kSlab + kCrowdedSlab * crowd) * (pencils.slabs() - 1) +
                       rates.hop * kBand * (pencils.in_slab() - 1);
  return std::max(rates.launch * kStart + chain, rates::byte_beyond_h100(rates) * kRow * pencils.rows());
}

namespace {

/// Microseconds: of the launch, of a level's steps, of the hops to a slab more and to a band more, of the bytes of a
/// step of one pencil.
struct Costs {
  double start;
  double level;
  double slab;
  double band;
  double pencil_step;
};

/// Of 27 points a level is a column, two of a line and four of a plane.
template <class Points>
double of_27(const Pencils<Points>& pencils, const Costs& costs) {
  const DeviceRates rates = cuda::device_rates();
  const double levels = pencils.columns + 2.0 * pencils.lines + 4.0 * pencils.planes;
  const Index bands = pencils.last_band(pencils.slabs() - 1) + 1;
  const double chain = rates.step * costs.level * levels + rates.hop * costs.slab * (pencils.slabs() - 1) +
                       rates.hop * costs.band * (bands - 1);
  const double steps = 1.0 * pencils.count() * (pencils.columns + Points::kBehind * Pencils<Points>::kPlaces);
  return std::max(rates.launch * costs.start + chain, rates::byte_beyond_h100(rates) * costs.pencil_step * steps);
}

}  // namespace

double microseconds_of(const Pencils<TwentySevenPoints>& pencils) {
  // Fitted on an H100, whose launches, steps and hops take as long as an H200's.
  constexpr double kStart = 8.0;
  constexpr double kLevel = 0.157;
  constexpr double kSlab = 0.3;
  constexpr double kBand = 1.8;
  constexpr double kPencilStep = 0.0038;  // what its bytes take at 0.6 of the memory's speed
  return of_27(pencils, {kStart, kLevel, kSlab, kBand, kPencilStep});
}

double microseconds_of(const Pencils<ThreeUnknowns>& pencils) {
  // Fitted on an H100, whose launches, steps and hops take as long as an H200's.
  constexpr double kStart = 17.0;
  constexpr double kLevel = 0.24;
  constexpr double kSlab = 0.28;
  constexpr double kBand = 1.5;
  constexpr double kPencilStep = 0.0056;  // what its bytes take at 0.65 of the memory's speed
  return of_27(pencils, {kStart, kLevel, kSlab, kBand, kPencilStep});
}

}  // namespace taskdag::kernels::cells
