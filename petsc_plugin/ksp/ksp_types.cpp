#include "ksp/ksp_types.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "across/ranks.hpp"
#include "attachment.hpp"
#include "boundary.hpp"
#include "ksp/wrapped.hpp"
#include "options.hpp"
#include "pc/in_loop.hpp"
#include "pc/pc_taskdag.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

constexpr const char* kAttachment = "TaskDAGKSP";

// PETSc's Krylov methods that the library has, too. Operations of GMRES are those of half a basis of 30.
constexpr std::array methods{
    Method{KrylovMethod::cg, KSPCG, "taskdag_cg", false, false, false, 12.0, true},
    Method{KrylovMethod::bicgstab, KSPBCGS, "taskdag_bcgs", false, false, false, 22.0, true},
    Method{KrylovMethod::gmres, KSPGMRES, "taskdag_gmres", false, false, false, 64.0, false},
    Method{KrylovMethod::fgmres, KSPFGMRES, "taskdag_fgmres", false, false, false, 64.0, false},
    Method{KrylovMethod::minres, KSPMINRES, "taskdag_minres", false, false, false, 20.0, false},
    Method{KrylovMethod::richardson, KSPRICHARDSON, "taskdag_richardson", true, false, false, 5.0, false},
    Method{KrylovMethod::chebyshev, KSPCHEBYSHEV, "taskdag_chebyshev", true, true, true, 9.0, false},
};
using Constructor = PetscErrorCode (*)(KSP);
std::array<Constructor, methods.size()> petscs{};  ///< since PetscInitialize()

MPI_Comm comm_of(KSP ksp) { return PetscObjectComm(reinterpret_cast<PetscObject>(ksp)); }

/// What is asked for: a type of ours asks for all that can be. Takes no memory, since it is asked in every solve of
/// every KSP: where that failed on one rank, the others would wait. Other words were complained of at the start.
PetscErrorCode read_use(const Wrapped& wrapped, KspUse* use) {
  PetscFunctionBegin;
  std::array<char, 16> word{};
  PetscBool given = PETSC_FALSE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-taskdag_ksp", word.data(), word.size(), &given));
  const std::string_view asked(word.data());
  *use = KspUse::on;
  if (wrapped.named) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked == "off")
    *use = KspUse::off;
  else if (!given || asked == "auto")
    *use = KspUse::automatic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for this KSP: off where `auto` has nothing to do with its preconditioner.
