#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/sort.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/cells/cut/partition.cuh"
#include "kernels/sptrsv/schedules/cells/pack/batches.hpp"
#include "kernels/sptrsv/schedules/cells/pack/entries.cuh"
#include "kernels/sptrsv/schedules/cells/pack/steps.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

template <class CellOfRow>
__global__ void make_keys(const Index* level, Index levels, CellOfRow cell, std::uint64_t* key, Index* row_of_step) {
  const auto step = static_cast<Index>(element());
  if (step >= cell.rows) return;
  const Index row = cell.lower ? step : cell.rows - 1 - step;
  key[step] = static_cast<std::uint64_t>(cell(row)) * static_cast<std::uint64_t>(levels) +
              static_cast<std::uint64_t>(level[row]);
  row_of_step[step] = row;
}

/// p where a run of equal keys begins at p, else 0. The running maximum of this is where the run that holds p begins.
struct RunBegin {
  const std::uint64_t* key;
  __device__ Index operator()(Index p) const { return p > 0 && key[p - 1] != key[p] ? p : 0; }
};

/// 1 where a step begins at p, else 0.
struct StepBegin {
  const Index* run_begin;
  int rows_a_step;
  __device__ Index operator()(Index p) const { return (p - run_begin[p]) % rows_a_step == 0 ? 1 : 0; }
};

/// Gives each row its position, and each cell, also an empty one, its first step. steps_until[p]: how many steps begin
/// at p or before.
__global__ void place_rows(Index rows, Index levels, int cells, int ways, const std::uint64_t* key, const Index* order,
                           const Index* run_begin, const Index* steps_until, Index* position, Index* first_step) {
  const auto p = static_cast<Index>(element());
  if (p >= rows) return;
  const Index step = steps_until[p] - 1;
  position[order[p]] = step * kLanes + (p - run_begin[p]) * ways % kLanes;
  const int cell = static_cast<int>(key[p] / static_cast<std::uint64_t>(levels));
  const int before = p == 0 ? -1 : static_cast<int>(key[p - 1] / static_cast<std::uint64_t>(levels));
  for (int c = before + 1; c <= cell; ++c) first_step[c] = step;
  if (p == rows - 1) {
    for (int c = cell + 1; c <= cells; ++c) first_step[c] = step + 1;
  }
}

/// Each warp counts for one step the pair rows that its widest row needs, and for each of its rows the entries for the
/// fetchers, `outside`, by position. most_pairs: the largest number of pair rows of any step.
__global__ void count_entries(EntriesOfRows entries, Index steps, const Index* row_at, const Index* first_step,
                              int cells, int ways, Step* step, Index* outside, std::uint32_t* most_pairs) {
  const auto t = static_cast<Index>(element() / kLanes);
  if (t >= steps) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t position = std::int64_t{t} * kLanes + lane;
  const Index row = row_at[position];
  const Index cell_begin = first_step[cell_of_step([=](int c) { return first_step[c]; }, cells, t)];
  Index inside = 0;
  outside[position] = 0;
  if (row >= 0) {
    inside = min(count_inside(entries, row, t, cell_begin), 2 * kMaxPairs * ways);
    outside[position] = entries.count[row] - inside;
  }
  const auto most = __reduce_max_sync(0xFFFFFFFFU, static_cast<unsigned>(inside));
  if (lane == 0) {
    const std::uint32_t pairs = max(1U, (most + 2 * ways - 1) / (2 * ways));
    step[t] = {0, pairs};
    atomicMax(most_pairs, pairs);
  }
}

/// Each block gives the steps of one cell the pair rows of the widest step in their chunk.
__global__ void level_chunks(const Cell* cell, int chunk_steps, Step* step, std::uint32_t* pair_rows) {
  const Cell mine = cell[blockIdx.x];
  for (Index first = static_cast<Index>(threadIdx.x) * chunk_steps; first < mine.steps;
       first += static_cast<Index>(blockDim.x) * chunk_steps) {
    const Index end = min(first + chunk_steps, mine.steps);
    std::uint32_t pairs = 1;
    for (Index t = first; t < end; ++t) pairs = max(pairs, step[mine.first_step + t].pairs);
    for (Index t = first; t < end; ++t) {
      step[mine.first_step + t].pairs = pairs;
      pair_rows[mine.first_step + t] = pairs;
    }
  }
}

