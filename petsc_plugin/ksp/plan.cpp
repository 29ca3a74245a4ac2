#include "ksp/plan.hpp"

#include <algorithm>
#include <array>

#include "boundary.hpp"
#include "ksp/ritz.hpp"
#include "pc/in_loop.hpp"
#include "pc/stand_in.hpp"

namespace taskdag::petsc {
namespace {

/// What is the same for all methods.
PetscErrorCode check_ksp(KSP ksp, Reason* why_not) {
  PetscFunctionBegin;
  if (solves_transposed(ksp))
    why_not->set("the solve is transposed");
  else if (ksp->calc_ritz)
    why_not->set("Ritz pairs are asked for");
  else if (ksp->lagnorm || ksp->chknorm >= 0)
    why_not->set("norms are to be left out or to lag behind");
  else if (ends_at_negative_curvature(ksp))
    why_not->set("negative curvature is to end it");
  else if (ksp->err_hist)
    why_not->set("a history of errors is asked for");
  else if (ksp->max_it < 1)
    why_not->set("no iteration is asked for");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By rows, where a rank has them, and by dense blocks.
PetscErrorCode find_type(Mat a, bool* rows, bool* blocks) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  PetscBool aij = PETSC_FALSE;
  PetscBool baij = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &ranks));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), ranks > 1 ? MATMPIAIJ : MATSEQAIJ, &aij));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATSEQBAIJ, &baij));
  *rows = aij == PETSC_TRUE;
  *blocks = baij == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// block_size: of dense blocks, 1 where the operator is read by rows.
