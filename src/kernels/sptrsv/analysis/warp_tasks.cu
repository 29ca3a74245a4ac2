#include <algorithm>
#include <bit>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/analysis/in_flight.hpp"
#include "kernels/sptrsv/analysis/lanes.hpp"
#include "kernels/sptrsv/analysis/warp_tasks.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;
using cuda::ScratchArray;
using cuda::with_scratch;

constexpr int kLaneClasses = static_cast<int>(kMostLog2Lanes) + 1;
constexpr int kClasses = 3 * kLaneClasses;  // those, for each kind of row
constexpr int kUnroll = 4;                  // widths above this are rounded up to a multiple of it

/// Sort keys: level, then kind, then lanes. Payload: the row, in sweep order, which a stable sort keeps inside a key.
__global__ void make_keys(Index rows, const Index* level, const Index* count, const Index* kind, bool lower,
                          int entries_per_lane, std::uint32_t* key, Index* row_of_step) {
  const Index step = static_cast<Index>(cuda::element());
  if (step >= rows) return;
  const Index row = lower ? step : rows - 1 - step;
  const Index lane_class =
      static_cast<Index>(log2_lanes_for(count[row], entries_per_lane)) + (kind ? kind[row] * kLaneClasses : 0);
  key[step] = static_cast<std::uint32_t>(level[row]) * kClasses + static_cast<std::uint32_t>(lane_class);
  row_of_step[step] = row;
}

/// A group is a run of equal keys. Marks where each begins and ends, and inverts the order.
__global__ void find_groups(Index rows, const std::uint32_t* key, const Index* order, Index* position,
                            Index* group_begin, Index* group_end) {
  const Index p = static_cast<Index>(cuda::element());
  if (p >= rows) return;
  position[order[p]] = p;
  if (p == 0 || key[p - 1] != key[p]) group_begin[key[p]] = p;
  if (p == rows - 1 || key[p + 1] != key[p]) group_end[key[p]] = p + 1;
}

__global__ void count_tasks(Index groups, const Index* group_begin, const Index* group_end, Index* tasks_of_group) {
  const Index group = static_cast<Index>(cuda::element());
  if (group > groups) return;  // one more entry: the scan's total
  Index tasks = 0;
  if (group < groups) {
    const Index rows_per_task = kWarpSize >> (group % kLaneClasses);
    tasks = pieces_of(group_end[group] - group_begin[group], rows_per_task);
  }
  tasks_of_group[group] = tasks;
}

/// The first row of each task writes its header; all rows raise its width.
__global__ void fill_tasks(Index rows, const std::uint32_t* key, const Index* order, const Index* count,
                           const Index* group_begin, const Index* group_end, const Index* first_task, WarpTask* task,
                           Index* width) {
  const Index p = static_cast<Index>(cuda::element());
  if (p >= rows) return;
  const auto group = key[p];
  const int log2_lanes = static_cast<int>(group % kLaneClasses);
  const Index rows_per_task = kWarpSize >> log2_lanes;
  const Index rank = p - group_begin[group];
  const Index t = first_task[group] + rank / rows_per_task;
  if (rank % rows_per_task == 0) {
    task[t].first = p;
    task[t].rows = static_cast<std::uint16_t>(min(rows_per_task, group_end[group] - p));
    task[t].log2_lanes = static_cast<std::uint16_t>(log2_lanes);
  }
  Index mine = (count[order[p]] + (1 << log2_lanes) - 1) >> log2_lanes;
  if (mine > kUnroll) mine = (mine + kUnroll - 1) / kUnroll * kUnroll;
  if (mine > 0) atomicMax(width + t, mine);
}

__global__ void place_tasks(Index tasks, const Index* width, const std::int64_t* offset, WarpTask* task) {
  const Index t = static_cast<Index>(cuda::element());
  if (t >= tasks) return;
  task[t].width = width[t];
  task[t].offset = static_cast<Index>(offset[t]);
}

__global__ void level_widths(Index levels, const Index* group_begin, const Index* group_end, Index* widest) {
  const Index level = static_cast<Index>(cuda::element());
  if (level >= levels) return;
  Index rows = 0;
  for (int c = 0; c < kClasses; ++c) rows += group_end[level * kClasses + c] - group_begin[level * kClasses + c];
  atomicMax(widest, rows);
}

/// Rows of a level that get equally many lanes.
struct RowGroups {
  ScratchArray<std::uint32_t> key;  ///< of each position
  ScratchArray<Index> bounds;
  Index size;  ///< of the list
  /// Equal (0) for keys that do not occur.
  [[nodiscard]] const Index* begin() const { return bounds.data(); }
  [[nodiscard]] const Index* end() const { return bounds.data() + size; }
};

/// Sorts the rows of list.order, and finds their groups.
RowGroups group_rows(TaskList& list, const RowLevels& levels, const Index* count, Triangle triangle,
                     int entries_per_lane, cudaStream_t stream, const Index* kind) {
  const Index n = list.rows;
  const auto rows = static_cast<std::size_t>(n);
  const Index groups = checked_offset(std::int64_t{levels.levels} * kClasses, "the list of row groups");
  list.order = {rows, stream};
  list.position = {rows, stream};

  ScratchArray<std::uint32_t> key(rows, stream);
  RowGroups result{{rows, stream}, {2 * static_cast<std::size_t>(groups), stream}, groups};
  ScratchArray<Index> row_of_step(rows, stream);
  make_keys<<<element_blocks(n), kElementBlock, 0, stream>>>(n, levels.level.data(), count, kind,
                                                             triangle == Triangle::lower, entries_per_lane, key.data(),
                                                             row_of_step.data());
  cuda::check_launch("make_keys");
  const int bits = std::bit_width(static_cast<std::uint32_t>(groups));
  cuda::sort_pairs(key.data(), result.key.data(), row_of_step.data(), list.order.data(), n, bits, stream);

  Index* const group_begin = result.bounds.data();
  cuda::check(cudaMemsetAsync(group_begin, 0, 2 * static_cast<std::size_t>(groups) * sizeof(Index), stream),
              "resetting row groups");
  find_groups<<<element_blocks(n), kElementBlock, 0, stream>>>(n, result.key.data(), list.order.data(),
                                                               list.position.data(), group_begin, group_begin + groups);
  cuda::check_launch("find_groups");
  return result;
}