__global__ void set_pair_rows(Index steps, const std::uint32_t* pair_row, Step* step) {
  const auto t = static_cast<Index>(element());
  if (t < steps) step[t].pair_row = pair_row[t];
}

/// @throws Unsupported where `number` is too large for the 32-bit numbers of the kernels. Kernels that have run before
/// have computed wrong numbers then, but have written within bounds.
void require_32_bits(std::int64_t number, std::int64_t most, const std::string& what) {
  if (number <= most) return;
  throw Unsupported("the schedule cells would need " + std::to_string(number) + " " + what +
                    " for this triangle, but can number " + std::to_string(most) + "; take the schedule flat");
}

/// Rows sorted by cell, then level, then number in the sweep; `key` is sorted along.
ScratchArray<Index> sort_rows(const SweepInput& input, const Cut& cut, int cells, ScratchArray<std::uint64_t>& key,
                              cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  const auto n = static_cast<std::size_t>(rows);
  const ScratchArray<std::uint64_t> unsorted(n, stream);
  const ScratchArray<Index> sweep_order(n, stream);
  ScratchArray<Index> order(n, stream);
  const Index levels = input.levels->levels;
  const bool lower = input.triangle == Triangle::lower;
  const auto launch = [&](const auto& cell_of_row) {
    make_keys<<<element_blocks(rows), kElementBlock, 0, stream>>>(input.levels->level.data(), levels, cell_of_row,
                                                                  unsorted.data(), sweep_order.data());
    cuda::check_launch("make_keys");
  };
  if (cut.tiles) {
    const auto& [lines, tiling] = *cut.tiles;
    const auto number = cuda::upload<ScratchArray>(tiling.number, stream);
    launch(tiles_of(lines, tiling, input.triangle, number.data()));
  } else {
    launch(Runs{input.pattern.row_offsets, rows, lower, cells});
  }
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cells) * static_cast<std::uint64_t>(levels)));
  cuda::sort_pairs(unsorted.data(), key.data(), sweep_order.data(), order.data(), rows, bits, stream);
  return order;
}

/// Gives rows their positions. @returns the first step of each cell, and behind them the number of steps
std::vector<Index> place(const SweepInput& input, const Cut& cut, Layout& layout, ScratchArray<Index>& first_step,
                         cudaStream_t stream) {
  const Index rows = layout.rows;
  const auto n = static_cast<std::size_t>(rows);
  ScratchArray<std::uint64_t> key(n, stream);
  const ScratchArray<Index> order = sort_rows(input, cut, layout.cells, key, stream);
  const ScratchArray<Index> run_begin(n, stream);
  const ScratchArray<Index> steps_until(n, stream);
  const thrust::counting_iterator<Index> count(0);
  cuda::inclusive_maximum_over(thrust::make_transform_iterator(count, RunBegin{key.data()}), run_begin.data(), rows,
                               stream);
  cuda::inclusive_sum_over(thrust::make_transform_iterator(count, StepBegin{run_begin.data(), kLanes / layout.ways}),
                           steps_until.data(), rows, stream);
  place_rows<<<element_blocks(rows), kElementBlock, 0, stream>>>(
      rows, input.levels->levels, layout.cells, layout.ways, key.data(), order.data(), run_begin.data(),
      steps_until.data(), layout.position.data(), first_step.data());
  cuda::check_launch("place_rows");
  return cuda::fetch_array(first_step.data(), static_cast<std::size_t>(layout.cells) + 1, stream);
}

/// The number of steps of the longest cell.
std::int64_t most_steps(const std::vector<Index>& first_step) {
  Index most = 0;
  for (std::size_t c = 1; c < first_step.size(); ++c) most = std::max(most, first_step[c] - first_step[c - 1]);
  return most;
}

