#include "ksp/loop.hpp"

#include <cmath>
#include <utility>

#include "boundary.hpp"
#include "events.hpp"
#include "mat/indices.hpp"
#include "pc/pc_taskdag.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// A preconditioner of ours inside the loop.
class PcMap final : public LinearMap {
 public:
  PcMap(Held<PC>& pc, bool may_be_captured) : pc_(pc), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { apply_to_arrays(pc_, x, y, stream); }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }

 private:
  const Held<PC>& pc_;
  bool may_be_captured_;
};

/// Lends the arrays of a matrix inside its scope.
class OpenMatrix {
 public:
  explicit OpenMatrix(MatrixSource& source) : source_(source) {}
  OpenMatrix(const OpenMatrix&) = delete;
  OpenMatrix& operator=(const OpenMatrix&) = delete;
  ~OpenMatrix() {
    if (open_) (void)source_.close();
  }
  PetscErrorCode open(Mat matrix, bool device) {
    PetscFunctionBegin;
    PetscCall(source_.open(matrix, device));
    open_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close() {
    PetscFunctionBegin;
    open_ = false;
    PetscCall(source_.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  MatrixSource& source_;
  bool open_ = false;
};

/// By name, since PETSc's numbers of some are not those of all releases.
KSPConvergedReason reason_of(KrylovReason reason, bool limit_converges) {
  switch (reason) {
    case KrylovReason::iterating:
      return KSP_CONVERGED_ITERATING;
    case KrylovReason::relative_tolerance:
      return KSP_CONVERGED_RTOL;
    case KrylovReason::absolute_tolerance:
      return KSP_CONVERGED_ATOL;
    case KrylovReason::iterations:
    case KrylovReason::iteration_limit:
      return limit_converges ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
    case KrylovReason::step_length:
      return converged_step_length;
    case KrylovReason::breakdown_gmres:
      return KSP_DIVERGED_NULL;
    case KrylovReason::happy_breakdown:
      return KSP_CONVERGED_HAPPY_BREAKDOWN;
    case KrylovReason::divergence:
      return KSP_DIVERGED_DTOL;
    case KrylovReason::breakdown:
      return KSP_DIVERGED_BREAKDOWN;
    case KrylovReason::breakdown_bicg:
      return KSP_DIVERGED_BREAKDOWN_BICG;
    case KrylovReason::indefinite_preconditioner:
      return KSP_DIVERGED_INDEFINITE_PC;
    case KrylovReason::not_a_number:
      return KSP_DIVERGED_NANORINF;
    case KrylovReason::indefinite_matrix:
      return KSP_DIVERGED_INDEFINITE_MAT;
    default:
      return static_cast<KSPConvergedReason>(reason);
  }
}

/// Whether the loop goes on, or stopped at the limit of iterations: then a test of the application counts.
bool leaves_the_test_a_say(KrylovReason reason) {
  return reason == KrylovReason::iterating || reason == KrylovReason::iterations ||
         reason == KrylovReason::iteration_limit;
}

/// The elements, where the loop reads them; null where they are in the other memory.
PetscErrorCode elements_of(Vec v, bool cuda, const double** array) {
  PetscFunctionBegin;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  if (cuda)
    PetscCall(VecGetArrayReadAndMemType(v, array, &where));
  else
    PetscCall(VecGetArrayRead(v, array));
  const double* restored = *array;
  if (cuda)
    PetscCall(VecRestoreArrayReadAndMemType(v, &restored));
  else
    PetscCall(VecRestoreArrayRead(v, &restored));
  if (cuda != in_cuda_memory(where)) *array = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_of(Vec v, bool* cuda) {
  PetscFunctionBegin;
  const PetscScalar* array = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &where));
  *cuda = in_cuda_memory(where);
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode KspLoop::look_at(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &matrix, nullptr));
  Seen now;
  PetscCall(read_state(matrix, &now.state));
  PetscCall(guarded([&] { now.type = reinterpret_cast<PetscObject>(matrix)->type_name; }));
  now.bound = bound_to_cpu(matrix);
  if (now.has_form_of(seen_)) PetscFunctionReturn(PETSC_SUCCESS);
  seen_ = {};
  PetscCall(source_.inspect(matrix, false, plan.options.block_size));
  seen_ = std::move(now);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the preconditioner works, else where the matrix lies.
PetscErrorCode KspLoop::choose_place(KSP ksp, const Plan& plan, Reason* why_not) {
  PetscFunctionBegin;
  use_ = {};
  form_ = plan.pc;
  PetscCall(look_at(ksp, plan));
  if (plan.pc_is_ours) {
    PetscCall(prepare_for_arrays(ksp->pc, std::exchange(replays_, 0), &use_));
    if (!use_.backend) {
      why_not->set("the preconditioner cannot be applied inside a loop, or has failed");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    form_ = use_.diagonal ? PcForm::diagonal : PcForm::map;
    PetscCall(guarded([&] { place_ = *use_.backend; }));
  } else {
    BackendSettings settings;
    settings.wanted = source_.on_device() ? Backend::cuda : Backend::host;
    PetscCall(choose_backend(settings, {source_.rows(), source_.on_device()}, &place_));
  }
  if (on_cuda() != source_.on_device())
    why_not->set(on_cuda() ? "the preconditioner works on a GPU, and the matrix is in host memory"
                           : "the preconditioner works on host threads, and the matrix is in device memory");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::check_vectors(KSP ksp, Reason* why_not) const {
  PetscFunctionBegin;
  if (!on_cuda()) PetscFunctionReturn(PETSC_SUCCESS);
  bool of_b = false;
  bool of_x = false;
  PetscCall(memory_of(ksp->vec_rhs, &of_b));
  PetscCall(memory_of(ksp->vec_sol, &of_x));
  if (!of_b || !of_x) why_not->set("a vector is in host memory, and the matrix is not");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In each solve where the preconditioner is PETSc's: no sign says that its diagonal is another one.
PetscErrorCode KspLoop::find_diagonal(KSP ksp, const double** diagonal) {
  PetscFunctionBegin;
  *diagonal = use_.diagonal;
  if (use_.diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool fits = PETSC_FALSE;
  PetscInt rows = -1;
  if (diagonal_) {
    PetscCall(VecGetLocalSize(diagonal_, &rows));
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(diagonal_.get()),
                                     reinterpret_cast<PetscObject>(ksp->vec_sol)->type_name, &fits));
  }
  if (!fits || rows != source_.rows()) {
    PetscCall(ones_.reset());
    PetscCall(diagonal_.reset());
    PetscCall(VecDuplicate(ksp->vec_sol, ones_.out()));
    PetscCall(VecDuplicate(ksp->vec_sol, diagonal_.out()));
    PetscCall(VecSet(ones_, 1.0));
  }
  PetscCall(PCApply(ksp->pc, ones_, diagonal_));
  PetscCall(elements_of(diagonal_, on_cuda(), diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::find_null_space(KSP ksp, NullSpace* found, Reason* why_not) const {
  PetscFunctionBegin;
  MatNullSpace attached = nullptr;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  PetscCall(null_space_of(ksp, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &count, &vectors));
  found->constant = constant == PETSC_TRUE;
  PetscCall(guarded([&] { found->vectors.resize(static_cast<std::size_t>(count)); }));
  for (PetscInt k = 0; k < count; ++k) {
    const double*& elements = found->vectors[static_cast<std::size_t>(k)];
    PetscInt rows = 0;
    PetscCall(VecGetLocalSize(vectors[k], &rows));
    if (rows == source_.rows()) PetscCall(elements_of(vectors[k], on_cuda(), &elements));
    if (!elements) why_not->set("a vector of the null space is of another size or in another memory than the matrix");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the loop knows it already, it is not made anew for it.
PetscErrorCode KspLoop::set_null_space(NullSpace& found) {
  PetscFunctionBegin;
  if (found == null_space_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { krylov_->set_null_space(found.constant, found.vectors); }));
  null_space_ = std::move(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::collect_parts(KSP ksp, const double* diagonal, Parts* parts) const {
  PetscFunctionBegin;
  const CsrView& view = source_.view();
  parts->matrix = seen_.state.id;
  parts->pattern = seen_.state.pattern;
  parts->offsets = view.pattern.row_offsets;
  parts->columns = view.pattern.col_indices;
  parts->values = view.values;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(ksp->pc), &parts->pc));
  parts->form = form_;
  parts->diagonal = diagonal;
  parts->launches = on_cuda() && form_ == PcForm::map ? use_.launches : 0;
  parts->threads = place_->context.threads();
  parts->device = on_cuda() ? place_->context.device() : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the method does not have is no error: PETSc's loop may have it.
PetscErrorCode KspLoop::make(KSP ksp, const Plan& plan, const double* diagonal, Reason* why_not) {
  PetscFunctionBegin;
  Parts parts;
  Stream stream;
  PetscCall(collect_parts(ksp, diagonal, &parts));
  if (krylov_ && parts == parts_ && plan.options == options_) PetscFunctionReturn(PETSC_SUCCESS);
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(pc_.share(ksp->pc));
  PetscCall(guarded([&] {
    krylov_.reset();
    map_.reset();
    null_space_ = {};
    if (form_ == PcForm::diagonal) map_ = std::make_unique<DiagonalMap>(diagonal);
    if (form_ == PcForm::map) map_ = std::make_unique<PcMap>(pc_, use_.may_be_captured);
    try {
      krylov_.emplace(place_->context, source_.view(), map_.get(), plan.options, stream);
    } catch (const Unsupported& error) {
      why_not->set(error.what());
    } catch (const InvalidInput& error) {
      why_not->set(error.what());
    }
  }));
  parts_ = parts;
  options_ = plan.options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lends the arrays of right-hand side and solution to work(b, x, stream), which may throw.
template <class Work>
PetscErrorCode KspLoop::with_vectors(KSP ksp, const Work& work) {
  PetscFunctionBegin;
  Arrays arrays;
  Stream stream;
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(open_arrays(ksp->vec_rhs, ksp->vec_sol, on_cuda(), &arrays, ResultUse::updated));
  if (on_cuda()) PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode worked = guarded([&] { work(arrays.b, arrays.x, stream); });
  if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(ksp->vec_rhs, ksp->vec_sol, &arrays, ResultUse::updated));
  PetscCall(worked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Norms that are new, in order, to the history, the monitors and, at the last one, to a test of the application. As
/// PETSc's methods do, none that is not finite.
PetscErrorCode KspLoop::tell(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  if (plan.silent) PetscFunctionReturn(PETSC_SUCCESS);
  for (; told_ < outcome_.norms.size() && std::isfinite(outcome_.norms[told_]); ++told_) {
    const auto iteration = static_cast<PetscInt>(told_);
    ksp->its = iteration;
    ksp->rnorm = outcome_.norms[told_];
    PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
    PetscCall(KSPMonitor(ksp, iteration, ksp->rnorm));
    if (plan.own_test) PetscCall((*ksp->converged)(ksp, iteration, ksp->rnorm, &ksp->reason, ksp->cnvP));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run_whole(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  const bool guess = ksp->guess_zero == PETSC_FALSE;
  PetscCall(with_vectors(ksp, [&](const double* b, double* x, Stream stream) {
    outcome_ = krylov_->solve(b, x, guess, plan.tolerances, stream);
  }));
  PetscCall(tell(ksp, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run_by_iterations(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  const bool guess = ksp->guess_zero == PETSC_FALSE;
  PetscCall(with_vectors(ksp, [&](const double* b, double* x, Stream stream) {
    outcome_ = krylov_->begin(b, x, guess, plan.tolerances, stream);
  }));
  PetscCall(tell(ksp, plan));
  while (outcome_.reason == KrylovReason::iterating && ksp->reason == KSP_CONVERGED_ITERATING) {
    PetscCall(with_vectors(ksp, [&](const double*, double*, Stream stream) { outcome_ = krylov_->go_on(1, stream); }));
    PetscCall(tell(ksp, plan));
  }
  PetscCall(with_vectors(ksp, [&](const double*, double*, Stream stream) { krylov_->end(stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::conclude(KSP ksp, const Method& method, const Plan& plan) const {
  PetscFunctionBegin;
  const bool begun = method.counts_begun && outcome_.iterations > 0 && outcome_.iterations < plan.tolerances.iterations;
  ksp->its = static_cast<PetscInt>(outcome_.iterations + (begun ? 1 : 0));
  ksp->rnorm = outcome_.norm;
  if (ksp->reason == KSP_CONVERGED_ITERATING || !leaves_the_test_a_say(outcome_.reason))
    ksp->reason = reason_of(outcome_.reason, plan.limit_converges);
  if (outcome_.reason != KrylovReason::not_a_number) PetscFunctionReturn(PETSC_SUCCESS);
  PCFailedReason failed = PC_NOERROR;
  PetscCall(PCGetFailedReason(ksp->pc, &failed));
  if (failed == PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscCall(poison(ksp->vec_sol, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error that cannot be returned, as others may wait for what this solve is a part of.
PetscErrorCode KspLoop::lose(KSP ksp, PetscErrorCode error) {
  PetscFunctionBegin;
  krylov_.reset();
  if (!others_may_wait()) PetscCall(error);
  PetscCall(report_swallowed_error("a solve has met an error"));
  PetscCall(PCSetFailedReason(ksp->pc, PC_SUBPC_ERROR));
  PetscCall(poison(ksp->vec_sol, PC_SUBPC_ERROR));
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run(KSP ksp, const Method& method, const Plan& plan) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().krylov, reinterpret_cast<PetscObject>(ksp)));
  outcome_ = {};
  told_ = 0;
  ksp->its = 0;
  ksp->reason = KSP_CONVERGED_ITERATING;
  const PetscErrorCode ran = plan.by_iterations ? run_by_iterations(ksp, plan) : run_whole(ksp, plan);
  if (form_ == PcForm::map) replays_ = outcome_.iterations;
  if (static_cast<int>(ran) == 0)
    PetscCall(conclude(ksp, method, plan));
  else
    PetscCall(lose(ksp, ran));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::solve(KSP ksp, const Method& method, const Plan& plan, Reason* why_not) {
  PetscFunctionBegin;
  OpenMatrix lent(source_);
  Mat matrix = nullptr;
  const double* diagonal = nullptr;
  PetscCall(choose_place(ksp, plan, why_not));
  if (!why_not->given()) PetscCall(check_vectors(ksp, why_not));
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  if (form_ == PcForm::diagonal) PetscCall(find_diagonal(ksp, &diagonal));
  PetscCall(PCGetOperators(ksp->pc, &matrix, nullptr));
  PetscCall(lent.open(matrix, on_cuda()));
  MatInfo sizes;  // the arrays may be in device memory
  PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
  const double product = 2.0 * sizes.nz_used;
  NullSpace null_space;
  PetscCall(find_null_space(ksp, &null_space, why_not));
  if (!why_not->given()) PetscCall(make(ksp, plan, diagonal, why_not));
  if (!why_not->given()) PetscCall(set_null_space(null_space));
  if (!why_not->given()) PetscCall(run(ksp, method, plan));
  PetscCall(lent.close());
  const double flops = product + use_.flops + method.flops_of_row * static_cast<double>(source_.rows());
  PetscCall(log_flops(on_cuda(), flops * static_cast<double>(outcome_.iterations)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (!krylov_) PetscFunctionReturn(PETSC_SUCCESS);
  KrylovInfo info;
  PetscCall(guarded([&] { info = krylov_->info(); }));
  const char* const preconditioner = form_ == PcForm::none       ? "none"
                                     : form_ == PcForm::diagonal ? "a diagonal, multiplied by inside"
                                                                 : "applied inside";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  loop: by TaskDAG, %s (%s); preconditioner: %s\n", to_string(info.form),
                                   info.why.c_str(), preconditioner));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  loop: stages of an iteration beside the preconditioner: %d, MB that it moves: "
                                   "%g; work vectors: %d, MB: %g\n",
                                   info.stages, info.bytes_of_iteration / 1.0e6, static_cast<int>(info.vectors),
                                   static_cast<double>(info.bytes) / 1.0e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    krylov_.reset();
    map_.reset();
    place_.reset();
    outcome_ = {};
  }));
  use_ = {};
  seen_ = {};
  PetscCall(pc_.reset());
  PetscCall(ones_.reset());
  PetscCall(diagonal_.reset());
  PetscCall(source_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
