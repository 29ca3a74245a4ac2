#include "mg/level.hpp"

#include <array>
#include <cstdio>

#include "mg/rank_matrix.hpp"

namespace taskdag::petsc {
namespace {

bool is_finest(PC pc, int level) { return level + 1 == levels_of(pc); }

PetscErrorCode check_operator(int level, Mat a, Reason* why_not) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), type_by_rows(a), &aij));
  if (!aij) Refusal(level, "operator", why_not)("is of type ", reinterpret_cast<PetscObject>(a)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void Refusal::operator()(const char* what, const char* more) const {
  if (why_not_->given()) return;
  std::array<char, 200> text{};
  if (std::snprintf(text.data(), text.size(), "level %d's %s %s", level_, part_, what) < 0) return;
  why_not_->set(text.data(), more);
}

CycleOptions cycle_options(PC pc) {
  const PC_MG& mg = data_of_mg(pc);
  switch (mg.am) {
    case PC_MG_ADDITIVE:
      return {.form = CycleForm::additive};
    case PC_MG_FULL:
      return {.form = CycleForm::full};
    case PC_MG_KASKADE:
      return {.form = CycleForm::kaskade};
    default:
      return {.form = CycleForm::cycle, .cycles = static_cast<int>(mg.cyclesperpcapply)};
  }
}

PetscErrorCode has_ranks_of_pc(PC pc, int level, bool* has) {
  PetscFunctionBegin;
  KSP const smoother = level_of(pc, level).smoothd;
  int same = MPI_UNEQUAL;
  if (smoother)
    PetscCallMPI(MPI_Comm_compare(PetscObjectComm(reinterpret_cast<PetscObject>(smoother)),
                                  PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &same));
  *has = same == MPI_IDENT || same == MPI_CONGRUENT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool smooths_after(PC pc, int level) {
  const PCMGType form = data_of_mg(pc).am;
  return level > 0 && form != PC_MG_ADDITIVE && form != PC_MG_KASKADE;
}

bool begins_from_solution(PC pc, int level) {
  const PC_MG& mg = data_of_mg(pc);
  if (level == 0 || mg.am == PC_MG_ADDITIVE) return false;
  if (mg.am == PC_MG_FULL || mg.am == PC_MG_KASKADE) return true;
  return is_finest(pc, level) ? mg.cyclesperpcapply > 1 : level_of(pc, level + 1).cycles > 1;
}

PetscErrorCode check_level(PC pc, int level, Reason* why_not) {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, level);
  Mat a = nullptr;
  PetscCall(KSPGetOperators(own.smoothd, &a, nullptr));
  PetscCall(check_operator(level, a, why_not));
  if (level == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (own.A && own.A != a) Refusal(level, "residual", why_not)("is that of another operator than its smoother's");
  if (own.residual && own.residual != PCMGResidualDefault)
    Refusal(level, "residual", why_not)("is a function of the application");
  if (own.cr) Refusal(level, "cycle", why_not)("has compatible relaxation");
  if (!own.interpolate || !own.restrct) Refusal(level, "interpolation", why_not)("is not there");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