void upload_cells(Layout& layout, const std::vector<Index>& first_step, cudaStream_t stream) {
  std::vector<Cell> cell(static_cast<std::size_t>(layout.cells));
  for (std::size_t c = 0; c < cell.size(); ++c) {
    cell[c].first_step = first_step[c];
    cell[c].steps = first_step[c + 1] - first_step[c];
  }
  layout.cell = {cell.size(), stream};
  cuda::copy_to_device(layout.cell.data(), cell.data(), cell.size(), stream);
}

/// Cuts steps into chunks that fit into a stage where each step has `most_pairs` pair rows, and numbers the pair rows.
void plan_chunks(Layout& layout, std::uint32_t most_pairs, cudaStream_t stream) {
  const int steps_a_stage = kStageBytes / (static_cast<int>(most_pairs) * kPairRowBytes);
  layout.chunk_steps = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(steps_a_stage, kMaxChunkSteps))));
  const auto steps = static_cast<std::size_t>(layout.steps);
  const ScratchArray<std::uint32_t> pair_rows(steps + 1, stream);
  const ScratchArray<std::uint32_t> pair_row(steps + 1, stream);
  cuda::check(cudaMemsetAsync(pair_rows.data() + steps, 0, sizeof(std::uint32_t), stream), "clearing a count");
  level_chunks<<<layout.cells, 128, 0, stream>>>(layout.cell.data(), layout.chunk_steps, layout.step.data(),
                                                 pair_rows.data());
  cuda::check_launch("level_chunks");
  cuda::exclusive_sum(pair_rows.data(), pair_row.data(), layout.steps + 1, stream);
  set_pair_rows<<<element_blocks(layout.steps), kElementBlock, 0, stream>>>(layout.steps, pair_row.data(),
                                                                            layout.step.data());
  cuda::check_launch("set_pair_rows");
  layout.pair_rows = cuda::fetch(pair_row.data() + steps, stream);
}

}  // namespace

Layout make_layout(const SweepInput& input, const Cut& cut, cudaStream_t stream) {
  Layout layout;
  layout.rows = input.pattern.rows;
  layout.cells = std::clamp(cut.cells, 1, std::max(1, layout.rows));
  layout.ways = cut.ways;
  if (layout.rows == 0) return layout;
  layout.position = {static_cast<std::size_t>(layout.rows), stream};
  ScratchArray<Index> first_step(static_cast<std::size_t>(layout.cells) + 1, stream);
  const std::vector<Index> host_first_step = place(input, cut, layout, first_step, stream);
  layout.steps = host_first_step.back();
  require_32_bits(std::int64_t{layout.steps} * kLanes, std::numeric_limits<Index>::max(), "positions");
  require_32_bits(most_steps(host_first_step) * kLanes, kMostCellPositions, "positions in a cell");
  layout.row = {layout.positions(), stream};
  cuda::check(cudaMemsetAsync(layout.row.data(), 0xFF, layout.positions() * sizeof(Index), stream),
              "marking idle positions");
  invert(layout.rows, layout.position.data(), layout.row.data(), stream);
  upload_cells(layout, host_first_step, stream);

  layout.step = {static_cast<std::size_t>(layout.steps), stream};
  const ScratchArray<Index> outside(layout.positions(), stream);
  const ScratchArray<std::uint32_t> most_pairs(1, stream);
  cuda::check(cudaMemsetAsync(most_pairs.data(), 0, sizeof(std::uint32_t), stream), "clearing a maximum");
  count_entries<<<element_blocks(std::int64_t{layout.steps} * kLanes), kElementBlock, 0, stream>>>(
      entries_of(input, layout), layout.steps, layout.row.data(), first_step.data(), layout.cells, layout.ways,
      layout.step.data(), outside.data(), most_pairs.data());
  cuda::check_launch("count_entries");
  plan_chunks(layout, cuda::fetch(most_pairs.data(), stream), stream);
  make_batches(layout, outside.data(), stream);
  require_32_bits(std::int64_t{layout.batches} * kLanes, std::numeric_limits<Index>::max(), "lanes for outside rows");
  require_32_bits(static_cast<std::int64_t>(layout.outside_entry_rows) * kLanes,
                  std::numeric_limits<std::uint32_t>::max(), "lanes for entries outside");
  return layout;
}

}  // namespace taskdag::kernels::cells
