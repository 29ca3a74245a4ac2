/// \file
/// What the CUDA executors of ILU(0) and IC(0) share: the published factor, the row workspace, the launch.
#pragma once

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/factor_cuda.hpp"
#include "kernels/pivot.hpp"

namespace taskdag::kernels {

/// Values that other rows wait for, and the report. Slots are reset before each attempt.
struct PublishedFactor {
  cuda::Slots entries;
  cuda::Slots inverse_pivots;
  FactorReport* report;

  __device__ double wait_entry(Offset e) const { return entries.wait(e); }
  __device__ double peek_entry(Offset e) const { return entries.peek(e); }
  __device__ double peek_inverse_pivot(Index i) const { return inverse_pivots.peek(i); }
  struct Ready {
    __device__ bool operator()(double value) const { return is_ready(value); }
  };
  /// Waits for a batch: everything that is missing is asked for in one round trip.
  template <class Group, unsigned Rounds, class Lookup>
  __device__ void finish(const Group& group, const Index (&row)[Rounds], double (&inverse)[Rounds],
                         Lookup& lookup) const {
    while (lookup.missing(group, *this, Ready{}) | missing(inverse_pivots, row, inverse)) {
    }
  }
  template <class Group, unsigned Rounds, class Lookup>
  __device__ void finish(const Group& group, const Index (&row)[Rounds], double (&inverse)[Rounds], Lookup& lookup,
                         const Offset (&entry)[Rounds], double (&value)[Rounds]) const {
    while (lookup.missing(group, *this, Ready{}) | missing(inverse_pivots, row, inverse) |
           missing(entries, entry, value)) {
    }
  }
  template <unsigned Rounds>
  __device__ static bool missing(const cuda::Slots& slots, const Index (&index)[Rounds], double (&value)[Rounds]) {
    bool any = false;
#pragma unroll
    for (unsigned r = 0; r < Rounds; ++r) {
      if (!is_ready(value[r])) {  // 0 where there is no row
        value[r] = slots.peek(index[r]);
        any = any || !is_ready(value[r]);
      }
    }
    return any;
  }
  __device__ void publish_entry(Offset e, double value) const { entries.publish(e, value); }
  __device__ void publish_pivot(Index i, Offset e, double pivot) const {
    entries.publish(e, pivot);
    inverse_pivots.publish(i, 1.0 / pivot);
  }
  __device__ void zero_pivot(Index i, double) const {
    atomicMin(&report->first_zero, i);
    atomicMax(&report->last_zero, i);
  }
  __device__ void shifted(Index) const { atomicAdd(&report->shifted, 1); }
  __device__ void non_finite(Index i) const { atomicMin(&report->first_non_finite, i); }
};

/// A row while it is eliminated: its columns and values, in shared memory where they fit, else in global memory (then
/// only this group touches that part of it).
struct RowWorkspace {
  const Index* columns;
  double* value;
  Offset begin;
  Index entries;
  bool has_row;

  __device__ bool active() const { return has_row; }
  __device__ double& operator[](Offset e) { return value[e - begin]; }
  __device__ Index column(Offset e) const { return columns[e - begin]; }
  /// Positions of several columns in the factor's storage, −1 for those that the row has not. Columns ascend. The
  /// bisections run side by side.
  template <int M, int N>
  __device__ void find(const Index (&wanted)[M][N], Offset (&position)[M][N]) const {
    Index low[M][N];
#pragma unroll
    for (int a = 0; a < M; ++a) {
#pragma unroll
      for (int k = 0; k < N; ++k) low[a][k] = 0;
    }
    for (Index length = entries; length > 1;) {
      const Index half = length / 2;
#pragma unroll
      for (int a = 0; a < M; ++a) {
#pragma unroll
        for (int k = 0; k < N; ++k) {
          if (columns[low[a][k] + half - 1] < wanted[a][k]) low[a][k] += half;
        }
      }
      length -= half;
    }
#pragma unroll
    for (int a = 0; a < M; ++a) {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        position[a][k] = entries > 0 && columns[low[a][k]] == wanted[a][k] ? begin + low[a][k] : -1;
      }
    }
  }
};

inline constexpr int kFactorBlock = 128;
/// Entries that a row may have, per lane, to be staged in shared memory.
inline constexpr int kStagedPerLane = 8;

/// Lanes that share a pivot row with `half` entries to use, `width` prepared by each: a power of two, at most `most`.
__device__ inline Index factor_members(Index half, Index width, Index most) {
  Index members = 1;
  while (members < most && members * width < half) members *= 2;
  return members;
}

