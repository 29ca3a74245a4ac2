/// \file
/// The Pattern of the task bodies (ilu/task.hpp, ic/task.hpp) for the rows of a rank: RankRows.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

struct RankTasks {
  static constexpr bool kInTurn = false;
  const Offset* offsets;
  const Offset* diagonals;
  const Index* columns;
  const Offset* mirror;  ///< by entry below the diagonal of an own row: the one on the other side; null for ILU
  [[nodiscard]] TASKDAG_HD Offset lower_begin(Index i) const { return offsets[i]; }
  [[nodiscard]] TASKDAG_HD Offset lower_end(Index i) const { return diagonals[i]; }
  [[nodiscard]] TASKDAG_HD Offset diagonal(Index i) const { return diagonals[i]; }
  [[nodiscard]] TASKDAG_HD Offset upper_begin(Index i) const { return diagonals[i] + 1; }
  [[nodiscard]] TASKDAG_HD Offset upper_end(Index i) const { return offsets[i + 1]; }
  [[nodiscard]] TASKDAG_HD Index column(Offset e) const { return columns[e]; }
  [[nodiscard]] TASKDAG_HD Offset above_begin(Index i) const { return lower_begin(i); }
  [[nodiscard]] TASKDAG_HD Offset above_end(Index i) const { return lower_end(i); }
  [[nodiscard]] TASKDAG_HD Index above_row(Offset t) const { return columns[t]; }
  [[nodiscard]] TASKDAG_HD Offset mirrored(Offset t, Index /*row*/) const { return mirror[t]; }
};

}  // namespace taskdag::kernels
