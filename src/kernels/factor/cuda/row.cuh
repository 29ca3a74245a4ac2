/// \file
/// What rows of all forms do: their diagonal, their check, the entries that nothing changes, a pivot row in a lane.
#pragma once

#include "kernels/factor/cuda/parameters.cuh"

namespace taskdag::kernels::elimination {

/// The row that a group of lanes works on.
struct GroupRow : EliminationRow {
  bool active;
  Index position;
};

/// Entries right of the diagonal that nothing changes: copied to the factor, summed up.
template <int Count>
struct UnchangedEntries {
  double value[Count];
  Index slot[Count];

  __device__ UnchangedEntries(const Parameters& p, const LaneGroup& group, const GroupRow& row) {
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const Index e = row.diagonal + 1 + group.rank() + k * group.size();
      value[k] = 0.0;
      slot[k] = -1;
      if (e < row.entries) {
        value[k] = p.input.value(row.begin + e);
        if (row.changed_count > 0) slot[k] = __ldg(p.lists.slots + row.begin + e);
      }
    }
  }
  __device__ void store(const Parameters& p, const LaneGroup& group, const GroupRow& row, double& absolute_sum) const {
    Index e = row.diagonal + 1 + group.rank();
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if (e < row.entries && slot[k] < 0) {
        p.entries[row.begin + e] = value[k];
        absolute_sum += magnitude(value[k]);
      }
      e += group.size();
    }
    for (; e < row.entries; e += group.size()) {
      if (row.changed_count > 0 && __ldg(p.lists.slots + row.begin + e) >= 0) continue;
      const double rest = p.input.value(row.begin + e);
      p.entries[row.begin + e] = rest;
      absolute_sum += magnitude(rest);
    }
  }
};

/// Publishes the row's inverse pivot. off: what is added to the diagonal entry, as shares in the first `shares` lanes
/// (the same number in the whole warp).
__device__ inline double publish_pivot(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                                       int shares, double diagonal, double off) {
  const int lanes = shares > 1 ? min(1 << (kWarpSize - __clz(shares - 1)), group.size()) : 1;
  const double pivot = diagonal + LaneGroup(lane, lanes).sum(off);
  if (row.active && group.rank() == 0) {
    const double used = shifted_pivot(p.rule, pivot);
    const double inverse = 1.0 / used;
    p.slots.publish(row.position, inverse);
    p.inverse_pivots[row.row] = inverse;
    p.entries[row.begin + row.diagonal] = used;
    p.next_slots[row.position] = not_yet();
  }
  return pivot;
}

/// absolute_sum: this lane's share of that of the row without its diagonal.
__device__ inline void check_row(const Parameters& p, const LaneGroup& group, const GroupRow& row, double pivot,
                                 double absolute_sum) {
  absolute_sum = group.sum(absolute_sum);
  if (!row.active || group.rank() != 0) return;
  const DiagonalEntry diagonal = p.input.diagonal(p.rule, row.begin + row.diagonal);
  static_cast<void>(check_pivot(p.rule, row.row, pivot, absolute_sum, diagonal, p.reporter));
}

__device__ inline double load_diagonal(const Parameters& p, const LaneGroup& group, const GroupRow& row) {
  return row.active && group.rank() == 0 ? p.input.shift.applied_to(p.input.value(row.begin + row.diagonal)) : 0.0;
}

/// A pivot row in a lane, with what it is waited for.
struct HeldPivot {
  PivotRow list;
  double inverse;
  double mirrored;

  __device__ HeldPivot(const Parameters& p, const GroupRow& row, Index t) {
    list = {kNoValue, kNoValue, -1, row.update_count};
    if (t < row.pivot_count) list = load(p.lists.pivots + row.first_pivot + t);
  }
  __device__ void peek(const Parameters& p) {
    inverse = p.peek(list.inverse);
    mirrored = p.peek(list.mirrored);
  }
  __device__ bool missing() const {
    return Parameters::missing(list.inverse, inverse) | Parameters::missing(list.mirrored, mirrored);
  }
  __device__ void look_again(const Parameters& p) {
    p.look_again(list.inverse, inverse);
    p.look_again(list.mirrored, mirrored);
  }
  __device__ void wait(const Parameters& p) {
    while (missing()) look_again(p);
  }
};

}  // namespace taskdag::kernels::elimination
