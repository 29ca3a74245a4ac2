#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "csr/row_lanes.cuh"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/cells/cut/hops.hpp"
#include "kernels/sptrsv/schedules/cells/cut/late.hpp"
#include "kernels/sptrsv/schedules/cells/memory.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

// Microseconds, fitted on an H200. What keeps fetchers is their instructions, not the memory's speed.
constexpr double kStart = 14.5;    // a launch
constexpr double kStep = 0.0212;   // steps inside a multiprocessor
constexpr double kEntry = 0.0272;  // the same
constexpr double kHop = 1.115;     // a hop between them
constexpr double kFetch = 0.0014;  // as steps
/// On rows that are numbered by planes, runs take up to a third longer than the model says.
constexpr double kRunsTakeLonger = 1.2;
/// Late levels are tried where there are more steps than this many times the levels.
constexpr double kUnevenSteps = 1.5;
/// A grid of five points gets bands without comparison where it has more than this share of the most levels possible.
constexpr double kDeepGrid = 0.75;

constexpr int kBlocksPerMultiprocessor = 8;

/// The table of rows by level and cell is not made where it would have more than this many elements: so many levels
/// are narrow, and few cells are best.
constexpr std::int64_t kMostCounts = std::int64_t{1} << 26;
bool is_deep(Index levels, int cells) { return std::int64_t{levels} * cells > kMostCounts; }

__global__ void count_rows(Index rows, const Index* level, Runs partition, int* rows_at) {
  const auto row = static_cast<Index>(element());
  if (row < rows) atomicAdd(&rows_at[std::int64_t{level[row]} * partition.cells + partition(row)], 1);
}

/// Each warp counts for one level, and for each candidate, the steps of the cell that has most, and those of all cells.
/// A coarser candidate's cells are unions of the finest one's.
__global__ void count_steps(Index levels, int cells, const int* rows_at, unsigned long long* steps,
                            unsigned long long* all_steps) {
  const std::int64_t level = element() / kLanes;
  if (level >= levels) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int k = 0; k < kCandidates; ++k) {
    const int coarse = candidate(cells, k);
    int most = 0;
    unsigned all = 0;
    for (int c = lane; c < coarse; c += kLanes) {
      int rows = 0;
      // Finer cell f belongs to coarse cell f · coarse / cells.
      for (int f = (c * cells + coarse - 1) / coarse; f < ((c + 1) * cells + coarse - 1) / coarse; ++f) {
        rows += rows_at[level * cells + f];
      }
      const int mine = (rows + kLanes - 1) / kLanes;
      most = max(most, mine);
      all += static_cast<unsigned>(mine);
    }
    all = __reduce_add_sync(0xFFFFFFFFU, all);
    most = __reduce_max_sync(0xFFFFFFFFU, most);
    if (lane == 0) {
      atomicAdd(&steps[k], static_cast<unsigned long long>(most));
      atomicAdd(&all_steps[k], static_cast<unsigned long long>(all));
    }
  }
}

/// Counts, for each candidate, the entries whose column is in the row's cell; inside[kCandidates]: all entries. `Lanes`
/// lanes look at a row.
template <int Lanes>
__global__ void count_inside(DevicePattern pattern, const Offset* first, const Index* count, Runs partition,
                             unsigned long long* inside) {
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const auto groups = static_cast<Index>(gridDim.x * blockDim.x / Lanes);
  unsigned found[kCandidates + 1] = {};
  for (auto row = static_cast<Index>(element() / Lanes); row < pattern.rows; row += groups) {
    const int mine = partition(row);
    for (Index e = lane; e < count[row]; e += Lanes) {
      const int other = partition(pattern.col_indices[first[row] + e]);
      for (int k = 0; k < kCandidates; ++k) {
        const int coarse = candidate(partition.cells, k);
        if (mine * coarse / partition.cells == other * coarse / partition.cells) ++found[k];
      }
      ++found[kCandidates];
    }
  }
  for (int k = 0; k <= kCandidates; ++k) {
    const unsigned sum = __reduce_add_sync(0xFFFFFFFFU, found[k]);
    if (threadIdx.x % kLanes == 0 && sum > 0) atomicAdd(&inside[k], static_cast<unsigned long long>(sum));
  }
}

struct RunsEstimate {
  Estimate estimate;
  double steps;  ///< as in the formula of cost.hpp
};

Runs finest_runs(const SweepInput& input) {
  const Index rows = input.pattern.rows;
  const int most = std::min(cuda::device_limits().multiprocessors, kMostRuns);
  return {input.pattern.row_offsets, rows, input.triangle == Triangle::lower, std::clamp(rows / kLanes, 1, most)};
}