/// Counts tasks, entries and the rows of the widest level. @returns the first task of each group
ScratchArray<Index> count_tasks(TaskList& list, const RowGroups& groups, const Index* count, cudaStream_t stream) {
  ScratchArray<Index> totals(3, stream);  // tasks, rows of the widest level, entries
  cuda::check(cudaMemsetAsync(totals.data(), 0, 3 * sizeof(Index), stream), "resetting totals");
  level_widths<<<element_blocks(list.levels), kElementBlock, 0, stream>>>(list.levels, groups.begin(), groups.end(),
                                                                          totals.data() + 1);
  cuda::check_launch("level_widths");

  ScratchArray<Index> tasks_of_group(static_cast<std::size_t>(groups.size) + 1, stream);
  ScratchArray<Index> first_task(static_cast<std::size_t>(groups.size) + 1, stream);
  count_tasks<<<element_blocks(std::int64_t{groups.size} + 1), kElementBlock, 0, stream>>>(
      groups.size, groups.begin(), groups.end(), tasks_of_group.data());
  cuda::check_launch("count_tasks");
  cuda::exclusive_sum(tasks_of_group.data(), first_task.data(), groups.size + 1, stream);
  cuda::copy_on_device(totals.data(), first_task.data() + groups.size, 1, stream);
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, count, totals.data() + 2, list.rows, stream);
      },
      stream);
  const auto fetched = cuda::fetch_array(totals.data(), 3, stream);
  list.tasks = fetched[0];
  list.widest_level = fetched[1];
  if (list.levels <= kMostLevelsListed) {
    const auto firsts = cuda::fetch_array(first_task.data(), static_cast<std::size_t>(groups.size) + 1, stream);
    for (std::size_t group = 0; group < firsts.size(); group += kClasses) list.level_begin.push_back(firsts[group]);
  }
  list.entries = fetched[2];
  return first_task;
}

}  // namespace

int persistent_blocks(const TaskList& tasks, const SolveTuning& tuning, int block) {
  const auto& limits = cuda::device_limits();
  const std::int64_t multiprocessors = limits.multiprocessors;
  const std::int64_t tasks_per_level = pieces_of(tasks.tasks, tasks.levels);
  const bool one_lane = std::int64_t{tasks.tasks} * kWarpSize < 2 * std::int64_t{tasks.rows};
  const int lookahead = one_lane ? tuning.lookahead_levels : tuning.lookahead_levels_many_lanes;
  const std::int64_t wanted = std::max(tasks_per_level * lookahead, multiprocessors * tuning.warps_per_multiprocessor);
  const std::int64_t most = multiprocessors * (limits.threads_per_multiprocessor / kWarpSize);
  const std::int64_t warps = std::min({wanted, most, std::int64_t{tasks.tasks}});
  const std::int64_t warps_per_block = block / kWarpSize;
  return static_cast<int>((warps + warps_per_block - 1) / warps_per_block);
}

TaskList build_tasks(const RowLevels& levels, const Index* count, Triangle triangle, int entries_per_lane,
                     cudaStream_t stream, const Index* kind) {
  TaskList list;
  const Index n = static_cast<Index>(levels.level.size());
  list.rows = n;
  list.levels = levels.levels;
  if (n == 0) return list;
  const RowGroups groups = group_rows(list, levels, count, triangle, entries_per_lane, stream, kind);
  const ScratchArray<Index> first_task = count_tasks(list, groups, count, stream);

  const auto tasks = static_cast<std::size_t>(list.tasks);
  list.task = {tasks, stream};
  ScratchArray<Index> width(tasks + 1, stream);
  ScratchArray<std::int64_t> offset(tasks + 1, stream);
  cuda::check(cudaMemsetAsync(width.data(), 0, (tasks + 1) * sizeof(Index), stream), "resetting task widths");
  fill_tasks<<<element_blocks(n), kElementBlock, 0, stream>>>(n, groups.key.data(), list.order.data(), count,
                                                              groups.begin(), groups.end(), first_task.data(),
                                                              list.task.data(), width.data());
  cuda::check_launch("fill_tasks");
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveScan(scratch, bytes, width.data(), offset.data(), ::cuda::std::plus<>{},
                                              std::int64_t{0}, list.tasks + 1, stream);
      },
      stream);
  place_tasks<<<element_blocks(list.tasks), kElementBlock, 0, stream>>>(list.tasks, width.data(), offset.data(),
                                                                        list.task.data());
  cuda::check_launch("place_tasks");
  const std::int64_t slots = cuda::fetch(offset.data() + list.tasks, stream);
  // A packed index runs over 32 · slots entries and is computed in 64 bits; the offsets themselves must fit.
  list.slots = checked_offset(slots, "the packed triangle");
  return list;
}

}  // namespace taskdag::kernels
