/// \file
/// The kernel that orders the rows of each portion into steps and groups and counts their entries.
#pragma once

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>

#include "kernels/sptrsv/analysis/lanes.hpp"
#include "kernels/sptrsv/schedules/blocks/layout.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.cuh"

namespace taskdag::kernels::supersteps {

/// Packing sorts by one key a thread: the row's number in its portion below, what is sorted by above.
inline constexpr int kRowBits = 10;
static_assert(kMostPortionRows == 1 << kRowBits);
inline constexpr unsigned kRowMask = kMostPortionRows - 1;
/// Lanes for a row: so many that none has more entries than this, 32 at most. Of a start and of a step.
inline constexpr int kOuterPerLane = 8;
inline constexpr int kInnerPerLane = 4;

/// Entries of a row's lane that has most.
__device__ inline int per_lane(int entries, unsigned log2_lanes) {
  return (entries + (1 << log2_lanes) - 1) >> log2_lanes;
}

/// What measuring writes, by place.
struct Measured {
  Index* row;
  Index* place;
  Step* step;
  Group* group;
  std::uint16_t* started;
};

/// The steps' entries and rows in a block's shared memory, indexed by step; and the like of groups.
template <int kThreads>
struct Widths {
  int rows[kThreads];
  int entries[kThreads];
  int start[kThreads];
};

/// Cuts sorted rows into runs of one key and these into pieces of `most` rows. Returns the calling thread's piece;
/// `widths.rows` and `widths.entries` (largest `entries` of a piece) are filled. Every thread of the block calls it,
/// with present = false for those without a row, which come last.
template <int kThreads>
__device__ int cut(bool present, unsigned key, unsigned most, int entries, Widths<kThreads>& widths, int& pieces) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ unsigned keys[kThreads];
  __shared__ int total;
  const unsigned t = threadIdx.x;
  keys[t] = key;
  widths.rows[t] = 0;
  widths.entries[t] = 0;
  __syncthreads();
  const bool opens = present && (t == 0 || keys[t - 1] != key);
  int begin = 0;
  Scan(scratch).InclusiveScan(opens ? static_cast<int>(t) : 0, begin, ::cuda::maximum<>{});
  __syncthreads();
  const bool starts = present && (t - static_cast<unsigned>(begin)) % most == 0;
  int piece = 0;
  Scan(scratch).InclusiveSum(starts ? 1 : 0, piece);
  if (t == kThreads - 1) total = piece;
  --piece;
  if (present) {
    atomicAdd(&widths.rows[piece], 1);
    atomicMax(&widths.entries[piece], entries);
    if (starts) widths.start[piece] = static_cast<int>(t);
  }
  __syncthreads();
  pieces = total;
  return piece;
}

/// What packing counts of a portion.
struct PortionSize {
  Index steps;
  Index groups;
  Index started;
  Index inner;
  Index outer;
  Index step_entries;  ///< a lane, of the step that has most
  bool lane_each;      ///< no step has several lanes a row
};

/// A block's row of a portion, one a thread.
struct PortionRow {
  bool present;
  Offset first;  ///< entry of the matrix
  Index count;   ///< entries
};

/// How many operands of a row are of its own portion. `fault`: as for measure_portion().
__device__ __forceinline__ int count_inner(const Rows& rows, const PortionRow& row, const PortionRange& mine,
                                           Index number, const Index* superstep_of, Index* fault) {
  const Index superstep = superstep_of[mine.first];
  int inner = 0;
  for (Index k = 0; k < row.count; ++k) {
    const Index operand = local_operand(rows, row.first, k, mine.first);
    if (operand >= 0 && operand < mine.rows) {
      ++inner;
    } else if (superstep_of[mine.first + operand] >= superstep) {
      *fault = number;
    }
  }
  return inner;
}