PetscErrorCode read_use(KSP ksp, const Wrapped& wrapped, KspUse* use) {
  PetscFunctionBegin;
  bool ours = true;
  PetscCall(read_use(wrapped, use));
  if (*use == KspUse::automatic) PetscCall(is_ours(ksp->pc, &ours));
  if (!ours) *use = KspUse::off;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode try_ours(KSP ksp, Wrapped* wrapped, KspUse use) {
  PetscFunctionBegin;
  Plan plan;
  PetscErrorCode planned = PETSC_SUCCESS;
  Reason& why_not = wrapped->why_not;
  if (wrapped->first_solve && wrapped->theirs.solve != wrapped->first_solve)
    why_not.set("a variant of the method is asked for");
  if (!why_not.given())
    planned = make_plan(ksp, *wrapped->method, wrapped->setters, use == KspUse::on, &plan, &why_not);
  PetscCall(agree(comm_of(ksp), planned, &why_not));
  wrapped->ours = !why_not.given();  // monitors may ask for the solution meanwhile
  if (wrapped->ours) PetscCall(wrapped->loop.solve(ksp, *wrapped->method, plan, &why_not));
  wrapped->ours = !why_not.given();
  if (why_not.given()) PetscCall(PetscInfo(ksp, "The loop is PETSc's and not TaskDAG's: %s\n", why_not.text()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  KspUse use = KspUse::off;
  PetscCall(wrapped_of(ksp, &wrapped));
  PetscCall(read_use(ksp, *wrapped, &use));
  wrapped->ours = false;
  wrapped->together = false;
  wrapped->why_not = {};
  if (use != KspUse::off) PetscCall(try_ours(ksp, wrapped, use));
  if (!wrapped->ours) PetscCall(wrapped->theirs.solve(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where that is asked for, a column that has not converged is an error. Not all releases look at it after an operation
/// of a type's. As in PETSc the limit of iterations is none of a solver inside another one, which a tab tells from
/// others.
PetscErrorCode check_converged(KSP ksp) {
  PetscFunctionBegin;
  const bool inside = reinterpret_cast<PetscObject>(ksp)->tablevel > 0;
  const bool ends = ksp->reason < 0 && !(inside && ksp->reason == KSP_DIVERGED_ITS);
  PetscCheck(!ksp->errorifnotconverged || !ends, comm_of(ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPMatSolve() has not converged, reason %s", KSPConvergedReasons[ksp->reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column after column, as KSPMatSolve() of a type without an operation of its own.
PetscErrorCode solve_one_by_one(KSP ksp, Mat b, Mat x, PetscInt first, PetscInt end) {
  PetscFunctionBegin;
  const auto solve_one = was_asked_transposed(ksp) ? KSPSolveTranspose : KSPSolve;
  for (PetscInt k = first; k < end; ++k) {
    Vec from = nullptr;
    Vec to = nullptr;
    PetscCall(MatDenseGetColumnVecRead(b, k, &from));
    PetscCall(MatDenseGetColumnVec(x, k, &to));
    const PetscErrorCode solved = solve_one(ksp, from, to);
    PetscCall(MatDenseRestoreColumnVec(x, k, &to));
    PetscCall(MatDenseRestoreColumnVecRead(b, k, &from));
    PetscCall(solved);
    PetscCall(check_converged(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns from `first` on together, unless that is refused.
PetscErrorCode solve_together(KSP ksp, Wrapped* wrapped, Mat b, Mat x, PetscInt first, PetscInt columns, KspUse use) {
  PetscFunctionBegin;
  Plan plan;
  PetscMPIInt ranks = 1;
  Reason& why_not = wrapped->why_not_together;
  PetscCallMPI(MPI_Comm_size(comm_of(ksp), &ranks));
  if (ranks > 1) why_not.set("the KSP is on several ranks");
  if (wrapped->first_solve && wrapped->theirs.solve != wrapped->first_solve)
    why_not.set("a variant of the method is asked for");
  if (!why_not.given())
    PetscCall(make_plan(ksp, *wrapped->method, wrapped->setters, use == KspUse::on, &plan, &why_not));
  if (!why_not.given()) PetscCall(check_columns(ksp, plan, &why_not));
  plan.options.columns = static_cast<Index>(std::min<PetscInt>(columns - first, most_krylov_columns));
  if (!why_not.given())
    PetscCall(wrapped->of_columns.solve_columns(ksp, *wrapped->method, plan, b, x, first, &why_not));
  if (why_not.given()) PetscCall(PetscInfo(ksp, "Right-hand sides are solved for by themselves: %s\n", why_not.text()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// KSPMatSolve(). A preconditioner that looks at how long solves take sees the first column's.
PetscErrorCode mat_solve(KSP ksp, Mat b, Mat x) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  KspUse use = KspUse::off;
  PetscInt columns = 0;
  PetscCall(wrapped_of(ksp, &wrapped));
  PetscCall(read_use(ksp, *wrapped, &use));
  PetscCall(MatGetSize(b, nullptr, &columns));
  wrapped->why_not_together = {};
  const PetscInt first = ksp->pc->ops->presolve ? 1 : 0;
  const bool asked = use != KspUse::off && columns - first > 1;
  PetscCall(solve_one_by_one(ksp, b, x, 0, std::min(first, columns)));
  if (asked) PetscCall(solve_together(ksp, wrapped, b, x, first, columns, use));
  wrapped->together = asked && !wrapped->why_not_together.given();
  if (wrapped->together) {
    wrapped->ours = true;
    wrapped->why_not = {};
    PetscCall(check_converged(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(solve_one_by_one(ksp, b, x, first, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `lost`: they are not known because of an error that cannot be returned, since others may wait for the solve that
/// asks. NaN in their place lets that fail on all ranks.
template <class Value>
PetscErrorCode find_values(KSP ksp, const KspLoop& loop, FindValues<Value>* find, std::vector<Value>* values,
                           bool* lost) {
  PetscFunctionBegin;
  const PetscErrorCode found = loop.find_values(find, ksp->its, values);
  *lost = static_cast<int>(found) != 0;
  if (*lost && !others_may_wait()) PetscCall(found);
  if (*lost) PetscCall(report_swallowed_error("estimates of eigenvalues are lost"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPComputeEigenvalues().
PetscErrorCode compute_eigenvalues(KSP ksp, PetscInt room, PetscReal* real, PetscReal* imaginary, PetscInt* count) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (!wrapped->ours) {
    PetscCall(wrapped->theirs.computeeigenvalues(ksp, room, real, imaginary, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<std::complex<double>> values;
  bool lost = false;
  PetscCall(find_values(ksp, wrapped->loop, find_ritz_values, &values, &lost));
  *count = lost ? std::min(ksp->its, room) : static_cast<PetscInt>(values.size());
  PetscCheck(room >= *count, comm_of(ksp), PETSC_ERR_ARG_SIZ, "there is no room for %d eigenvalues",
             static_cast<int>(*count));
  if (lost) std::fill_n(real, *count, std::numeric_limits<PetscReal>::quiet_NaN());
  std::fill_n(imaginary, room, 0.0);
  for (std::size_t k = 0; k < values.size() && !lost; ++k) {
    real[k] = static_cast<PetscReal>(values[k].real());
    imaginary[k] = static_cast<PetscReal>(values[k].imag());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPComputeExtremeSingularValues().
PetscErrorCode compute_extremes(KSP ksp, PetscReal* largest, PetscReal* smallest) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (!wrapped->ours) {
    PetscCall(wrapped->theirs.computeextremesingularvalues(ksp, largest, smallest));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<double> values;
  bool lost = false;
  PetscCall(find_values(ksp, wrapped->loop, find_singular_values, &values, &lost));
  *smallest = *largest = lost ? std::numeric_limits<PetscReal>::quiet_NaN() : PetscReal(1.0);
  if (lost || values.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  *smallest = static_cast<PetscReal>(*least);
  *largest = static_cast<PetscReal>(*most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts ours in the place of an operation, if there is one, and keeps it.
template <class Operation>
void keep(Operation ours, Operation& now, Operation& theirs) {
  if (now && now != ours) theirs = std::exchange(now, ours);
}

/// PETSc's functions put another solve in the place of ours where a variant of the method is asked for, and set-ups the
/// operations that look at eigenvalues where these are.
void keep_operations(KSP ksp, Wrapped* wrapped) {
  keep(solve, ksp->ops->solve, wrapped->theirs.solve);
  keep(compute_eigenvalues, ksp->ops->computeeigenvalues, wrapped->theirs.computeeigenvalues);
  keep(compute_extremes, ksp->ops->computeextremesingularvalues, wrapped->theirs.computeextremesingularvalues);
}

/// PETSc sets up the preconditioner after this.
PetscErrorCode set_up(KSP ksp) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  KspUse use = KspUse::off;
  PetscCall(wrapped_of(ksp, &wrapped));
  PetscCall(wrapped->theirs.setup(ksp));
  keep_operations(ksp, wrapped);
  PetscCall(read_use(ksp, *wrapped, &use));
  PetscCall(expect_loop(ksp->pc, use != KspUse::off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(KSP ksp, OptionItems items) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (wrapped->theirs.setfromoptions) PetscCall(wrapped->theirs.setfromoptions(ksp, items));
  keep_operations(ksp, wrapped);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (wrapped->theirs.view) PetscCall(wrapped->theirs.view(ksp, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  const KspLoop& last = wrapped->together ? wrapped->of_columns : wrapped->loop;
  if (ascii && wrapped->ours) PetscCall(last.view(ksp, viewer));
  if (ascii && wrapped->why_not.given())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  loop: by PETSc, not TaskDAG: %s\n", wrapped->why_not.text()));
  if (ascii && wrapped->why_not_together.given())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  right-hand sides of KSPMatSolve(): one after the other: %s\n",
                                     wrapped->why_not_together.text()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(KSP ksp) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (wrapped->theirs.reset) PetscCall(wrapped->theirs.reset(ksp));
  wrapped->ours = false;
  wrapped->together = false;
  wrapped->why_not = {};
  wrapped->why_not_together = {};
  PetscCall(wrapped->reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  PetscCall(wrapped->theirs.destroy(ksp));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(ksp), kAttachment, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's methods may build it of what they alone have left behind; after a solve of ours it is there.
PetscErrorCode build_solution(KSP ksp, Vec wanted, Vec* built) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  if (!wrapped->ours) {
    PetscCall(wrapped->theirs.buildsolution(ksp, wanted, built));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (wanted) PetscCall(VecCopy(ksp->vec_sol, wanted));
  if (built) *built = wanted ? wanted : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode build_residual(KSP ksp, Vec work, Vec wanted, Vec* built) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(ksp, &wrapped));
  const auto build = wrapped->ours ? KSPBuildResidualDefault : wrapped->theirs.buildresidual;
  PetscCall(build(ksp, work, wanted, built));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wrap(KSP ksp, std::size_t place, bool named) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(petscs[place](ksp));
  PetscCall(attach_to(reinterpret_cast<PetscObject>(ksp), kAttachment, "a KSP runs PETSc's loop and not TaskDAG's",
                      &wrapped));
  if (!wrapped) PetscFunctionReturn(PETSC_SUCCESS);  // it stays PETSc's
  wrapped->method = &methods[place];
  wrapped->named = named;
  wrapped->theirs = *ksp->ops;
  wrapped->first_solve = ksp->ops->solve;
  ksp->ops->solve = solve;
  ksp->ops->setup = set_up;
  ksp->ops->setfromoptions = set_from_options;
  ksp->ops->view = view;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->buildsolution = build_solution;
  ksp->ops->buildresidual = build_residual;
  if (methods[place].columns && !ksp->ops->matsolve) ksp->ops->matsolve = mat_solve;
  PetscCall(watch_setters(ksp, &wrapped->setters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t place>
PetscErrorCode construct_petscs(KSP ksp) {
  return wrap(ksp, place, false);
}
template <std::size_t place>
PetscErrorCode construct_ours(KSP ksp) {
  return wrap(ksp, place, true);
}

template <std::size_t place>
PetscErrorCode register_method() {
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(KSPList, methods[place].petscs, &petscs[place]));
  if (!petscs[place]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPRegister(methods[place].petscs, construct_petscs<place>));
  PetscCall(KSPRegister(methods[place].ours, construct_ours<place>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... places>
PetscErrorCode register_methods(std::index_sequence<places...> /*places*/) {
  PetscFunctionBegin;
  for (const auto one : {register_method<places>...}) PetscCall(one());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode find_wrapped(KSP ksp, Wrapped** wrapped) {
  PetscFunctionBegin;
  PetscCall(find_attached(reinterpret_cast<PetscObject>(ksp), kAttachment, wrapped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wrapped_of(KSP ksp, Wrapped** wrapped) {
  PetscFunctionBegin;
  PetscCall(find_wrapped(ksp, wrapped));
  PetscCheck(*wrapped, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a KSP of TaskDAG has lost what belongs to it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The option is read for the sake of -help, and to complain of other values early.
PetscErrorCode register_ksp() {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(read_titled(nullptr, by_ksp, &settings));
  PetscCall(KSPInitializePackage());
  PetscCall(register_methods(std::make_index_sequence<methods.size()>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
