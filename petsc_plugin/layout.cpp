/// \file
/// Each member that is looked at is set by a function of PETSc's, or read by one: that function knows where it is.
#include "layout.hpp"

#include "compat.hpp"

namespace taskdag::petsc {
namespace {

/// The first member that is elsewhere. What follows it is not looked at: it could be beyond the object.
class Look {
 public:
  /// @returns whether all have been where they were looked for
  bool at(const char* member, bool there) {
    if (!there && !elsewhere_) elsewhere_ = member;
    return !elsewhere_;
  }
  [[nodiscard]] const char* elsewhere() const { return elsewhere_; }

 private:
  const char* elsewhere_ = nullptr;
};

bool was_called = false;

template <class... Arguments>
PetscErrorCode note_call(Arguments... /*arguments*/) {
  was_called = true;
  return PETSC_SUCCESS;
}

/// Puts another function there for the time of a call. @returns whether PETSc called that
template <class... Arguments, class Call>
bool reaches(PetscErrorCode (*&slot)(Arguments...), Call&& call,
             PetscErrorCode (*ours)(Arguments...) = note_call<Arguments...>) {
  auto* const theirs = slot;
  was_called = false;
  slot = ours;
  const bool ran = static_cast<int>(std::forward<Call>(call)()) == 0;
  slot = theirs;
  return ran && was_called;
}

template <class Object>
PetscObject object_of(Object object) {
  return reinterpret_cast<PetscObject>(object);
}

/// What all members are tried with: a matrix of one row, one that differs, and vectors.
struct Material {
  Mat a = nullptr;
  Mat p = nullptr;
  Vec b = nullptr;
  Vec x = nullptr;
};

PetscErrorCode make_matrix(Mat* matrix) {
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, nullptr, matrix));
  PetscCall(MatSetValue(*matrix, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Only after its layouts have been found: then what is between the header and them has its size.
PetscErrorCode look_at_factor(const Material& with, Look* look) {
  PetscFunctionBegin;
  Mat const a = with.a;
  PetscBool can_order = PETSC_FALSE;
  MatFactorType type = MAT_FACTOR_NONE;
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscReal pivot = 0.0;
  PetscInt row = 0;
  PetscCall(MatSetFactorType(a, MAT_FACTOR_ILU));
  PetscCall(MatGetFactorType(a, &type));
  look->at("Mat's factortype", type == MAT_FACTOR_ILU && a->factortype == type);
  a->canuseordering = PETSC_TRUE;
  PetscCall(MatFactorGetCanUseOrdering(a, &can_order));
  look->at("Mat's canuseordering", can_order == PETSC_TRUE);
  a->factorerrortype = MAT_FACTOR_OUTMEMORY;
  a->factorerror_zeropivot_value = 0.25;
  a->factorerror_zeropivot_row = 7;
  PetscCall(MatFactorGetError(a, &error));
  PetscCall(MatFactorGetErrorZeroPivot(a, &pivot, &row));
  look->at("Mat's factorerrortype", error == MAT_FACTOR_OUTMEMORY);
  look->at("Mat's factorerror_zeropivot_row", pivot == 0.25 && row == 7);
  a->factorerrortype = MAT_FACTOR_NOERROR;
  look->at("Mat's operation solve", reaches(a->ops->solve, [&] { return MatSolve(a, with.b, with.x); }));
  look->at("Mat's operation forwardsolve",
           reaches(a->ops->forwardsolve, [&] { return MatForwardSolve(a, with.b, with.x); }));
  look->at("Mat's operation backwardsolve",
           reaches(a->ops->backwardsolve, [&] { return MatBackwardSolve(a, with.b, with.x); }));
  look->at("Mat's operation solvetranspose",
           reaches(a->ops->solvetranspose, [&] { return MatSolveTranspose(a, with.b, with.x); }));
  PetscCall(MatSetFactorType(a, MAT_FACTOR_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_matrix(const Material& with, Look* look) {
  PetscFunctionBegin;
  Mat const a = with.a;
  PetscLayout rows = nullptr;
  PetscLayout columns = nullptr;
  PetscBool assembled = PETSC_FALSE;
  PetscObjectState state = 0;
  PetscInt n = 0;
  MatInfo info;
  const char* prefix = nullptr;
  PetscCall(PetscObjectSetOptionsPrefix(object_of(a), "layout_"));
  PetscCall(PetscObjectGetOptionsPrefix(object_of(a), &prefix));
  look->at("PetscObject's prefix", object_of(a)->prefix == prefix);
  PetscCall(MatGetLayouts(a, &rows, &columns));
  PetscCall(PetscLayoutGetLocalSize(rows, &n));
  if (!look->at("Mat's rmap", a->rmap == rows && a->cmap == columns)) PetscFunctionReturn(PETSC_SUCCESS);
  look->at("PetscLayout's n", rows->n == n);
  PetscCall(MatAssembled(a, &assembled));
  look->at("Mat's assembled", assembled == PETSC_TRUE && a->assembled == assembled);
  look->at("Mat's preallocated", a->preallocated == PETSC_TRUE);
  a->nonzerostate += 5;
  PetscCall(MatGetNonzeroState(a, &state));
  look->at("Mat's nonzerostate", a->nonzerostate == state);
  PetscCall(MatSetErrorIfFailure(a, PETSC_TRUE));
  if (!look->at("Mat's erroriffailure", a->erroriffailure == PETSC_TRUE)) PetscFunctionReturn(PETSC_SUCCESS);
  look->at("Mat's operation sor",
           reaches(a->ops->sor, [&] { return MatSOR(a, with.b, 1.0, SOR_LOCAL_FORWARD_SWEEP, 0.0, 1, 1, with.x); }));
  look->at("Mat's operation getinfo", reaches(a->ops->getinfo, [&] { return MatGetInfo(a, MAT_LOCAL, &info); }));
  PetscCall(look_at_factor(with, look));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_coarsening(MatCoarsen coarsen, const Material& with, Look* look) {
  PetscFunctionBegin;
  PetscCall(MatCoarsenSetType(coarsen, MATCOARSENMIS));
  PetscCall(MatCoarsenSetAdjacency(coarsen, with.a));
  if (look->at("MatCoarsen's graph", coarsen->graph == with.a))
    look->at("MatCoarsen's operation apply", reaches(coarsen->ops->apply, [&] { return MatCoarsenApply(coarsen); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_pc(PC pc, KSP ksp, const Material& with, Look* look) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetOperators(pc, with.a, with.p));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  look->at("PC's erroriffailure", pc->erroriffailure == PETSC_TRUE);
  look->at("PC's mat", pc->mat == with.a);
  look->at("PC's pmat", pc->pmat == with.p);
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  look->at("PC's reusepreconditioner", pc->reusepreconditioner == PETSC_TRUE);
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  if (!look->at("PC's failedreason", pc->failedreason == PC_SUBPC_ERROR)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));

  look->at("PC's operation setup", reaches(pc->ops->setup, [&] { return PCSetUp(pc); }));
  look->at("PC's setupcalled", static_cast<int>(pc->setupcalled) == 1);
  look->at("PC's operation apply", reaches(pc->ops->apply, [&] { return PCApply(pc, with.b, with.x); }));
  look->at("PC's operation applytranspose",
           reaches(pc->ops->applytranspose, [&] { return PCApplyTranspose(pc, with.b, with.x); }));
  look->at("PC's operation presolve", reaches(pc->ops->presolve, [&] { return PCPreSolve(pc, ksp); }));
  look->at("PC's presolvedone", pc->presolvedone == 1);
  look->at("PC's operation postsolve", reaches(pc->ops->postsolve, [&] { return PCPostSolve(pc, ksp); }));
  look->at("PC's operation applysymmetricleft",
           reaches(pc->ops->applysymmetricleft, [&] { return PCApplySymmetricLeft(pc, with.b, with.x); }));
  look->at("PC's operation applysymmetricright",
           reaches(pc->ops->applysymmetricright, [&] { return PCApplySymmetricRight(pc, with.b, with.x); }));
  look->at("PC's operation setuponblocks", reaches(pc->ops->setuponblocks, [&] { return PCSetUpOnBlocks(pc); }));
  look->at("PC's operation reset", reaches(pc->ops->reset, [&] { return PCReset(pc); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_sor(PC pc, Look* look) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCSORSetIterations(pc, 5, 7));
  PetscCall(PCSORSetOmega(pc, 1.25));
  PetscCall(PCSORSetSymmetric(pc, SOR_LOCAL_BACKWARD_SWEEP));
  const auto& data = *static_cast<const SorData*>(pc->data);
  look->at("the data of PCSOR", data.iterations == 5 && data.local_iterations == 7 && data.omega == 1.25 &&
                                    data.sweep == SOR_LOCAL_BACKWARD_SWEEP && data.shift == 0.0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode residual(Mat /*a*/, Vec /*b*/, Vec /*x*/, Vec /*r*/) { return PETSC_SUCCESS; }

PetscErrorCode look_at_levels(PC pc, const Material& with, Look* look) {
  PetscFunctionBegin;
  KSP before = nullptr;
  KSP after = nullptr;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, 3, nullptr));  // not 2, which other members are
  PetscCall(PCMGSetType(pc, PC_MG_ADDITIVE));
  PetscCall(PCMGMultiplicativeSetCycles(pc, 3));
  const PC_MG& data = *static_cast<const PC_MG*>(pc->data);
  look->at("PC_MG's am", data.am == PC_MG_ADDITIVE);
  look->at("PC_MG's cyclesperpcapply", data.cyclesperpcapply == 3);
  if (!look->at("PC_MG's nlevels", data.nlevels == 3)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetSmootherDown(pc, 1, &before));
  PetscCall(PCMGGetSmootherUp(pc, 1, &after));
  PetscCall(PCMGSetInterpolation(pc, 1, with.a));
  PetscCall(PCMGSetRestriction(pc, 1, with.p));
  PetscCall(PCMGSetCycleTypeOnLevel(pc, 1, PC_MG_CYCLE_W));
  PetscCall(PCMGSetResidual(pc, 1, residual, with.a));
  const PC_MG_Levels& level = *data.levels[1];
  look->at("PC_MG_Levels' cycles", level.cycles == PC_MG_CYCLE_W);
  look->at("PC_MG_Levels' residual", level.residual == residual);
  look->at("PC_MG_Levels' A", level.A == with.a);
  look->at("PC_MG_Levels' smoothd", level.smoothd == before);
  look->at("PC_MG_Levels' smoothu", level.smoothu == after && after != before);
  look->at("PC_MG_Levels' interpolate", level.interpolate == with.a);
  look->at("PC_MG_Levels' restrct", level.restrct == with.p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a user sets.
PetscErrorCode look_at_ksp(KSP ksp, Look* look) {
  PetscFunctionBegin;
  PC pc = nullptr;
  PetscReal history[1] = {0.0};
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 321));
  look->at("KSP's max_it", ksp->max_it == 321);
  const bool zero_before = ksp->guess_zero == PETSC_TRUE;
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  look->at("KSP's guess_zero", zero_before && ksp->guess_zero == PETSC_FALSE);
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  look->at("KSP's calc_sings", ksp->calc_sings == PETSC_TRUE);
  PetscCall(KSPSetComputeRitz(ksp, PETSC_TRUE));
  look->at("KSP's calc_ritz", ksp->calc_ritz == PETSC_TRUE);
  PetscCall(KSPSetInitialGuessKnoll(ksp, PETSC_TRUE));
  look->at("KSP's guess_knoll", ksp->guess_knoll == PETSC_TRUE);
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  look->at("KSP's pc_side", ksp->pc_side == PC_RIGHT);
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  look->at("KSP's errorifnotconverged", ksp->errorifnotconverged == PETSC_TRUE);
  PetscCall(KSPSetResidualHistory(ksp, history, 1, PETSC_TRUE));
  look->at("KSP's res_hist", ksp->res_hist == history);
  look->at("KSP's res_hist_reset", ksp->res_hist_reset == PETSC_TRUE);
  PetscCall(KSPSetResidualHistory(ksp, nullptr, 1, PETSC_TRUE));
  PetscCall(KSPSetCheckNormIteration(ksp, 9));
  look->at("KSP's chknorm", ksp->chknorm == 9);
  PetscCall(KSPSetLagNorm(ksp, PETSC_TRUE));
  look->at("KSP's lagnorm", ksp->lagnorm == PETSC_TRUE);
  PetscCall(KSPMonitorSet(ksp, note_call, look, nullptr));
  look->at("KSP's monitor",
           ksp->numbermonitors == 1 && is_monitor(ksp->monitor[0], note_call<KSP, PetscInt, PetscReal, void*>));
  PetscCall(KSPSetConvergenceTest(ksp, note_call, look, nullptr));
  look->at("KSP's cnvP", ksp->cnvP == look);
  look->at("KSP's pc", ksp->pc == pc);
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  look->at("KSP's normtype", ksp->normtype == KSP_NORM_UNPRECONDITIONED);
  PetscCall(KSPSetPreSolve(ksp, note_call, nullptr));
  look->at("KSP's presolve", ksp->presolve != nullptr && !ksp->postsolve);
  PetscCall(KSPSetPostSolve(ksp, note_call, nullptr));
  look->at("KSP's postsolve", ksp->postsolve != nullptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solve has to end with a reason.
PetscErrorCode end_solve(KSP ksp) {
  was_called = true;
  ksp->reason = KSP_CONVERGED_ITS;
  return PETSC_SUCCESS;
}

/// What a solve leaves. After look_at_ksp(), which has found what is around it.
PetscErrorCode look_at_solve(KSP ksp, const Material& with, Look* look) {
  PetscFunctionBegin;
  PetscInt its = 0;
  PetscInt total = 0;
  PetscInt found = 0;
  PetscReal norm = 0.0;
  PetscReal extremes[2] = {0.0, 0.0};
  Vec v = nullptr;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetOperators(ksp, with.a, with.p));
  look->at("KSP's operation setup", reaches(ksp->ops->setup, [&] { return KSPSetUp(ksp); }));
  look->at("KSP's operation solve", reaches(
                                        ksp->ops->solve, [&] { return KSPSolve(ksp, with.b, with.x); }, end_solve));
  look->at("KSP's vec_sol", ksp->vec_sol == with.x && ksp->vec_rhs == with.b);
  look->at("KSP's transpose_solve", !solves_transposed(ksp) && !was_asked_transposed(ksp));
  const bool solved = reaches(
      ksp->ops->solve, [&] { return KSPSolveTranspose(ksp, with.b, with.x); }, end_solve);
  look->at("KSP's transpose_solve", solved && solves_transposed(ksp) && was_asked_transposed(ksp));
  ksp->its = 17;
  ksp->totalits = 18;
  ksp->rnorm = 0.25;
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetTotalIterations(ksp, &total));
  PetscCall(KSPGetResidualNorm(ksp, &norm));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  look->at("KSP's its", its == 17 && total == 18);
  look->at("KSP's rnorm", norm == 0.25);
  look->at("KSP's reason", reason == KSP_DIVERGED_BREAKDOWN);
  ksp->reason = KSP_CONVERGED_ITERATING;  // newer releases build nothing for a solve that has ended
  look->at("KSP's operation buildsolution",
           reaches(ksp->ops->buildsolution, [&] { return KSPBuildSolution(ksp, with.x, &v); }));
  look->at("KSP's operation buildresidual",
           reaches(ksp->ops->buildresidual, [&] { return KSPBuildResidual(ksp, with.x, with.x, &v); }));
  ksp->calc_sings = PETSC_TRUE;
  look->at("KSP's operation computeextremesingularvalues", reaches(ksp->ops->computeextremesingularvalues, [&] {
             return KSPComputeExtremeSingularValues(ksp, &extremes[0], &extremes[1]);
           }));
  look->at("KSP's operation computeeigenvalues", reaches(ksp->ops->computeeigenvalues, [&] {
             return KSPComputeEigenvalues(ksp, 1, &extremes[0], &extremes[1], &found);
           }));
  look->at("KSP's operation reset", reaches(ksp->ops->reset, [&] { return KSPReset(ksp); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_chebyshev(KSP ksp, Look* look) {
  PetscFunctionBegin;
  KSP estimator = nullptr;
  PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
  PetscCall(KSPChebyshevSetEigenvalues(ksp, 8.0, 2.0));
  const auto& data = *static_cast<const ChebyshevData*>(ksp->data);
  look->at("the data of KSPCHEBYSHEV", data.set.largest == 8.0 && data.set.smallest == 2.0);
  PetscCall(KSPChebyshevEstEigSet(ksp, 0.5, 0.125, 0.25, 1.5));
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimator));
  look->at("the estimator of KSPCHEBYSHEV",
           data.estimator == estimator && data.transform[0] == 0.5 && data.transform[3] == 1.5);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In an order in which what is written to or followed lies between members that have been found.
PetscErrorCode look_at_all(const Material& with, MatCoarsen coarsen, const PC (&pcs)[3], const KSP (&ksps)[3],
                           Look* look) {
  PetscFunctionBegin;
  PetscCall(look_at_matrix(with, look));
  if (!look->elsewhere()) PetscCall(look_at_coarsening(coarsen, with, look));
  if (!look->elsewhere()) PetscCall(look_at_pc(pcs[0], ksps[0], with, look));
  if (!look->elsewhere()) PetscCall(look_at_sor(pcs[1], look));
  if (!look->elsewhere()) PetscCall(look_at_levels(pcs[2], with, look));
  if (!look->elsewhere()) PetscCall(look_at_ksp(ksps[0], look));
  if (!look->elsewhere()) PetscCall(look_at_solve(ksps[1], with, look));
  if (!look->elsewhere()) PetscCall(look_at_chebyshev(ksps[2], look));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode find_moved_member(const char** elsewhere) {
  PetscFunctionBegin;
  Look look;
  Material with;
  MatCoarsen coarsen = nullptr;
  PC pcs[3] = {};
  KSP ksps[3] = {};
  PetscCall(make_matrix(&with.a));
  PetscCall(make_matrix(&with.p));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &with.b));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &with.x));
  PetscCall(MatCoarsenCreate(PETSC_COMM_SELF, &coarsen));
  for (PC& pc : pcs) PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  for (KSP& ksp : ksps) PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  // What fails among moved members would be printed as an error of the user's.
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode looked = look_at_all(with, coarsen, pcs, ksps, &look);
  PetscCall(PetscPopErrorHandler());
  look.at("a structure", static_cast<int>(looked) == 0);
  *elsewhere = look.elsewhere();
  // Objects whose members are elsewhere are not touched again.
  if (*elsewhere) PetscFunctionReturn(PETSC_SUCCESS);
  for (KSP& ksp : ksps) PetscCall(KSPDestroy(&ksp));
  for (PC& pc : pcs) PetscCall(PCDestroy(&pc));
  PetscCall(MatCoarsenDestroy(&coarsen));
  PetscCall(VecDestroy(&with.x));
  PetscCall(VecDestroy(&with.b));
  PetscCall(MatDestroy(&with.p));
  PetscCall(MatDestroy(&with.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