/// The best candidate by the model of cost.hpp. hops: what most_hops() says of each.
RunsEstimate estimate_runs(const SweepInput& input, const std::array<int, kCandidates>& hops, cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  const Index levels = input.levels->levels;
  if (rows == 0) return {{}, 0.0};
  const Runs partition = finest_runs(input);
  const DeviceRates rates = cuda::device_rates();
  const int cells = partition.cells;
  const std::int64_t size = std::int64_t{levels} * cells;
  if (is_deep(levels, cells)) {
    return {{{candidate(cells, kCandidates - 1), {}, 1, nullptr},
             rates.step * levels * (kStep + kEntry),
             bytes_of(rows, 1.0, 0.0)},
            static_cast<double>(levels)};
  }

  const ScratchArray<int> rows_at(static_cast<std::size_t>(size), stream);
  const ScratchArray<unsigned long long> counts(3 * kCandidates + 1, stream);
  cuda::check(cudaMemsetAsync(rows_at.data(), 0, rows_at.size() * sizeof(int), stream), "clearing counts");
  cuda::check(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(unsigned long long), stream), "clearing counts");
  count_rows<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, input.levels->level.data(), partition,
                                                                 rows_at.data());
  cuda::check_launch("count_rows");
  count_steps<<<element_blocks(std::int64_t{levels} * kLanes), kElementBlock, 0, stream>>>(
      levels, cells, rows_at.data(), counts.data(), counts.data() + 2 * kCandidates + 1);
  cuda::check_launch("count_steps");
  with_row_lanes(lanes_of_average_row(rows, input.pattern.entries), rows, [&](auto lanes, int blocks) {
    count_inside<decltype(lanes)::value>
        <<<std::min(blocks, cuda::device_limits().multiprocessors * kBlocksPerMultiprocessor), kElementBlock, 0,
           stream>>>(input.pattern, input.ranges->first.data(), input.ranges->count.data(), partition,
                     counts.data() + kCandidates);
  });
  cuda::check_launch("count_inside");
  const auto found = cuda::fetch_array(counts.data(), counts.size(), stream);

  RunsEstimate best{};
  for (int k = 0; k < kCandidates; ++k) {
    const auto steps = static_cast<double>(found[static_cast<std::size_t>(k)]);
    const auto inside = static_cast<double>(found[static_cast<std::size_t>(kCandidates + k)]);

    const double outside = static_cast<double>(found[2 * kCandidates]) - inside;
    const int count = candidate(cells, k);
    const double time = rates.launch * kStart + rates.step * steps * (kStep + kEntry * inside / rows) +
                        rates.hop * hops[static_cast<std::size_t>(k)] * kHop + rates.step * outside / count * kFetch;
    const auto all_steps = static_cast<double>(found[static_cast<std::size_t>(2 * kCandidates + 1 + k)]);
    if (k > 0 && time >= best.estimate.microseconds) continue;
    best = {{{count, {}, 1, nullptr}, time, bytes_of(all_steps, inside / rows, outside)}, steps};
  }
  return best;
}

/// What bands or pencils will cost.
template <class Grid>
Estimate estimate_of(const Grid& grid) {
  return {cut_of(grid), microseconds_of(grid), bytes_of(grid)};
}

/// Pencils of such points, if the triangle has them and they take less than `microseconds`.
template <class Points>
std::optional<Estimate> estimate_pencils(const SweepInput& input, const Lines& lines, double microseconds,
                                         cudaStream_t stream) {
  const auto pencils = find_pencils<Points>(input, lines, stream);
  if (!pencils || microseconds_of(*pencils) >= microseconds) return std::nullopt;
  return estimate_of(*pencils);
}
std::optional<Estimate> estimate_any_pencils(const SweepInput& input, const Lines& lines, double microseconds,
                                             cudaStream_t stream) {
  auto found = estimate_pencils<SevenPoints>(input, lines, microseconds, stream);
  if (!found) found = estimate_pencils<TwentySevenPoints>(input, lines, microseconds, stream);
  return found ? std::move(found) : estimate_pencils<ThreeUnknowns>(input, lines, microseconds, stream);
}

}  // namespace

Estimate estimate(const SweepInput& input, cudaStream_t stream) {
  const std::optional<Lines> lines = find_lines(input, stream);
  std::optional<Bands> bands;
  if (lines) bands = find_bands(input, *lines, stream);
  if (input.precision == Precision::in_single) {
    if (bands) return estimate_of(*bands);
    constexpr double kNoLimit = std::numeric_limits<double>::infinity();
    constexpr double kConversions = 1.2;  // how much longer grids of 27 points take, whose entries are converted
    auto pencils = lines ? estimate_any_pencils(input, *lines, kNoLimit, stream) : std::nullopt;
    if (!pencils) return {};  // other cuts have no entries in single precision
    if (!pencils->cut.pencils_of_7) pencils->microseconds *= kConversions;
    return *std::move(pencils);
  }
  // A band takes half as long for a level as a run of rows.
  if (bands && input.levels->levels > kDeepGrid * (bands->columns + bands->lines)) return estimate_of(*bands);
  const Runs finest = finest_runs(input);
  std::array<int, kCandidates> hops{};
  if (!is_deep(input.levels->levels, finest.cells)) hops = most_hops(input, finest, stream);
  const RunsEstimate runs = estimate_runs(input, hops, stream);
  Estimate best = runs.estimate;
  if (bands && microseconds_of(*bands) < best.microseconds) return estimate_of(*bands);
  // In a single plane tiles would be runs of rows.
  if (lines && lines->planes() > 1) {
    Tiling tiling = choose_tiling(*lines, cuda::device_limits().multiprocessors, cuda::device_rates());
    const double other = std::min(best.microseconds, tiling.microseconds);
    if (auto pencils = estimate_any_pencils(input, *lines, other, stream)) return *std::move(pencils);
    if (tiling.tiles > 0 && tiling.microseconds < kRunsTakeLonger * best.microseconds) {
      best.microseconds = tiling.microseconds;
      best.bytes = tiling.bytes;
      best.cut = cut_of(*lines, std::move(tiling));
      return best;
    }
  }
  // Where cells are widest in different levels, rows may come earlier than they need to: late levels move them.
  if (input.mirrored && runs.steps > kUnevenSteps * input.levels->levels) {
    if (auto late = late_levels(input, input.mirrored(), stream)) {
      SweepInput sorted = input;
      sorted.levels = &*late;
      Estimate other = estimate_runs(sorted, hops, stream).estimate;
      if (other.microseconds < best.microseconds) {
        best = std::move(other);
        best.cut.late = std::make_shared<const RowLevels>(std::move(*late));
      }
    }
  }
  return best;
}

}  // namespace taskdag::kernels::cells