/// The lanes of a row, cut into parts.
class FactorGroup : public cuda::LaneGroup {
 public:
  /// members: a power of two, the same in the whole warp, at most `size`.
  __device__ FactorGroup(int lane, int size, int members) : LaneGroup(lane, size), members_(members) {}
  __device__ int parts() const { return size() / members_; }
  __device__ int part() const { return rank() / members_; }
  __device__ int members() const { return members_; }
  __device__ int member() const { return rank() & (members_ - 1); }

 private:
  int members_;
};

/// Runs `Task::run(group, row, workspace, published, rule)` for every row, in schedule order.
/// Task: row_begin(i), row_end(i), column(e), columns(), pivot_rows_begin(i), pivot_rows_end(i), pivot_row_length(k)
/// and what its body needs, in device memory.
template <class Shape, class Task>
__global__ void __launch_bounds__(kFactorBlock, Shape::kBlocks)
    factor_kernel(const Task task, const TaskList::View list, const FactorInput input, PublishedFactor published,
                  const PivotRule rule, double* overflow, cuda::TicketCounter tickets) {
  // One more entry per group, so that groups start in different banks.
  __shared__ double staged_value[kFactorBlock * (kStagedPerLane + 1)];
  __shared__ Index staged_column[kFactorBlock * (kStagedPerLane + 1)];
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarpSize;
  Index ticket = cuda::TicketCounter::receive(tickets.request(lane));
  while (ticket < list.tasks) {
    const int requested = tickets.request(lane);
    const WarpTask warp_task = list.task[ticket];
    const int lanes = 1 << warp_task.log2_lanes;
    const int row_in_task = lane >> warp_task.log2_lanes;
    const bool active = row_in_task < warp_task.rows;
    const Index row = active ? list.order[warp_task.first + row_in_task] : 0;
    const Offset begin = active ? task.row_begin(row) : 0;
    const Index entries = active ? task.row_end(row) - begin : 0;
    const int stage = (static_cast<int>(threadIdx.x) - lane) * (kStagedPerLane + 1) +
                      (lane & ~(lanes - 1)) * kStagedPerLane + lane / lanes;
    const bool fits = entries <= lanes * kStagedPerLane;
    RowWorkspace workspace{fits ? staged_column + stage : task.columns() + begin,
                           fits ? staged_value + stage : overflow + begin, begin, entries, active};
    for (Index k = lane & (lanes - 1); k < entries; k += lanes) {
      const Offset e = begin + k;
      const Index column = task.column(e);
      if (fits) staged_column[stage + k] = column;
      const double value = input.value(e);
      workspace.value[k] = column == row ? value + input.shift : value;
    }
    __syncwarp();
    // Parts as wide as the longest pivot row of the warp's rows: what does not fit is looked up on the critical path.
    Index longest = 0;
    if (active) {
      for (Offset k = task.pivot_rows_begin(row) + (lane & (lanes - 1)); k < task.pivot_rows_end(row); k += lanes) {
        longest = max(longest, task.pivot_row_length(k));
      }
    }
    const int members = factor_members(__reduce_max_sync(cuda::kFullWarp, longest), Shape::kWidth, lanes);
    const FactorGroup group(lane, lanes, members);
    task.template run<Shape>(group, row, workspace, published, rule);
    __syncwarp();
    ticket = cuda::TicketCounter::receive(requested);
  }
}

/// Launches one attempt. Asynchronous.
template <class Task>
void launch_factor(const Task& task, const TaskList& tasks, const FactorInput& input, const FactorStorage& storage,
                   Offset entries, const PivotRule& rule, cudaStream_t stream) {
  if (tasks.rows == 0) return;
  reset_factor(storage, entries, tasks.rows, stream);
  const int blocks = persistent_blocks(tasks, storage.tuning, kFactorBlock);
  const auto launch = [&](auto shape) {
    factor_kernel<decltype(shape)><<<blocks, kFactorBlock, 0, stream>>>(
        task, tasks.view(), input,
        PublishedFactor{{storage.entries.data()}, {storage.inverse_pivots.data()}, storage.report.data()}, rule,
        storage.overflow.data(), cuda::TicketCounter{storage.counter.data()});
  };
  if (storage.shape == FactorShape::long_rows) {
    launch(LongRowShape{});
  } else {
    launch(ShortRowShape{});
  }
  cuda::check_launch("factor_kernel");
}

}  // namespace taskdag::kernels