/// The level of a row inside its portion; `level`, in shared memory, is -1 before. Row by row as soon as all operands
/// have their levels: a round a level.
__device__ __forceinline__ int level_in_portion(const Rows& rows, const PortionRow& row, const PortionRange& mine,
                                                int* level) {
  int own = 0;
  Index next = 0;
  bool done = !row.present;
  do {
    while (!done && next < row.count) {
      const Index operand = local_operand(rows, row.first, next, mine.first);
      if (operand >= 0 && operand < mine.rows) {
        const int other = level[operand];
        if (other < 0) break;
        own = max(own, other + 1);
      }
      ++next;
    }
    const bool ready = !done && next == row.count;
    __syncthreads();
    if (ready) level[threadIdx.x] = own;
    done = done || ready;
  } while (__syncthreads_or(done ? 0 : 1) != 0);
  return own;
}

/// What a block has in shared memory while it measures a portion; arrays by the row's number in it, but for the widths.
template <int kThreads>
struct MeasureRoom {
  using Sort = cub::BlockRadixSort<unsigned, kThreads, 1, cub::NullType, kThreads <= kFewPortionRows ? 4 : 2>;
  using Scan = cub::BlockScan<int, kThreads>;
  union {
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } scratch;
  int level[kThreads];
  int inner_count[kThreads];
  int outer_count[kThreads];
  std::uint16_t new_number[kThreads];  ///< in the order of steps
  Widths<kThreads> widths;
  int most;  ///< entries a lane, of the step that has most
};

/// Orders the rows of a portion by level, and cuts levels into steps. `own`: the row's level. `begin`: the portion's
/// first place. Writes what it counts of steps to `size`.
template <int kThreads>
__device__ __forceinline__ void order_steps(MeasureRoom<kThreads>& room, bool present, int own, const Index* order,
                                            Index begin, const Measured& out, PortionSize& size) {
  using Room = MeasureRoom<kThreads>;
  const auto t = static_cast<Index>(threadIdx.x);
  constexpr unsigned kAbsent = 1U << (2 * kRowBits);
  unsigned key[1] = {present ? static_cast<unsigned>(own) << kRowBits | static_cast<unsigned>(t) : kAbsent};
  typename Room::Sort(room.scratch.sort).Sort(key, kRowBits, 2 * kRowBits + 1);
  const unsigned local = key[0] & kRowMask;
  const unsigned of_level = present ? key[0] >> kRowBits : 0;
  // Rows of a level get equally many lanes, so that as many as possible share a step.
  int* const longest = room.level;  // the keys hold the levels now
  longest[t] = 0;
  __syncthreads();
  if (present) atomicMax(&longest[of_level], room.inner_count[local]);
  __syncthreads();
  const unsigned step_log2 = log2_lanes_for(longest[of_level], kInnerPerLane);
  size.lane_each = __syncthreads_or(present && step_log2 > 0 ? 1 : 0) == 0;
  int steps = 0;
  Widths<kThreads>& widths = room.widths;
  const int of_step = cut<kThreads>(present, key[0] >> kRowBits, kLanes >> step_log2,
                                    present ? per_lane(room.inner_count[local], step_log2) : 0, widths, steps);
  if (present) {
    const Index its_row = order[local];
    out.row[begin + t] = its_row;
    out.place[its_row] = begin + t;
    room.new_number[local] = static_cast<std::uint16_t>(t);
  }
  if (present && t == widths.start[of_step]) {
    out.step[begin + of_step] = {static_cast<std::uint16_t>(widths.rows[of_step]), static_cast<std::uint8_t>(step_log2),
                                 static_cast<std::uint8_t>(widths.entries[of_step])};
    widths.rows[of_step] <<= step_log2;
  }
  __syncthreads();
  int step_entries = t < steps ? widths.rows[t] * widths.entries[t] : 0;
  if (t == 0) room.most = 0;
  __syncthreads();
  if (t < steps) atomicMax(&room.most, widths.entries[t]);
  int inner_entries = 0;
  typename Room::Scan(room.scratch.scan).ExclusiveSum(step_entries, step_entries, inner_entries);
  __syncthreads();
  size.steps = steps;
  size.inner = inner_entries;
}

