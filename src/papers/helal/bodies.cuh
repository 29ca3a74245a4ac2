/// \file
/// What a row of a triangular solve does inside an adaptive task: pull and push (Helal et al. 2019, algorithm 2).
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/task.hpp"
#include "papers/helal/launcher.hpp"

namespace taskdag::kernels::ata {

/// What changes from solve to solve. In device memory, so that a graph's kernels find it where it always is.
struct SolveCall {
  const double* rhs;
  double* x;
  const Index* x_index;  ///< per position
  const double* pivot;   ///< per position, or null for 1
  int* non_finite;
};

/// What both traversals know of their rows; arrays by position, but for `task`.
struct SolveRows {
  const RowTask* task;
  const Index* row;
  const Index* rhs_index;
  const Offset* first;  ///< entries of a position: [first[p], first[p + 1])
  const Index* column;  ///< per entry
  const double* value;
  const SolveCall* call;
};

/// One lane's share of a row task.
struct LaneShare {
  int lanes;
  int member;
  bool leader;
  Index position;
  Index begin;  ///< first entry of the lane
  Index count;  ///< entries of the lane, `lanes` apart

  __device__ LaneShare(const SolveRows& rows, Index t, int lane) {
    const RowTask task = rows.task[t];
    lanes = 1 << task.log2_lanes;
    member = lane & (lanes - 1);
    const int row_in_task = lane >> task.log2_lanes;
    const bool active = row_in_task < task.rows;
    leader = active && member == 0;
    position = task.first + (active ? row_in_task : 0);
    const Offset row_begin = __ldg(rows.first + position);
    const Offset row_end = __ldg(rows.first + position + 1);
    begin = row_begin + member;
    count = active && begin < row_end ? (row_end - begin - 1) / lanes + 1 : 0;
  }
};

/// A lane's entries, in the form of task.hpp.
struct LaneEntries {
  const Index* column;
  const double* value;
  Index entries;
  int stride;
  Index absent;  ///< a column that is always ready
  __device__ Index count() const { return entries; }
  template <int Batch>
  __device__ void load(Index at, Index (&c)[Batch], double (&v)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const bool present = at + k < entries;
      c[k] = present ? __ldg(column + (at + k) * stride) : absent;
      v[k] = present ? __ldg(value + (at + k) * stride) : 0.0;
    }
  }
};

/// Operands that the order of the kernels (or a grid-wide barrier) has made ready. Plain loads: never through the
/// read-only path, because under a barrier the same kernel writes them.
struct ReadyOperands {
  const double* y;
  template <int Batch>
  __device__ void wait(const Index (&column)[Batch], double (&operand)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) operand[k] = y[column[k]];
  }
};

/// A row reads its operands. y[i] is row i's result and its own flag (base/handover.hpp); y[rows] is 0.
struct PullBody {
  static constexpr int kBatch = 4;
  SolveRows rows;
  double* y;
  Index absent;

  template <bool Tracked>
  __device__ void run(Index t, int lane) const {
    const LaneShare share(rows, t, lane);
    const LaneEntries entries{rows.column + share.begin, rows.value + share.begin, share.count, share.lanes, absent};
    const SolveCall call = *rows.call;
    double rhs = 0.0;
    double pivot = 1.0;
    if (share.leader) {
      rhs = call.rhs[__ldg(rows.rhs_index + share.position)];
      if (call.pivot) pivot = __ldg(call.pivot + share.position);
    }
    const cuda::LaneGroup group(lane, share.lanes);
    double result;
    if constexpr (Tracked) {
      result = sptrsv_row<kBatch>(group, entries, cuda::Slots{y}, rhs, pivot);
    } else {
      result = sptrsv_row<kBatch>(group, entries, ReadyOperands{y}, rhs, pivot);
    }
    if (!share.leader) return;
    cuda::Slots{y}.publish(__ldg(rows.row + share.position), result);
    if (!is_finite(result)) *call.non_finite = 1;
    call.x[__ldg(call.x_index + share.position)] = result;
  }
};

/// A row adds its contribution to the sums of its successors (`column`, rows). A successor in the same adaptive task is
/// stored as its complement: its pending operands are counted down after the addition.
///
/// Who writes what, who reads it, in which order:
/// - sum: every operand, fetch_add; the row; relaxed, ordered by `pending` or by the kernels' order.
/// - pending: every operand of the same task, fetch_sub; the row; a release fence before the decrements, an acquiring
///   load; decrements continue the release sequence.
struct PushBody {
  static constexpr int kBatch = 4;
  SolveRows rows;
  double* sum;
  int* pending;

  template <bool Tracked>
  __device__ void run(Index t, int lane) const {
    const LaneShare share(rows, t, lane);
    const SolveCall call = *rows.call;
    const Index* const column = rows.column + share.begin;
    const double* const value = rows.value + share.begin;
    Index target[kBatch];
    double weight[kBatch];
    load(column, value, share, 0, target, weight);
    double result = 0.0;
    if (share.leader) {
      const Index row = __ldg(rows.row + share.position);
      const double rhs = call.rhs[__ldg(rows.rhs_index + share.position)];
      const double pivot = call.pivot ? __ldg(call.pivot + share.position) : 1.0;
      if constexpr (Tracked) {
        while (cuda::DeviceAtomic<int>(pending[row]).load(::cuda::memory_order_acquire) != 0) {
        }
      }
      result = (rhs - cuda::DeviceAtomic<double>(sum[row]).load(::cuda::memory_order_relaxed)) * pivot;
      if (!is_finite(result)) *call.non_finite = 1;
      call.x[__ldg(call.x_index + share.position)] = result;
    }
    result = __shfl_sync(cuda::kFullWarp, result, lane & ~(share.lanes - 1));
    for (Index at = 0; at < share.count; at += kBatch) {
      if (at > 0) load(column, value, share, at, target, weight);
      add<Tracked>(share.count - at, target, weight, result);
    }
  }

 private:
  __device__ static void load(const Index* column, const double* value, const LaneShare& share, Index at,
                              Index (&target)[kBatch], double (&weight)[kBatch]) {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const bool present = at + k < share.count;
      target[k] = present ? __ldg(column + (at + k) * share.lanes) : 0;
      weight[k] = present ? __ldg(value + (at + k) * share.lanes) : 0.0;
    }
  }

  template <bool Tracked>
  __device__ void add(Index count, const Index (&target)[kBatch], const double (&weight)[kBatch], double result) const {
    bool any_inside = false;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= count) break;
      any_inside = any_inside || target[k] < 0;
      const Index row = target[k] < 0 ? ~target[k] : target[k];
      cuda::DeviceAtomic<double>(sum[row]).fetch_add(weight[k] * result, ::cuda::memory_order_relaxed);
    }
    if constexpr (Tracked) {
      if (!any_inside) return;
      // One fence for the batch: with it the decrements release the additions.
      ::cuda::atomic_thread_fence(::cuda::memory_order_release, ::cuda::thread_scope_device);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (k < count && target[k] < 0) {
          cuda::DeviceAtomic<int>(pending[~target[k]]).fetch_sub(1, ::cuda::memory_order_relaxed);
        }
      }
    }
  }
};

}  // namespace taskdag::kernels::ata
