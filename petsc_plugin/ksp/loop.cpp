#include "ksp/loop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "boundary.hpp"
#include "events.hpp"
#include "mat/indices.hpp"
#include "matfactor/engine_runs.hpp"
#include "pc/pc_taskdag.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Above it the vectors of all columns, which no cache holds, are most of the bytes, and each is read faster alone.
constexpr PetscInt most_rows_of_columns_on_cuda = 150000;

/// A preconditioner of ours inside the loop.
class PcMap final : public LinearMap {
 public:
  PcMap(Held<PC>& pc, bool may_be_captured) : pc_(pc), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { apply_to_arrays(pc_, x, y, stream); }
  void apply_left(const double* x, double* y, Stream stream) override {
    apply_part_to_arrays(pc_, Apply::symmetric_left, x, y, stream);
  }
  void apply_right(const double* x, double* y, Stream stream) override {
    apply_part_to_arrays(pc_, Apply::symmetric_right, x, y, stream);
  }
  void apply_columns(Index count, const double* x, std::int64_t ldx, double* y, std::int64_t ldy,
                     Stream stream) override {
    apply_to_columns(pc_, count, x, ldx, y, ldy, stream);
  }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }
  [[nodiscard]] bool has_lost_rank() const override {
    const LinearMap* const over_ranks = map_over_ranks(pc_);
    return over_ranks != nullptr && over_ranks->has_lost_rank();
  }
  void lose() noexcept override {
    LinearMap* const over_ranks = map_over_ranks(pc_);
    if (over_ranks != nullptr) over_ranks->lose();
  }

 private:
  const Held<PC>& pc_;
  bool may_be_captured_;
};

/// A preconditioner of another type, whose application is ours. It may get another one between solves.
class OwnMap final : public LinearMap {
 public:
  OwnMap(OwnApplication* const& own, bool may_be_captured) : own_(own), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { own_->apply_to_arrays(x, y, stream); }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }
  [[nodiscard]] bool has_lost_rank() const override {
    const LinearMap* const over_ranks = own_->map_over_ranks();
    return over_ranks != nullptr && over_ranks->has_lost_rank();
  }
  void lose() noexcept override {
    LinearMap* const over_ranks = own_->map_over_ranks();
    if (over_ranks != nullptr) over_ranks->lose();
  }

 private:
  OwnApplication* const& own_;
  bool may_be_captured_;
};

/// That of a rank without rows.
class EmptyMap final : public LinearMap {
 public:
  void apply(const double* /*x*/, double* /*y*/, Stream /*stream*/) override {}
  void apply_left(const double* /*x*/, double* /*y*/, Stream /*stream*/) override {}
  void apply_right(const double* /*x*/, double* /*y*/, Stream /*stream*/) override {}
};

