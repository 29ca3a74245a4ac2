/// \file
/// -pc_taskdag_type ilu and icc, dilu and dic: incomplete factorisations, with their orderings, shifts and levels of
/// fill.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "matfactor/factor_options.hpp"
#include "options.hpp"
#include "ordering/choice.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

/// -pc_taskdag_icc_shift.
enum class IccShift {
  scaled,  ///< the library's ShiftType::scaled
  petsc,   ///< positive definite, as PETSc's ICC
};

struct FactorSettings {
  std::string ordering = ordering_auto;
  PetscInt block_size = 0;                  ///< rows in a block of taskdag_bmc; 0: what all orderings take
  bool reuse_ordering = false;              ///< may change at any time; all others only before a new start
  std::optional<MatFactorShiftType> shift;  ///< without one the type's default counts
  std::optional<IccShift> icc_shift;        ///< chosen; that and a chosen `shift` contradict each other
  PetscReal shift_amount = FactorOptions{}.shift_amount;
  PetscReal zero_pivot = FactorOptions{}.zero_pivot;
  PetscInt levels = 0;
  FillScope fill = FillScope::everywhere;
  PointBlock point_block = PointBlock::automatic;
  Precision precision = FactorOptions{}.precision;
  bool operator==(const FactorSettings&) const = default;
};

std::unique_ptr<Preconditioner> make_ilu(const Settings& settings);
std::unique_ptr<Preconditioner> make_icc(const Settings& settings);
std::unique_ptr<Preconditioner> make_dilu(const Settings& settings);
std::unique_ptr<Preconditioner> make_dic(const Settings& settings);

/// Their options: PETSc's -pc_factor_… and some of ours.
std::vector<OptionRow> factor_rows();
PetscErrorCode read_factor(OptionItems items, Settings* settings);
/// As -pc_taskdag_icc_shift names it.
const char* icc_shift_name(const FactorSettings& settings);
bool same_factor(const Settings& a, const Settings& b);
/// Types and options that do not go together with -pc_taskdag_precision are an error.
PetscErrorCode check_precision(const Settings& settings);
/// Whether new numbers on the pattern that was analysed with `a` do for `b`.
bool same_factor_pattern(const Settings& a, const Settings& b);

/// PETSc's shift in force, as PCFactorGetShiftType() names it; where -pc_taskdag_icc_shift scaled counts, the one that
/// it takes the place of.
MatFactorShiftType shift_type_of(const Settings& settings);

/// PETSc's own setters for factor options reach this preconditioner as well.
PetscErrorCode compose_factor_setters(PC pc, bool present);

}  // namespace taskdag::petsc