/// Orders the rows that are started by how many lanes that takes, and cuts them into groups. Writes what it counts of
/// groups to `size`.
template <int kThreads>
__device__ __forceinline__ void order_groups(MeasureRoom<kThreads>& room, bool present, Index begin,
                                             const Measured& out, PortionSize& size) {
  using Room = MeasureRoom<kThreads>;
  const auto t = static_cast<Index>(threadIdx.x);
  const int outer = room.outer_count[t];
  const unsigned log2_lanes = log2_lanes_for(outer, kOuterPerLane);
  const unsigned kind = outer == 0 ? kMostLog2Lanes + 1 : kMostLog2Lanes - log2_lanes;
  constexpr unsigned kNoKind = kMostLog2Lanes + 2;
  unsigned key[1] = {(present ? kind : kNoKind) << kRowBits | static_cast<unsigned>(t)};
  typename Room::Sort(room.scratch.sort).Sort(key, kRowBits, kRowBits + 3);
  const unsigned sorted_kind = key[0] >> kRowBits;
  const bool starts = sorted_kind <= kMostLog2Lanes;  // the others have nothing but their right-hand side
  size.started = __syncthreads_count(starts ? 1 : 0);
  const unsigned sorted = key[0] & kRowMask;
  const unsigned lanes_log2 = sorted_kind > kMostLog2Lanes ? 0 : kMostLog2Lanes - sorted_kind;
  const int lane_entries = starts ? per_lane(room.outer_count[sorted], lanes_log2) : 0;
  int groups = 0;
  Widths<kThreads>& widths = room.widths;
  const int piece = cut<kThreads>(starts, sorted_kind, kLanes >> lanes_log2, lane_entries, widths, groups);
  if (starts) out.started[begin + t] = room.new_number[sorted];
  int outer_entries = 0;
  int offset = t < groups ? kLanes * widths.entries[t] : 0;
  typename Room::Scan(room.scratch.scan).ExclusiveSum(offset, offset, outer_entries);
  if (starts && t == widths.start[piece]) {
    out.group[begin + piece] = {static_cast<std::uint16_t>(t), static_cast<std::uint8_t>(widths.rows[piece]),
                                static_cast<std::uint8_t>(lanes_log2), 0};
  }
  __syncthreads();
  if (t < groups) out.group[begin + t].offset = offset;
  size.groups = groups;
  size.outer = outer_entries;
}

/// A block a portion: levels inside the portion, steps, groups. `fault` gets a row that waits for one of its own
/// superstep or of a later one.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    measure_portion(Rows rows, const Index* order, const PortionRange* range, const Index* first_place,
                    const Index* superstep_of, Measured out, PortionSize* size, Index* fault) {
  __shared__ MeasureRoom<kThreads> room;
  const PortionRange mine = range[blockIdx.x];
  const auto t = static_cast<Index>(threadIdx.x);
  const Index begin = first_place[blockIdx.x];
  const bool present = t < mine.rows;
  const Index row = present ? order[mine.first + t] : 0;
  const PortionRow here{present, present ? rows.first[row] : 0, present ? rows.count[row] : 0};
  const int inner = count_inner(rows, here, mine, row, superstep_of, fault);
  room.level[t] = -1;
  room.inner_count[t] = inner;
  room.outer_count[t] = here.count - inner;
  __syncthreads();
  const int own = level_in_portion(rows, here, mine, room.level);
  PortionSize counted;
  order_steps(room, present, own, order + mine.first, begin, out, counted);
  order_groups(room, present, begin, out, counted);
  counted.step_entries = room.most;
  if (t == 0) size[blockIdx.x] = counted;
}

}  // namespace taskdag::kernels::supersteps
