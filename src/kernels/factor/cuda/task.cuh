/// \file
/// A warp task of the numeric elimination, whatever the forms of its rows.
#pragma once

#include "kernels/factor/cuda/long_row.cuh"
#include "kernels/factor/cuda/registers.cuh"
#include "kernels/factor/cuda/rounds.cuh"
#include "kernels/factor/cuda/sum.cuh"
#include "kernels/factor/cuda/targets.cuh"

namespace taskdag::kernels::elimination {

/// Entries of a long row that fit into shared memory.
inline constexpr int kStaged = 256;
/// Unchanged entries that a lane of a row without updates fetches before it waits, if all rows are such: registers are
/// few otherwise. More are fetched after the row is published.
inline constexpr int kUnchangedOfSums = 3;

__device__ inline int4 load_words(const WarpTask* task) { return __ldg(reinterpret_cast<const int4*>(task)); }

/// What a warp has in shared memory: a row of the form `rounds` for each group of lanes, a long row, or one in
/// registers.
struct WarpStage {
  RowElement elements[kElementsPerLane * kWarpSize];
};
static_assert(sizeof(WarpStage) >= kStaged * (sizeof(double) + sizeof(Index)));
static_assert(sizeof(WarpStage) >= sizeof(RegisterStage) && alignof(RowElement) >= alignof(RegisterStage));

/// Kernels by the forms of rows that they know: those with fewer need fewer registers. kRegisters: rows in registers
/// may stand beside others, for which a kernel would keep part of its numbers in local memory.
template <FactorKind Kind, RowForm Widest, bool kRegisters>
__device__ void eliminate_rows(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row,
                               WarpStage& stage) {
  [[maybe_unused]] auto& registers = reinterpret_cast<RegisterStage&>(stage);
  // The lanes of a task's last rows may be idle; its first lane is not.
  const auto form = Widest == RowForm::sum ? RowForm::sum : RowForm{__shfl_sync(kFullWarp, Index(row.form), 0)};
  constexpr int kUnchanged = Widest == RowForm::sum ? kUnchangedOfSums : 1;
  // Where rows are in registers, those that fit are.
  if constexpr (is_in_registers(Widest)) return eliminate_in_registers<Kind>(p, lane, row, form, registers);
  if (form == RowForm::sum) return eliminate_sum<Kind, kUnchanged>(p, group, lane, row);
  if constexpr (Widest >= RowForm::targets) {
    if (form == RowForm::targets) return eliminate_targets<Kind>(p, group, lane, row);
  }
  if constexpr (kRegisters) {
    if (is_in_registers(form)) return eliminate_in_registers<Kind>(p, lane, row, form, registers);
  }
  if constexpr (Widest >= RowForm::rounds) {
    if (form == RowForm::rounds) {
      return eliminate_in_rounds<Kind>(p, group, lane, row, stage.elements + kElementsPerLane * (lane - group.rank()));
    }
  }
  if constexpr (Widest > RowForm::rounds) {
    // A row that does not fit is worked on where the result goes, which no other row reads.
    const bool fits = row.entries <= kStaged;
    auto* const staged = reinterpret_cast<double*>(stage.elements);
    auto* const staged_changed = reinterpret_cast<Index*>(staged + kStaged);
    eliminate_long<Kind>(p, lane, row, {fits ? staged : p.entries + row.begin, fits ? staged_changed : nullptr});
  }
}

/// words: load_words() of the task. stage: the warp's.
template <FactorKind Kind, RowForm Widest, bool kRegisters>
__device__ void eliminate_task(const Parameters& p, int lane, const int4& words, WarpStage& stage) {
  WarpTask task;
  memcpy(&task, &words, sizeof(task));
  const LaneGroup group(lane, 1 << task.log2_lanes);
  const int row_in_task = lane >> task.log2_lanes;
  GroupRow row{{}, row_in_task < task.rows, task.first + row_in_task};
  if (row.active) static_cast<EliminationRow&>(row) = load(p.lists.rows + row.position);
  eliminate_rows<Kind, Widest, kRegisters>(p, group, lane, row, stage);
}

}  // namespace taskdag::kernels::elimination
