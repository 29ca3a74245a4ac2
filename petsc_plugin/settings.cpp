#include "settings.hpp"

namespace taskdag::petsc {

MatFactorShiftType effective_shift(const Settings& settings) {
  if (settings.shift_chosen) return settings.shift;
  return settings.type == PC_TASKDAG_ICC ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE;
}

FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, const SweepSettings& sweeps) {
  FactorOptions options;
  options.kind = kind;
  options.levels = levels;
  options.fill = fill;
  options.schedule = sweeps.schedule;
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

}  // namespace taskdag::petsc
