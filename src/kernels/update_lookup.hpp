/// \file
/// One member's part of the updates "row −= multiplier · pivot row" of several pivot rows, prepared before their values
/// are known.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// For each of Rounds pivot rows the first Width entries that this member takes of it: where they are (-1: it meets no
/// entry of the own row, and nothing is waited for), which entry of the own row they meet, and their values once
/// finished. Entries beyond them are looked up when they are applied. Each step is done for all of them before the next
/// one, so that their latencies overlap.
template <int Rounds, int Width>
struct UpdateLookup {
  static constexpr unsigned kRounds = Rounds;
  static constexpr unsigned kWidth = Width;
  Offset begin[kRounds];  // of this member's entries; begin >= end: no pivot row
  Offset end[kRounds];
  Offset target[kRounds][kWidth];
  double value[kRounds][kWidth];

  TASKDAG_HD void clear(int a) { begin[a] = end[a] = 0; }

  /// Pivot row a: its entries [first, last) are dealt to the part's members in turn.
  template <class Group>
  TASKDAG_HD void set(const Group& group, int a, Offset first, Offset last) {
    begin[a] = first + group.member();
    end[a] = last;
  }

  template <class Group, class Pattern, class Row, class Factor>
  TASKDAG_HD void look(const Group& group, const Pattern& pattern, const Row& row, const Factor& factor) {
    Index column[kRounds][kWidth];
    TASKDAG_UNROLL
    for (int a = 0; a < Rounds; ++a) {
      TASKDAG_UNROLL
      for (int k = 0; k < Width; ++k) {
        const Offset f = begin[a] + k * group.members();
        column[a][k] = f < end[a] ? pattern.column(f) : -1;
      }
    }
    row.find(column, target);
    TASKDAG_UNROLL
    for (int a = 0; a < Rounds; ++a) {
      TASKDAG_UNROLL
      for (int k = 0; k < Width; ++k) {
        value[a][k] = target[a][k] >= 0 ? factor.peek_entry(begin[a] + k * group.members()) : 0.0;
      }
    }
  }

  /// Asks again for each value that `ready` does not accept; true if one is still missing.
  template <class Group, class Factor, class Ready>
  TASKDAG_HD bool missing(const Group& group, const Factor& factor, const Ready& ready) {
    bool any = false;
    TASKDAG_UNROLL
    for (int a = 0; a < Rounds; ++a) {
      TASKDAG_UNROLL
      for (int k = 0; k < Width; ++k) {
        if (!ready(value[a][k])) {  // 0 where there is no entry
          value[a][k] = factor.peek_entry(begin[a] + k * group.members());
          any = any || !ready(value[a][k]);
        }
      }
    }
    return any;
  }

  template <class Group, class Pattern, class Row, class Factor>
  TASKDAG_HD void apply(const Group& group, const Pattern& pattern, Row& row, const Factor& factor, int a,
                        double multiplier) const {
    TASKDAG_UNROLL
    for (int k = 0; k < Width; ++k) {
      if (target[a][k] >= 0) row[target[a][k]] -= multiplier * value[a][k];
    }
    for (Offset f = begin[a] + Width * group.members(); f < end[a]; f += group.members()) {
      const Index column[1][1] = {{pattern.column(f)}};
      Offset other[1][1];
      row.find(column, other);
      if (other[0][0] >= 0) row[other[0][0]] -= multiplier * factor.wait_entry(f);
    }
  }
};

}  // namespace taskdag::kernels