PetscErrorCode check_operator(KSP ksp, Index* block_size, Reason* why_not) {
  PetscFunctionBegin;
  Mat a = nullptr;
  bool aij = false;
  bool baij = false;
  PetscInt block = 1;
  MatNullSpace null_space = nullptr;
  PetscInt rows = 0;
  PetscInt own_rows = 0;
  PetscInt own_columns = 0;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(find_type(a, &aij, &baij));
  PetscCall(MatGetBlockSize(a, &block));
  PetscCall(null_space_of(ksp, &null_space));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatGetLocalSize(a, &own_rows, &own_columns));
  if (baij) *block_size = static_cast<Index>(block);
  if (!aij && !baij)
    why_not->set("the operator's type is ", reinterpret_cast<PetscObject>(a)->type_name);
  else if (null_space && null_space->remove)
    why_not->set("a function of the application removes the operator's null space");
  else if (rows < 1 || own_rows != own_columns)
    why_not->set("the operator has no rows or is not square");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_pc(PC pc, bool petscs_pcs, Plan* plan, Reason* why_not) {
  PetscFunctionBegin;
  PCFailedReason failed = PC_NOERROR;
  bool none = false;
  bool diagonal = false;
  bool blocks = false;
  const char* const type = reinterpret_cast<PetscObject>(pc)->type_name;
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(is_ours(pc, &plan->pc_is_ours));
  PetscCall(is_simple(pc, &none, &diagonal));
  PetscCall(divides_by_blocks(pc, &blocks));
  plan->pc = none ? PcForm::none : diagonal ? PcForm::diagonal : PcForm::map;
  if (failed != PC_NOERROR)
    why_not->set("the preconditioner has failed");
  else if (!plan->pc_is_ours && !none && !diagonal && !blocks)
    why_not->set("the preconditioner is PETSc's ", type);
  else if (!plan->pc_is_ours && !petscs_pcs)
    why_not->set("-taskdag_ksp on is for a preconditioner like PETSc's ", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where x is the solution so far while a method runs, so that others may look.
bool shows_solution(const KrylovOptions& options) {
  switch (options.method) {
    case KrylovMethod::cg:
    case KrylovMethod::bicgstab:
      return options.side == KrylovSide::left;
    default:
      return false;
  }
}

/// Who is to be asked or told in each iteration.
void find_lookers(KSP ksp, Plan* plan, Reason* why_not) {
  const auto tested = ksp->converged;
  plan->own_test = tested != KSPConvergedDefault && tested != KSPConvergedSkip;
  plan->by_iterations = plan->own_test;
  bool at_solution = plan->own_test;
  for (PetscInt k = 0; k < ksp->numbermonitors; ++k) {
    plan->by_iterations = plan->by_iterations || !needs_norms_alone(ksp->monitor[k]);
    at_solution = at_solution || !needs_no_solution(ksp->monitor[k]);
  }
  if (at_solution && !shows_solution(plan->options))
    why_not->set("a monitor or a test may look at the solution in each iteration");
}

PetscErrorCode read_tolerances(KSP ksp, const Method& method, Plan* plan) {
  PetscFunctionBegin;
  KrylovTolerances& t = plan->tolerances;
  PetscReal relative = 0.0;
  PetscReal absolute = 0.0;
  PetscReal divergence = 0.0;
  PetscInt iterations = 0;
  PetscCall(KSPGetTolerances(ksp, &relative, &absolute, &divergence, &iterations));
  t.relative = relative;
  t.absolute = absolute;
  t.divergence = divergence;
  t.iterations = iterations;
  t.least_iterations = least_iterations(ksp);
  const bool no_norm = ksp->normtype == KSP_NORM_NONE;
  plan->silent = no_norm && method.silent_without_norms;
  plan->limit_converges = ksp->converged == KSPConvergedSkip || (no_norm && method.converges_by_iterations);
  if (ksp->converged == KSPConvergedDefault) {
    const auto& own = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    t.from_initial_residual = own.initialrtol == PETSC_TRUE;
    t.from_smaller = own.mininitialrtol == PETSC_TRUE;
    plan->limit_converges = plan->limit_converges || own.convmaxits == PETSC_TRUE;
  } else {
    t.least_iterations = t.iterations + 1;  // only the limit, and numbers that are not finite, end it
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_gmres(KSP ksp, const SetterCalls& calls, KrylovOptions* options, Reason* why_not) {
  PetscFunctionBegin;
  Orthogonalisation kind;
  PetscInt restart = 30;
  PetscCall(get_orthogonalisation(ksp, &kind));
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  if (!kind.classical && !kind.modified) why_not->set("it has an orthogonalisation of its own");
  if (calls.value(Setter::modify_pc) != 0.0) why_not->set("the preconditioner may be modified in each iteration");
  options->restart = static_cast<Index>(restart);
  options->orthogonalisation = kind.classical ? KrylovOrthogonalisation::classical : KrylovOrthogonalisation::modified;
  options->refinement = static_cast<KrylovRefinement>(kind.refinement);
  options->happy_tolerance = calls.value(Setter::happy_tolerance, options->happy_tolerance);
  options->breakdown_tolerance = calls.value(Setter::breakdown_tolerance, options->breakdown_tolerance);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_minres(KSP ksp, const SetterCalls& calls, Reason* why_not) {
  PetscFunctionBegin;
  PetscErrorCode (*get_qlp)(KSP, PetscBool*) = nullptr;
  PetscBool qlp = PETSC_FALSE;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), "KSPMINRESGetUseQLP_C", &get_qlp));
  if (get_qlp) PetscCall(get_qlp(ksp, &qlp));
  if (!get_qlp)  // before it had the other one, its norms were others, too
    why_not->set("the MINRES of this release of PETSc is another one");
  else if (qlp || calls.value(Setter::minres_radius) != 0.0)
    why_not->set("it is MINRES-QLP or has a radius");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where PETSc lets the preconditioner do all of Richardson's iterations.
PetscErrorCode check_richardson(KSP ksp, const SetterCalls& calls, KrylovOptions* options, Reason* why_not) {
  PetscFunctionBegin;
  PetscBool iterates = PETSC_FALSE;
  Mat made_of = nullptr;
  MatNullSpace null_space = nullptr;
  options->damping = calls.value(Setter::scale, 1.0);
  PetscCall(PCApplyRichardsonExists(ksp->pc, &iterates));
  PetscCall(PCGetOperators(ksp->pc, nullptr, &made_of));
  PetscCall(MatGetNullSpace(made_of, &null_space));
  const bool plain = ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip;
  if (calls.value(Setter::self_scale) != 0.0) why_not->set("it scales itself");
  if (iterates && options->damping == 1.0 && plain && ksp->numbermonitors == 0 && !null_space)
    why_not->set("the preconditioner iterates by itself");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// After the set-up, which estimates them where they are not set, and makes room for the factors of so many iterations
/// (`room`). Zeros where they are not known, or where PETSc's data is not what it is taken for.
PetscErrorCode find_bounds(KSP ksp, PetscInt room, ChebyshevBounds* bounds) {
  PetscFunctionBegin;
  const auto& data = *static_cast<const ChebyshevData*>(ksp->data);
  KSP estimator = nullptr;
  *bounds = data.set;
  if (bounds->smallest != 0.0 && bounds->largest != 0.0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimator));
  if (data.estimator != estimator || room_of(data, room) < room) PetscFunctionReturn(PETSC_SUCCESS);
  const auto& t = data.transform;
  const ChebyshevBounds& low = data.computed.smallest != 0.0 ? data.computed : data.provided;
  const ChebyshevBounds& high = data.computed.largest != 0.0 ? data.computed : data.provided;
  if (bounds->smallest == 0.0) bounds->smallest = t[0] * low.smallest + t[1] * low.largest;
  if (bounds->largest == 0.0) bounds->largest = t[2] * high.smallest + t[3] * high.largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether KSPCG is to be that for symmetric matrices of complex numbers. Its own setter is not called by the option.
PetscErrorCode is_symmetric_cg(KSP ksp, const SetterCalls& calls, bool* symmetric) {
  PetscFunctionBegin;
  PetscEnum type = static_cast<PetscEnum>(KSP_CG_HERMITIAN);
  PetscBool given = PETSC_FALSE;
  const char* prefix = nullptr;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetEnum(reinterpret_cast<PetscObject>(ksp)->options, prefix, "-ksp_cg_type", KSPCGTypes, &type,
                                &given));
  *symmetric = static_cast<int>(type) == KSP_CG_SYMMETRIC ||
               calls.value(Setter::cg_type, KSP_CG_HERMITIAN) == static_cast<double>(KSP_CG_SYMMETRIC);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What our loops do not have for complex numbers, where PETSc's are such.
PetscErrorCode check_complex(KSP ksp, const SetterCalls& calls, const KrylovOptions& options, Reason* why_not) {
  PetscFunctionBegin;
  MatNullSpace null_space = nullptr;
  bool symmetric_cg = false;
  PetscCall(null_space_of(ksp, &null_space));
  if (options.method == KrylovMethod::cg) PetscCall(is_symmetric_cg(ksp, calls, &symmetric_cg));
  if (options.block_size > 1)
    why_not->set("its numbers are complex and stand in dense blocks");
  else if (null_space)
    why_not->set("its numbers are complex, and the operator has a null space");
  else if (ksp->calc_sings)
    why_not->set("eigenvalues or singular values are asked for, and its numbers are complex");
  else if (symmetric_cg)
    why_not->set("it is CG for symmetric matrices of complex numbers");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_method(KSP ksp, const SetterCalls& calls, KrylovOptions* options, Reason* why_not) {
  PetscFunctionBegin;
  switch (options->method) {
    case KrylovMethod::cg:
      if (calls.value(Setter::radius) != 0.0) why_not->set("it has a trust region");
      if (calls.value(Setter::objective) != 0.0) why_not->set("it has a target of the objective");
      break;
    case KrylovMethod::gmres:
    case KrylovMethod::fgmres:
      PetscCall(read_gmres(ksp, calls, options, why_not));
      break;
    case KrylovMethod::minres:
      PetscCall(check_minres(ksp, calls, why_not));
      break;
    case KrylovMethod::richardson:
      PetscCall(check_richardson(ksp, calls, options, why_not));
      break;
    case KrylovMethod::chebyshev:
      PetscCall(read_chebyshev(ksp, options, why_not));
      if (options->kind == KrylovChebyshev::optimised_fourth && ksp->normtype != KSP_NORM_NONE)
        why_not->set("norms between the iterations of an optimised polynomial are those of PETSc's iteration");
      break;
    case KrylovMethod::bicgstab:
      break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Other values of the option without prefix were complained of at the start.
PetscErrorCode read_trace_file(KSP ksp, std::string* name) {
  PetscFunctionBegin;
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscBool given = PETSC_FALSE;
  const char* prefix = nullptr;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetString(reinterpret_cast<PetscObject>(ksp)->options, prefix, "-taskdag_ksp_trace",
                                  text.data(), text.size(), &given));
  PetscCheck(!given || text[0] != '\0', PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-%staskdag_ksp_trace must be a file name, not \"\"", prefix ? prefix : "");
  PetscCall(guarded([&] { *name = text.data(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode is_simple(PC pc, bool* none, bool* diagonal) {
  PetscFunctionBegin;
  auto* const object = reinterpret_cast<PetscObject>(pc);
  PetscBool is_none = PETSC_FALSE;
  PetscBool jacobi = PETSC_FALSE;
  PetscBool blocks = PETSC_FALSE;
  Mat matrix = nullptr;
  PetscInt size = 1;
  PetscCall(PetscObjectTypeCompare(object, PCNONE, &is_none));
  PetscCall(PetscObjectTypeCompare(object, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare(object, PCPBJACOBI, &blocks));
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(MatGetBlockSize(matrix, &size));
  *none = is_none == PETSC_TRUE;
  *diagonal = jacobi || (blocks && size == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_chebyshev(KSP ksp, KrylovOptions* options, Reason* why_not) {
  PetscFunctionBegin;
  ChebyshevBounds bounds{};
  PetscErrorCode (*get_kind)(KSP, int*) = nullptr;  // of an enumeration that only some releases have
  int kind = 0;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), "KSPChebyshevGetKind_C", &get_kind));
  if (get_kind) PetscCall(get_kind(ksp, &kind));
  PetscCall(find_bounds(ksp, kind == 0 ? 1 : ksp->max_it, &bounds));
  options->smallest = bounds.smallest;
  options->largest = bounds.largest;
  static_assert(static_cast<int>(KrylovChebyshev::optimised_fourth) == 2);  // in PETSc's order
  options->kind = static_cast<KrylovChebyshev>(kind);
  if (options->kind == KrylovChebyshev::optimised_fourth)
    options->degree = static_cast<int>(std::min<PetscInt>(ksp->max_it, most_optimised_degree + 1));
  const bool ordered = bounds.smallest < bounds.largest && (kind != 0 || bounds.smallest > 0.0);
  if (kind > 2 || options->degree > most_optimised_degree)
    why_not->set("the polynomials are of another kind, or of another degree than there is");
  else if (!ordered || !(bounds.largest > 0.0))
    why_not->set("the bounds of eigenvalues are not known or not positive");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_columns(KSP ksp, const Plan& plan, Reason* why_not) {
  PetscFunctionBegin;
  Mat a = nullptr;
  MatNullSpace of_transposed = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(MatGetTransposeNullSpace(a, &of_transposed));
  if (complex_scalars)
    why_not->set("their numbers are complex");
  else if (plan.by_iterations)
    why_not->set("a monitor or a test has its turn in each iteration");
  else if (!plan.trace_file.empty())
    why_not->set("an iteration is recorded");
  else if (plan.options.coefficients)
    why_not->set("eigenvalues or singular values are asked for");
  else if (ksp->guess || ksp->guess_knoll)
    why_not->set("a guess is made for each");
  else if (ksp->presolve || ksp->postsolve || scales_by_diagonal(ksp))
    why_not->set("something is done before or after each solve");
  else if (of_transposed)
    why_not->set("each is made orthogonal to a null space");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode null_space_of(KSP ksp, MatNullSpace* null_space) {
  PetscFunctionBegin;
  Mat a = nullptr;
  *null_space = nullptr;
  if (ksp->pc_side != PC_LEFT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(MatGetNullSpace(a, null_space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_plan(KSP ksp, const Method& method, const SetterCalls& calls, bool petscs_pcs, Plan* plan,
                         Reason* why_not) {
  PetscFunctionBegin;
  *plan = {};
  plan->options.method = method.method;
  plan->options.side = ksp->pc_side == PC_RIGHT       ? KrylovSide::right
                       : ksp->pc_side == PC_SYMMETRIC ? KrylovSide::symmetric
                                                      : KrylovSide::left;
  static_assert(static_cast<int>(KrylovNorm::natural) == KSP_NORM_NATURAL);
  plan->options.norm = static_cast<KrylovNorm>(ksp->normtype);
  plan->options.complex_numbers = complex_scalars;
  plan->options.coefficients = ksp->calc_sings == PETSC_TRUE && has_ritz_values(method.method);
  PetscCall(check_ksp(ksp, why_not));
  if (!why_not->given()) PetscCall(check_operator(ksp, &plan->options.block_size, why_not));
  if (complex_scalars && !why_not->given()) PetscCall(check_complex(ksp, calls, plan->options, why_not));
  if (!why_not->given()) PetscCall(check_pc(ksp->pc, petscs_pcs, plan, why_not));
  if (!why_not->given()) find_lookers(ksp, plan, why_not);
  if (!why_not->given()) PetscCall(read_method(ksp, calls, &plan->options, why_not));
  if (!why_not->given()) PetscCall(read_tolerances(ksp, method, plan));
  if (!why_not->given()) PetscCall(read_trace_file(ksp, &plan->trace_file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
