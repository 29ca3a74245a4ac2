#include "pc/stand_in.hpp"

#include <type_traits>

#include "boundary.hpp"
#include "mat/local_block.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

/// The count of a matrix' changes, as PETSc's releases keep it with a PC.
template <class State>
PetscObjectState changes_of(const State& state) {
  if constexpr (std::is_same_v<State, PetscObjectState>) {
    return state;
  } else {
    return state.state;
  }
}

/// Whether what has been made for some settings can go on with others, which it reads as they are.
bool goes_on_with(const Settings& made_for, const Settings& wanted) {
  return made_for.type == wanted.type && made_for.backend == wanted.backend && made_for.sor.omega == wanted.sor.omega &&
         made_for.sor.shift == wanted.sor.shift;
}

}  // namespace

PetscErrorCode StandIn::bring(Mat whole, const Settings& settings, ArrayUse* use) {
  PetscFunctionBegin;
  Mat own = nullptr;
  MatState now;
  PetscCall(local_block(whole, &own));
  PetscCall(read_state(whole, &now));
  const bool kept = preconditioner_ && goes_on_with(settings_, settings) && now.has_pattern_of(of_);
  if (!kept) {
    PetscCall(reset());
    PetscCall(guarded([&] {
      settings_ = settings;
      preconditioner_ = find_type(settings_.type)->make(settings_);
    }));
    PetscCall(preconditioner_->attach(whole));
    PetscCall(preconditioner_->analyse(own, false));
  } else {
    PetscCall(guarded([&] { settings_ = settings; }));
    if (now != of_) PetscCall(preconditioner_->update(own, false));
  }
  of_ = now;
  PetscCall(prepare(use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StandIn::prepare(ArrayUse* use) {
  PetscFunctionBegin;
  if (preconditioner_->failure().value_or(MAT_FACTOR_NOERROR) == MAT_FACTOR_NOERROR)
    PetscCall(preconditioner_->prepare_for_arrays(0, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StandIn::reset() {
  PetscFunctionBegin;
  of_ = {};
  if (preconditioner_) PetscCall(preconditioner_->reset());
  PetscCall(guarded([&] { preconditioner_.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode divides_by_blocks(PC pc, bool* blocks) {
  PetscFunctionBegin;
  PetscBool either = PETSC_FALSE;
  PetscBool has_entries = PETSC_FALSE;
  Mat matrix = nullptr;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &either, PCPBJACOBI, PCVPBJACOBI, ""));
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &has_entries, MATSEQAIJ, MATMPIAIJ,
                                          MATSEQBAIJ, MATMPIBAIJ, ""));
  *blocks = either && has_entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc inverts the blocks in its set-up, which it leaves out where it is told to reuse the preconditioner.
PetscErrorCode bring_blocks(PC pc, Backend backend, StandIn* stand_in, ArrayUse* use) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  MatState now;
  PetscBool of_one_size = PETSC_FALSE;
  PetscInt sizes = 0;
  const PetscInt* each = nullptr;
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(read_state(matrix, &now));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCPBJACOBI, &of_one_size));
  PetscCall(MatGetVariableBlockSizes(matrix, &sizes, &each));
  if (of_one_size && sizes > 0) PetscFunctionReturn(PETSC_SUCCESS);  // ours would be the other ones
  PCFailedReason failed = PC_NOERROR;
  PetscCall(PCGetFailedReason(pc, &failed));
  if (failed != PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscObjectState inverted = changes_of(pc->matstate);
  if (inverted != now.values) {
    const bool has_them = stand_in->of().id == now.id && stand_in->of().values == inverted;
    if (has_them) PetscCall(stand_in->prepare(use));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Settings settings;
  settings.type = PC_TASKDAG_JACOBI;
  settings.block_jacobi.used = true;
  settings.block_jacobi.source = JacobiBlockSource::matrix;
  settings.backend.wanted = backend;
  PetscCall(stand_in->bring(matrix, settings, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
