#include "matfactor/factor_options.hpp"

#include <cmath>

#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, Precision precision, const SweepSettings& sweeps) {
  FactorOptions options;
  options.kind = kind;
  options.levels = static_cast<Index>(levels);  // as large as any at most, see read_int()
  options.fill = fill;
  options.precision = precision;
  options.schedule = sweeps.schedule;
  options.factor_schedule = sweeps.factor_schedule;
  options.run = sweeps.run;
  set_study(options, sweeps.study);
  options.one_block_rows = sweeps.chosen_one_block_rows();
  options.tune = sweeps.tune;
  options.tune_file = sweeps.tune_file;
  options.shift_amount = amount;
  options.zero_pivot = zero_pivot;
  switch (shift) {
    case MAT_SHIFT_NONZERO:
      options.shift = ShiftType::nonzero;
      break;
    case MAT_SHIFT_POSITIVE_DEFINITE:
      options.shift = ShiftType::positive_definite;
      break;
    case MAT_SHIFT_INBLOCKS:
      options.shift = ShiftType::inblocks;
      break;
    case MAT_SHIFT_NONE:
      options.shift = ShiftType::none;
      break;
  }
  return options;
}

PetscErrorCode check_pivoting(const FactorOptions& options) {
  PetscFunctionBegin;
  PetscCheck(std::isfinite(options.shift_amount), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_factor_shift_amount must be finite, not %g", options.shift_amount);
  PetscCheck(std::isfinite(options.zero_pivot) && options.zero_pivot >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_factor_zeropivot must be 0 or more, not %g", options.zero_pivot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wanted_block_size(Mat matrix, PointBlock choice, PetscInt* rows) {
  PetscFunctionBegin;
  *rows = 1;
  if (choice == PointBlock::automatic) PetscCall(stored_block_size(matrix, rows));
  if (choice == PointBlock::on) PetscCall(MatGetBlockSize(matrix, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fills_blocks_up(Mat matrix, PetscInt block, bool* fills) {
  PetscFunctionBegin;
  PetscInt stored = 1;
  PetscCall(stored_block_size(matrix, &stored));
  *fills = block > 1 && block != stored;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string reason_against_blocks(const std::vector<Index>& order, PetscInt block) {
  constexpr PetscInt most = largest_point_block / reals_per_scalar;
  if (block > most) return "blocks have at most " + std::to_string(most) + " rows";
  if (!order_of_blocks(order, static_cast<Index>(block))) return "the ordering takes blocks apart";
  return "";
}

PetscErrorCode check_point_block(PointBlock choice, const std::string& reason) {
  PetscFunctionBegin;
  PetscCheck(reason.empty() || choice != PointBlock::on, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_taskdag_point_block on, but %s", reason.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