/// What a rank has of the operator: on several ranks the entries in its own columns, and the others, whose columns
/// `ghosts` has the numbers of. On one there is no outer part.
PetscErrorCode split(Mat whole, Mat* own, Mat* outer, const PetscInt** ghosts) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(whole)), &ranks));
  *own = whole;
  *outer = nullptr;
  *ghosts = nullptr;
  if (ranks > 1) PetscCall(MatMPIAIJGetSeqAIJ(whole, own, outer, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How long a rank that has lost another one waits whether it comes all the same, and a rank that has not.
constexpr double a_moment_s = 5.0;
double longest_wait_s() { return KrylovRanks{}.patience_s + a_moment_s; }

/// Stands where there is an array of a rank without rows: it is not read, and not null.
constexpr double no_element = 0.0;

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

/// Whether a loop made with `made` does what is wanted: it may have some columns more.
bool is_for(KrylovOptions wanted, const KrylovOptions& made) {
  if (wanted.columns > 1 && wanted.columns <= made.columns && made.columns <= 4 * wanted.columns)
    wanted.columns = made.columns;
  return wanted == made;
}

/// Whether the loop goes on, or stopped at the limit of iterations: then a test of the application counts.
bool leaves_the_test_a_say(KrylovReason reason) {
  return reason == KrylovReason::iterating || reason == KrylovReason::iterations ||
         reason == KrylovReason::iteration_limit;
}

}  // namespace

struct KspLoop::Next {
  Next(MatrixSource& own_source, MatrixSource& outer_source) : own(own_source), outer(outer_source) {}

  OpenMatrix own;
  OpenMatrix outer;
  const PetscInt* ghosts = nullptr;  ///< PETSc's
  const double* diagonal = nullptr;
  NullSpace null_space;
  Parts parts;
  // As all ranks do:
  bool anew = false;            ///< the loop is made
  bool set_null_space = false;  ///< it is told of its null space
  bool traced = false;          ///< a rank at least records an iteration
};

/// Collective, and so before what a rank may find alone. In each solve where the preconditioner is PETSc's: no sign
/// says that its diagonal is another one.
PetscErrorCode KspLoop::take_preconditioner(KSP ksp, const Plan& plan, Vec like) {
  PetscFunctionBegin;
  use_ = {};
  form_ = plan.pc;
  stands_in_ = plan.pc == PcForm::map && !plan.pc_is_ours;
  if (!stands_in_) PetscCall(blocks_.reset());
  PetscCall(own_application_of(ksp->pc, &own_application_));
  if (own_application_)
    PetscCall(own_application_->prepare_for_arrays(ksp->pc, &use_));
  else if (plan.pc_is_ours)
    PetscCall(prepare_for_arrays(ksp->pc, std::exchange(replays_, 0), &use_));
  else if (plan.pc == PcForm::diagonal)
    PetscCall(diagonal_.find(ksp->pc, like, ksp->pc_side == PC_SYMMETRIC ? PCApplySymmetricLeft : PCApply));
  else if (stands_in_)
    PetscCall(PCSetUp(ksp->pc));  // as each of PETSc's applications begins
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the preconditioner works, else where the matrix lies; without rows, where the vectors lie. Such a rank leaves
/// the form of the preconditioner to the others.
PetscErrorCode KspLoop::choose_place(KSP ksp, const Plan& plan, Reason* why_not) {
  PetscFunctionBegin;
  if (use_.backend && plan.options.side == KrylovSide::symmetric && !use_.has_parts) {
    why_not->set("the preconditioner has no symmetric parts");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (use_.backend) {
    form_ = use_.diagonal ? PcForm::diagonal : PcForm::map;
    PetscCall(guarded([&] { place_ = *use_.backend; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (plan.pc == PcForm::map && rows() > 0) {
    why_not->set("the preconditioner cannot be applied inside a loop, or has failed");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (plan.pc == PcForm::map) form_ = PcForm::none;
  bool cuda = own_.source.on_device();
  if (rows() == 0) PetscCall(in_device_memory(ksp->vec_rhs, &cuda));
  BackendSettings settings;
  settings.wanted = cuda ? Backend::cuda : Backend::host;
  PetscCall(choose_backend(settings, {rows(), cuda}, &place_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is in host memory is copied to a GPU, where the loop is on one.
void KspLoop::check_place(Reason* why_not) const {
  const bool has_device_arrays = own_.source.on_device() || (ranks_.count() > 1 && outer_.source.on_device());
  if (!on_cuda() && has_device_arrays)
    why_not->set("the preconditioner works on host threads, and the matrix is in device memory");
}

PetscErrorCode KspLoop::find_diagonal(const double** diagonal) {
  PetscFunctionBegin;
  *diagonal = use_.diagonal;
  if (!use_.diagonal && form_ == PcForm::diagonal) PetscCall(diagonal_.elements(place_->context, diagonal));
  if (rows() == 0) *diagonal = &no_element;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::find_null_space(KSP ksp, NullSpace* found, Reason* why_not) {
  PetscFunctionBegin;
  MatNullSpace attached = nullptr;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  PetscCall(null_space_of(ksp, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &count, &vectors));
  found->constant = constant == PETSC_TRUE;
  PetscCall(guarded([&] {
    found->vectors.resize(static_cast<std::size_t>(count));
    null_elements_.resize(static_cast<std::size_t>(count));
  }));
  for (PetscInt k = 0; k < count; ++k) {
    const double*& elements = found->vectors[static_cast<std::size_t>(k)];
    PetscInt size = 0;
    PetscCall(VecGetLocalSize(vectors[k], &size));
    if (size == rows())
      PetscCall(null_elements_[static_cast<std::size_t>(k)].find(vectors[k], place_->context, &elements));
    if (rows() == 0) elements = &no_element;
    if (!elements) why_not->set("a vector of the null space is of another size than the loop");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the loop knows it already, it is not told again.
PetscErrorCode KspLoop::set_null_space(KSP ksp, Next* next) {
  PetscFunctionBegin;
  NullSpace& found = next->null_space;
  const bool first = next->anew && found != NullSpace{};
  if (!first && !next->set_null_space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ranks_.work(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)),
                        [&] { krylov_->set_null_space(found.constant, found.vectors); }));
  null_space_ = std::move(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::collect_parts(KSP ksp, Next* next) const {
  PetscFunctionBegin;
  Parts& parts = next->parts;
  parts.own = own_.place();
  parts.outer = outer_.place();
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(ksp->pc), &parts.pc));
  parts.form = form_;
  parts.own_application = own_application_ != nullptr;
  parts.stands_in = stands_in_;
  parts.diagonal = next->diagonal;
  parts.launches = on_cuda() && form_ == PcForm::map ? use_.launches : 0;
  parts.threads = place_->context.threads();
  parts.device = on_cuda() ? place_->context.device() : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All that comes before the ranks decide together.
PetscErrorCode KspLoop::prepare(KSP ksp, const Plan& plan, Vec like, Next* next, Reason* why_not) {
  PetscFunctionBegin;
  Mat whole = nullptr;
  Mat own = nullptr;
  Mat outer = nullptr;
  PetscCall(take_preconditioner(ksp, plan, like));
  PetscCall(PCGetOperators(ksp->pc, &whole, nullptr));
  PetscCall(split(whole, &own, &outer, &next->ghosts));
  own_.source.lend_complex(ComplexAs::pairs);
  outer_.source.lend_complex(ComplexAs::pairs);
  PetscCall(own_.look_at(own, false, plan.options.block_size));
  if (outer) PetscCall(outer_.look_at(outer, true, 1));
  if (stands_in_ && rows() > 0)
    PetscCall(bring_blocks(ksp->pc, own_.source.on_device() ? Backend::cuda : Backend::host, &blocks_, &use_));
  PetscCall(choose_place(ksp, plan, why_not));
  if (!why_not->given()) check_place(why_not);
  if (!why_not->given() && plan.options.columns > 1 && on_cuda() && rows() > most_rows_of_columns_on_cuda)
    why_not->set("on a GPU a solve of each is faster with so many rows");
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_diagonal(&next->diagonal));
  PetscCall(next->own.open(own, on_cuda()));
  PetscCall(own_.bring(whole, place_->context));
  if (outer) {
    PetscCall(next->outer.open(outer, on_cuda()));
    PetscCall(outer_.bring(whole, place_->context));
  }
  PetscCall(find_null_space(ksp, &next->null_space, why_not));
  PetscCall(collect_parts(ksp, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `prepared`: what prepare() has returned here.
PetscErrorCode KspLoop::decide(KSP ksp, PetscErrorCode prepared, const Plan& plan, Next* next, Reason* why_not) {
  PetscFunctionBegin;
  const bool kept = (krylov_ || refused_.given()) && next->parts == parts_ && is_for(plan.options, options_);
  const bool cuda = place_ && on_cuda();
  std::array<int, 6> most = {kept ? 0 : 1,
                             next->null_space == null_space_ ? 0 : 1,
                             static_cast<int>(form_),
                             cuda ? 1 : 0,
                             cuda || rows() == 0 ? 0 : 1,
                             plan.trace_file.empty() ? 0 : 1};
  PetscCall(agree(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), prepared, why_not, most));
  next->anew = most[0] != 0;
  next->set_null_space = !next->anew && most[1] != 0;
  form_ = static_cast<PcForm>(most[2]);
  next->traced = most[5] != 0;
  if (most[3] != 0 && most[4] != 0 && !why_not->given()) why_not->set("some ranks work on a GPU and others do not");
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::unique_ptr<LinearMap> KspLoop::make_map(const double* diagonal) {
  if (form_ == PcForm::none) return nullptr;
  if (form_ == PcForm::diagonal) return std::make_unique<DiagonalMap>(diagonal);
  if (use_.backend && own_application_) return std::make_unique<OwnMap>(own_application_, use_.may_be_captured);
  if (use_.backend && stands_in_) return std::make_unique<StandInMap>(blocks_, use_.may_be_captured);
  if (use_.backend) return std::make_unique<PcMap>(pc_, use_.may_be_captured);
  return std::make_unique<EmptyMap>();
}

/// What the method does not have is no error: PETSc's loop may have it.
PetscErrorCode KspLoop::make(KSP ksp, const Plan& plan, const Next& next, Reason* why_not) {
  PetscFunctionBegin;
  if (next.anew) {
    refused_ = {};
    null_space_ = {};
    PetscCall(pc_.share(ksp->pc));
    PetscCall(construct(ksp, plan, next));
    parts_ = next.parts;
    options_ = plan.options;
  }
  *why_not = refused_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The library's constructor is collective: what may fail on a rank alone comes before it.
PetscErrorCode KspLoop::construct(KSP ksp, const Plan& plan, const Next& next) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  Stream stream;
  KrylovRanks ranks;
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(guarded(comm, [&] {
    krylov_.reset();
    map_ = make_map(next.diagonal);
    ranks.group = &ranks_;
    ranks.outer = outer_.view();
    ranks.ghosts.assign(next.ghosts, next.ghosts + ranks.outer.pattern.cols);
  }));
  PetscCall(ranks_.work(comm, [&] {
    try {
      if (ranks_.count() > 1)
        krylov_.emplace(place_->context, own_.view(), map_.get(), plan.options, ranks, stream);
      else
        krylov_.emplace(place_->context, own_.view(), map_.get(), plan.options, stream);
      const KrylovInfo info = krylov_->info();
      captures_ = info.form == KrylovForm::graph;
      applications_ = info.applications;
    } catch (const Unsupported& error) {
      refused_.set(error.what());
    } catch (const InvalidInput& error) {
      refused_.set(error.what());
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lends copies in device memory of such arrays in host memory.
template <class Work>
PetscErrorCode KspLoop::with_copies(const Arrays& arrays, const Work& work) {
  PetscFunctionBegin;
  const double bytes = sizeof(double) * static_cast<double>(arrays.rows) * static_cast<double>(arrays.columns);
  PetscCall(guarded([&] {
    vectors_.take(place_->context, arrays);
    Arrays copies = arrays;
    copies.b = vectors_.b();
    copies.x = vectors_.x();
    copies.ldb = copies.ldx = arrays.rows;
    work(copies);
  }));
  PetscCall(wait_for_current_stream());
  PetscCall(guarded([&] { vectors_.give(arrays); }));
  PetscCall(log_staging(2.0 * bytes, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lends the arrays of vectors, or of the columns of dense matrices from number `first` on, to work(arrays, stream),
/// which may throw.
template <class Object, class Work>
PetscErrorCode KspLoop::with_arrays(Object b, Object x, PetscInt first, const Work& work) {
  PetscFunctionBegin;
  Arrays arrays;
  Stream stream;
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(open_arrays(b, x, on_cuda(), &arrays, ResultUse::updated));
  if (on_cuda()) PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode worked = in_doubles(&arrays, &wide_, stream, [&] {
    Arrays lent = arrays;
    lent.b += std::int64_t{first} * arrays.ldb;
    lent.x += std::int64_t{first} * arrays.ldx;
    lent.columns -= first;
    const auto on_stream = [&](const Arrays& here) { work(here, stream); };
    const bool apart = on_cuda() && arrays.space == MemorySpace::host && rows() > 0;
    return apart ? with_copies(lent, on_stream) : guarded([&] { on_stream(lent); });
  });
  if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(b, x, &arrays, ResultUse::updated));
  PetscCall(worked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of right-hand side and solution, to work(b, x, stream).
template <class Work>
PetscErrorCode KspLoop::with_own_vectors(KSP ksp, const Work& work) {
  PetscFunctionBegin;
  PetscCall(with_arrays(ksp->vec_rhs, ksp->vec_sol, 0,
                        [&](const Arrays& arrays, Stream stream) { work(arrays.b, arrays.x, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same, with its error shared: one that a rank has met at the very end the others do not know of. Who has lost
/// another rank does not wait for it again.
template <class Work>
PetscErrorCode KspLoop::with_vectors(KSP ksp, const Work& work) {
  PetscFunctionBegin;
  bool lost = false;
  const PetscErrorCode worked = with_own_vectors(ksp, [&](const double* b, double* x, Stream stream) {
    try {
      work(b, x, stream);
    } catch (const RankLost&) {
      lost = true;
      throw;
    }
  });
  PetscCall(ranks_.share_with_those_left(worked, lost ? a_moment_s : longest_wait_s()));
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
    ksp->rnorm = static_cast<PetscReal>(outcome_.norms[told_]);
    PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
    PetscCall(KSPMonitor(ksp, iteration, ksp->rnorm));
    if (plan.own_test) PetscCall((*ksp->converged)(ksp, iteration, ksp->rnorm, &ksp->reason, ksp->cnvP));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where it fails on this rank, the others wait for it in the next piece of the solve.
PetscErrorCode KspLoop::tell_between(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  const PetscErrorCode told = tell(ksp, plan);
  if (static_cast<int>(told) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  krylov_.reset();  // which tells them
  PetscCall(ranks_.share_with_those_left(told, longest_wait_s()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iterations after which the preconditioner may have a faster form: the solve is to go on with that.
std::int64_t KspLoop::change_after() const {
  const bool may = ranks_.count() == 1 && form_ == PcForm::map && captures_;
  return may ? use_.replays / applications_ : ArrayUse{}.replays;
}

PetscErrorCode KspLoop::change_form(KSP ksp) {
  PetscFunctionBegin;
  told_replays_ = outcome_.iterations * applications_;
  PetscCall(prepare_for_arrays(ksp->pc, told_replays_, &use_));
  if (std::exchange(parts_.launches, use_.launches) != use_.launches) krylov_->capture_anew();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Other ranks may do it in one piece, and have a call of with_vectors() then. One rank alone changes its
/// preconditioner.
PetscErrorCode KspLoop::run_whole(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  const bool guess = ksp->guess_zero == PETSC_FALSE;
  const std::int64_t limit = plan.tolerances.iterations;
  const std::int64_t first = std::min(change_after(), limit);
  const bool traced = !plan.trace_file.empty();
  const bool changes = first < limit;
  PetscCall(with_vectors(ksp, [&](const double* b, double* x, Stream stream) {
    if (!traced && !changes) {
      outcome_ = krylov_->solve(b, x, guess, plan.tolerances, stream);
      return;
    }
    static_cast<void>(krylov_->begin(b, x, guess, plan.tolerances, stream));
    if (traced) static_cast<void>(krylov_->trace_iteration(trace_, stream));
    outcome_ = krylov_->go_on(first - (traced ? 1 : 0), stream);
    if (!changes) krylov_->end(stream);
  }));
  if (changes) {
    if (outcome_.reason == KrylovReason::iterating) PetscCall(change_form(ksp));
    PetscCall(with_vectors(ksp, [&](const double*, double*, Stream stream) {
      outcome_ = krylov_->go_on(limit, stream);
      krylov_->end(stream);
    }));
  }
  PetscCall(tell(ksp, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run_by_iterations(KSP ksp, const Plan& plan) {
  PetscFunctionBegin;
  const bool guess = ksp->guess_zero == PETSC_FALSE;
  PetscCall(with_vectors(ksp, [&](const double* b, double* x, Stream stream) {
    outcome_ = krylov_->begin(b, x, guess, plan.tolerances, stream);
  }));
  PetscCall(tell_between(ksp, plan));
  const std::int64_t change = change_after();
  while (outcome_.reason == KrylovReason::iterating && ksp->reason == KSP_CONVERGED_ITERATING) {
    if (outcome_.iterations == change) PetscCall(change_form(ksp));
    const bool traced = outcome_.iterations == 0 && !plan.trace_file.empty();
    PetscCall(with_vectors(ksp, [&](const double*, double*, Stream stream) {
      outcome_ = traced ? krylov_->trace_iteration(trace_, stream) : krylov_->go_on(1, stream);
    }));
    PetscCall(tell_between(ksp, plan));
  }
  PetscCall(with_vectors(ksp, [&](const double*, double*, Stream stream) { krylov_->end(stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On all ranks where one has something to write: a file that cannot be written is an error on all.
PetscErrorCode KspLoop::write_trace(const Plan& plan) {
  PetscFunctionBegin;
  const bool is = !plan.trace_file.empty() && !trace_.events.empty();
  const PetscErrorCode written = guarded([&] {
    if (is) write_traces({{"iteration", std::move(trace_)}}, place_->context.backend(), plan.trace_file);
  });
  PetscCall(ranks_.share_with_those_left(written, longest_wait_s()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// solution: gets infinities where the preconditioner has failed.
PetscErrorCode KspLoop::conclude(KSP ksp, const Method& method, const Plan& plan, Vec solution) const {
  PetscFunctionBegin;
  const bool begun = method.counts_begun && outcome_.iterations > 0 && outcome_.iterations < plan.tolerances.iterations;
  ksp->its = static_cast<PetscInt>(outcome_.iterations + (begun ? 1 : 0));
  ksp->rnorm = static_cast<PetscReal>(outcome_.norm);
  if (ksp->reason == KSP_CONVERGED_ITERATING || !leaves_the_test_a_say(outcome_.reason))
    ksp->reason = reason_of(outcome_.reason, plan.limit_converges);
  if (outcome_.reason != KrylovReason::not_a_number) PetscFunctionReturn(PETSC_SUCCESS);
  PCFailedReason failed = PC_NOERROR;
  PetscCall(PCGetFailedReason(ksp->pc, &failed));
  if (failed == PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscCall(poison(solution, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error on one rank cannot be returned where others may wait for what this solve is a part of. The ranks of a loop
/// on several all meet it.
PetscErrorCode KspLoop::lose(KSP ksp, PetscErrorCode error, Vec solution) {
  PetscFunctionBegin;
  krylov_.reset();
  if (ranks_.count() > 1 || !others_may_wait()) PetscCall(error);
  PetscCall(report_swallowed_error("a solve has met an error"));
  PetscCall(PCSetFailedReason(ksp->pc, PC_SUBPC_ERROR));
  PetscCall(poison(solution, PC_SUBPC_ERROR));
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run(KSP ksp, const Method& method, const Plan& plan, bool traced) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().krylov, reinterpret_cast<PetscObject>(ksp)));
  outcome_ = {};
  trace_ = {};
  told_ = 0;
  ksp->its = 0;
  ksp->reason = KSP_CONVERGED_ITERATING;
  told_replays_ = 0;
  PetscErrorCode ran = plan.by_iterations ? run_by_iterations(ksp, plan) : run_whole(ksp, plan);
  if (traced && static_cast<int>(ran) == 0) ran = write_trace(plan);
  if (form_ == PcForm::map) replays_ = outcome_.iterations * applications_ - told_replays_;
  if (static_cast<int>(ran) == 0)
    PetscCall(conclude(ksp, method, plan, ksp->vec_sol));
  else
    PetscCall(lose(ksp, ran, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whatever is to be there before a solve.
PetscErrorCode KspLoop::be_ready(KSP ksp, const Plan& plan, Vec like, Next* next, Reason* why_not) {
  PetscFunctionBegin;
  PetscCall(ranks_.take(PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
  if (!ranks_.on_one_node()) why_not->set("its ranks are not all on one node");
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(decide(ksp, prepare(ksp, plan, like, next, why_not), plan, next, why_not));
  if (!why_not->given()) PetscCall(make(ksp, plan, *next, why_not));
  if (!why_not->given()) PetscCall(set_null_space(ksp, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::solve(KSP ksp, const Method& method, const Plan& plan, Reason* why_not) {
  PetscFunctionBegin;
  Next next(own_.source, outer_.source);
  PetscCall(be_ready(ksp, plan, ksp->vec_sol, &next, why_not));
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(run(ksp, method, plan, next.traced));
  PetscCall(next.own.close());
  PetscCall(next.outer.close());
  PetscCall(log_operations(ksp, method, outcome_.iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::run_columns(const Plan& plan, bool guess, Mat b, Mat x, PetscInt first,
                                    std::vector<KrylovOutcome>* outcomes) {
  PetscFunctionBegin;
  PetscCall(with_arrays(b, x, first, [&](const Arrays& arrays, Stream stream) {
    *outcomes = krylov_->solve_columns(static_cast<Index>(arrays.columns), arrays.b, arrays.ldb, arrays.x, arrays.ldx,
                                       guess, plan.tolerances, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPSolve() for one after the other does. Where those that do not converge are errors, the KSP is left as the
/// first of these leaves it.
PetscErrorCode KspLoop::tell_of_columns(KSP ksp, const Method& method, const Plan& plan, Mat x, PetscInt first,
                                        std::vector<KrylovOutcome>* outcomes) {
  PetscFunctionBegin;
  for (std::size_t k = 0; k < outcomes->size(); ++k) {
    Vec solution = nullptr;
    outcome_ = std::move((*outcomes)[k]);
    told_ = 0;
    ksp->its = 0;
    ksp->reason = KSP_CONVERGED_ITERATING;
    if (ksp->res_hist_reset) ksp->res_hist_len = 0;
    PetscCall(tell(ksp, plan));
    PetscCall(MatDenseGetColumnVec(x, first + static_cast<PetscInt>(k), &solution));
    PetscCall(conclude(ksp, method, plan, solution));
    PetscCall(MatDenseRestoreColumnVec(x, first + static_cast<PetscInt>(k), &solution));
    ksp->totalits += ksp->its;
    if (ksp->errorifnotconverged && ksp->reason < 0) break;
    if (k + 1 < outcomes->size()) PetscCall(KSPConvergedReasonViewFromOptions(ksp));  // PETSc does so after the last
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::solve_columns(KSP ksp, const Method& method, const Plan& plan, Mat b, Mat x, PetscInt first,
                                      Reason* why_not) {
  PetscFunctionBegin;
  Next next(own_.source, outer_.source);
  Vec like = nullptr;
  PetscCall(MatDenseGetColumnVecRead(b, first, &like));
  const PetscErrorCode ready = be_ready(ksp, plan, like, &next, why_not);
  PetscCall(MatDenseRestoreColumnVecRead(b, first, &like));
  PetscCall(ready);
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().krylov, reinterpret_cast<PetscObject>(ksp)));
  std::vector<KrylovOutcome> outcomes;
  const PetscErrorCode ran = run_columns(plan, ksp->guess_zero == PETSC_FALSE, b, x, first, &outcomes);
  std::int64_t iterations = 0;
  replays_ = 0;
  for (const KrylovOutcome& one : outcomes) {
    iterations += one.iterations;
    if (form_ == PcForm::map) replays_ = std::max(replays_, one.iterations * applications_);
  }
  if (static_cast<int>(ran) == 0) PetscCall(tell_of_columns(ksp, method, plan, x, first, &outcomes));
  PetscInt columns = 0;
  PetscCall(MatGetSize(x, nullptr, &columns));
  for (PetscInt k = first; k < columns && static_cast<int>(ran) != 0; ++k) {
    Vec solution = nullptr;
    PetscCall(MatDenseGetColumnVec(x, k, &solution));
    const PetscErrorCode lost = lose(ksp, ran, solution);
    PetscCall(MatDenseRestoreColumnVec(x, k, &solution));
    PetscCall(lost);
  }
  PetscCall(next.own.close());
  PetscCall(log_operations(ksp, method, iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::log_operations(KSP ksp, const Method& method, std::int64_t iterations) const {
  PetscFunctionBegin;
  Mat whole = nullptr;
  MatInfo sizes;  // the arrays may be in device memory
  PetscCall(PCGetOperators(ksp->pc, &whole, nullptr));
  PetscCall(MatGetInfo(whole, MAT_LOCAL, &sizes));
  constexpr double flops_of_complex = complex_scalars ? 4.0 : 1.0;
  const double of_vectors = method.flops_of_row * static_cast<double>(rows());
  const double flops = flops_of_complex * (2.0 * sizes.nz_used + of_vectors) + use_.flops;
  PetscCall(log_flops(on_cuda(), flops * static_cast<double>(iterations)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::view(KSP ksp, PetscViewer viewer) const {
  PetscFunctionBegin;
  if (!krylov_) PetscFunctionReturn(PETSC_SUCCESS);
  KrylovInfo info;
  PetscCall(guarded(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), [&] { info = krylov_->info(); }));
  const char* const preconditioner = form_ == PcForm::none       ? "none"
                                     : form_ == PcForm::diagonal ? "a diagonal, multiplied by inside"
                                                                 : "applied inside";
  std::array<char, 48> ranks{};
  if (ranks_.count() > 1) std::snprintf(ranks.data(), ranks.size(), " on %d ranks", ranks_.count());
  if (options_.columns > 1) std::snprintf(ranks.data(), ranks.size(), " for %d right-hand sides", options_.columns);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  loop: by TaskDAG%s, %s (%s); preconditioner: %s\n", ranks.data(),
                                   to_string(info.form), info.why.c_str(), preconditioner));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  loop%s: stages of an iteration beside the preconditioner: %d, MB that it moves: "
                                   "%g; work vectors: %d, MB: %g\n",
                                   ranks_.count() > 1 ? " on the first rank" : "", info.stages,
                                   info.bytes_of_iteration / 1.0e6, static_cast<int>(info.vectors),
                                   static_cast<double>(info.bytes) / 1.0e6));
  if (info.rows_together > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  loop: rows that have the same columns are taken %d at a time\n",
                                     info.rows_together));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspLoop::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    krylov_.reset();
    map_.reset();
    place_.reset();
    outcome_ = {};
    vectors_ = {};
  }));
  use_ = {};
  refused_ = {};
  PetscCall(pc_.reset());
  PetscCall(diagonal_.reset());
  PetscCall(blocks_.reset());
  PetscCall(own_.reset());
  PetscCall(outer_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
