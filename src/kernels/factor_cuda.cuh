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
  /// Asks for everything that is missing in one round trip.
  __device__ void finish(Index i, double& inverse, Offset e1, double& v1, Offset e2, double& v2) const {
    for (;;) {
      const bool missing_pivot = !is_ready(inverse);
      const bool missing1 = e1 >= 0 && !is_ready(v1);
      const bool missing2 = e2 >= 0 && !is_ready(v2);
      if (!missing_pivot && !missing1 && !missing2) return;
      if (missing_pivot) inverse = inverse_pivots.peek(i);
      if (missing1) v1 = entries.peek(e1);
      if (missing2) v2 = entries.peek(e2);
    }
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

  __device__ double& operator[](Offset e) { return value[e - begin]; }
  __device__ Index column(Offset e) const { return columns[e - begin]; }
  /// Position of `wanted` in the factor's storage, −1 if the row has no such column. Columns ascend.
  __device__ Offset find(Index wanted) const {
    Index low = 0;
    Index high = entries;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (columns[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < entries && columns[low] == wanted ? begin + low : -1;
  }
};

inline constexpr int kFactorBlock = 128;
/// Pivot rows that a row looks up together.
inline constexpr int kPivotRowsAhead = 8;
/// Entries that a row may have, per lane, to be staged in shared memory.
inline constexpr int kStagedPerLane = 4;

/// Runs `Task::run(group, row, workspace, published, rule)` for every row, in schedule order.
/// Task: row_begin(i), row_end(i), column(e), source(e) and the lists that its body needs, in device memory.
template <class Task>
__global__ void __launch_bounds__(kFactorBlock)
    factor_kernel(const Task task, const TaskList::View list, const FactorInput input, PublishedFactor published,
                  const PivotRule rule, double* overflow, cuda::TicketCounter tickets) {
  __shared__ double staged_value[kFactorBlock * kStagedPerLane];
  __shared__ Index staged_column[kFactorBlock * kStagedPerLane];
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarpSize;
  Index ticket = cuda::TicketCounter::receive(tickets.request(lane));
  while (ticket < list.tasks) {
    const int requested = tickets.request(lane);
    const WarpTask warp_task = list.task[ticket];
    const int lanes = 1 << warp_task.log2_lanes;
    const int row_in_task = lane >> warp_task.log2_lanes;
    if (row_in_task < warp_task.rows) {
      const cuda::LaneGroup group(lane, lanes);
      const Index row = list.order[warp_task.first + row_in_task];
      const Offset begin = task.row_begin(row);
      const Index entries = task.row_end(row) - begin;
      const int stage = (static_cast<int>(threadIdx.x) & ~(lanes - 1)) * kStagedPerLane;
      const bool fits = entries <= lanes * kStagedPerLane;
      RowWorkspace workspace{fits ? staged_column + stage : task.columns() + begin,
                             fits ? staged_value + stage : overflow + begin, begin, entries};
      for (Index k = group.rank(); k < entries; k += lanes) {
        const Offset e = begin + k;
        const Index column = task.column(e);
        if (fits) staged_column[stage + k] = column;
        const double value = input.values[input.source ? input.source[e] : e];
        workspace.value[k] = column == row ? value + input.shift : value;
      }
      group.sync();
      task.run(group, row, workspace, published, rule);
      group.sync();  // the workspace is free for the group's next row
    }
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
  factor_kernel<<<blocks, kFactorBlock, 0, stream>>>(
      task, tasks.view(), input,
      PublishedFactor{{storage.entries.data()}, {storage.inverse_pivots.data()}, storage.report.data()}, rule,
      storage.overflow.data(), cuda::TicketCounter{storage.counter.data()});
  cuda::check_launch("factor_kernel");
}

}  // namespace taskdag::kernels
