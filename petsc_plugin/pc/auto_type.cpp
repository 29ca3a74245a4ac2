// -pc_taskdag_type auto: a factorisation or Jacobi, whichever is expected to be faster, and later what was; multigrid
// where many solves come with one matrix.
#include <petsctime.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "across/ranks.hpp"
#include "boundary.hpp"
#include "mat/bridge.hpp"
#include "mat/held.hpp"
#include "mat/local_block.hpp"
#include "mat/state.hpp"
#include "options.hpp"
#include "pc/auto_choice.hpp"
#include "pc/jacobi_type.hpp"
#include "pc/solve_again.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/calibration.hpp"
#include "taskdag/dominance.hpp"
#include "taskdag/error.hpp"

namespace taskdag::petsc {
namespace {

std::string milliseconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g ms", seconds * 1e3);
  return text.data();
}

/// Lends this rank's matrix for looks at it. reset() ends them.
class Look : private Bridge {
 public:
  DiagonalDominance counts;  ///< of this rank's rows
  bool deep = false;         ///< MatrixLook::deep, looked at on CUDA alone
  bool settles = true;       ///< MatrixLook::settles
  bool cuda = false;
  double entries = 0.0;                   ///< of this rank
  bool on_device = false;                 ///< its arrays are there
  DeviceRates rates{0.0, 0.0, 0.0, 0.0};  ///< of its GPU; without one those of other ranks count

  PetscErrorCode open(Mat matrix, const BackendSettings& settings) {
    PetscFunctionBegin;
    PetscCall(prepare(matrix, false, settings));
    cuda = on_cuda();
    on_device = source_.on_device();
    if (cuda) PetscCall(guarded([&] { rates = calibration(backend_->context).rates; }));
    if (cuda && rows() <= kSmallRows) PetscCall(look_by_the_calling_thread());
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    entries = info.nz_used;
    counts.rows = static_cast<Index>(rows());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode symmetric(Mat matrix, bool* symmetric) {
    PetscFunctionBegin;
    *symmetric = true;
    if (rows() > 0)
      PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
        *symmetric = is_symmetric(backend_->context, view, space, stream);
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take(Mat matrix, bool symmetric) {
    PetscFunctionBegin;
    const auto limit = static_cast<Index>(deep_limit(symmetric, static_cast<double>(rows()), entries));
    if (rows() > 0)
      PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
        counts = diagonal_dominance(backend_->context, view, space, {.poor = kPoor}, stream);
        if (!symmetric && counts.absent == 0 && counts.zero == 0 && too_many_poor(counts.poor, counts.rows))
          settles = cuda && sweeps_settle(view, space, stream);
        if (cuda && limit > 0 && rows() > kSmallRows)
          deep = dependency_levels(backend_->context, view.pattern, space, Triangle::lower, stream, limit) >= limit;
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode reset() { return source_.reset(); }

 private:
  /// Few rows are soon looked at, and their first factor is made there, too; each kernel would have to be loaded first.
  PetscErrorCode look_by_the_calling_thread() {
    BackendSettings settings;
    settings.wanted = Backend::host;
    settings.threads = 1;
    return choose_backend(settings, {rows(), source_.on_device()}, &backend_);
  }
  /// Not known where there is no room for two vectors: then a rank must not leave the others alone with a sum.
  [[nodiscard]] bool sweeps_settle(const CsrView& view, MemorySpace space, Stream stream) const {
    try {
      return jacobi_settles(backend_->context, view, space, stream);
    } catch (const OutOfMemory&) {
      return false;
    }
  }
};

class AutoPreconditioner final : public Preconditioner {
 public:
  explicit AutoPreconditioner(const Settings& settings) : settings_(settings), history_(settings.sweeps.tune) {}

  PetscErrorCode attach(Mat whole) override {
    PetscFunctionBegin;
    PetscCall(whole_.share(whole));
    if (made_) PetscCall(made_->attach(whole));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void expect_loop(bool expected) override { in_loop_ = expected; }
  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  // All ranks take part where a failure is shared, and all have the same candidate.
  [[nodiscard]] std::optional<MatFactorError> failure() const override {
    return made_ ? made_->failure() : std::nullopt;
  }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override { return made_->apply(part, b, x); }
  PetscErrorCode apply(Apply part, Mat b, Mat x) override { return made_->apply(part, b, x); }
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override {
    PetscFunctionBegin;
    if (made_) PetscCall(made_->prepare_for_arrays(replays, use));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void apply_to_arrays(const double* b, double* x, Stream stream) override { made_->apply_to_arrays(b, x, stream); }
  [[nodiscard]] LinearMap* map_over_ranks() override { return made_ ? made_->map_over_ranks() : nullptr; }
  void apply_to_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                        Stream stream) override {
    made_->apply_to_columns(count, b, ldb, x, ldx, stream);
  }
  bool take_lost_application() override { return made_->take_lost_application(); }
  PetscErrorCode before_solve(PC pc, KSP ksp) override;
  PetscErrorCode after_solve(KSP ksp) override;
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode find_symmetry(Mat matrix, Look* mine, bool* symmetric);
  PetscErrorCode sum_up(const Look& mine, MatrixLook* look) const;
  PetscErrorCode look_at(Mat matrix, MatrixLook* look);
  PetscErrorCode choose(Mat matrix);
  PetscErrorCode settle_factor_type(Mat matrix);
  PetscErrorCode make_here(Candidate candidate, Mat matrix, bool error_if_failure, double* seconds, PC pc = nullptr);
  PetscErrorCode make(Candidate candidate, Mat matrix, bool error_if_failure, bool* failed);
  PetscErrorCode become_multigrid(PC pc);
  PetscErrorCode update_here(Mat matrix, bool error_if_failure);
  PetscErrorCode make_one(Mat matrix, bool error_if_failure);
  PetscErrorCode become(Candidate next);
  PetscErrorCode drop_made();
  PetscErrorCode agree_on_failure(bool* failed) const;
  PetscErrorCode note_solve(KSP ksp, KSPConvergedReason* reason);
  PetscErrorCode retry(KSP ksp, KSPConvergedReason reason);
  void copy_settings(Candidate candidate);
  [[nodiscard]] MPI_Comm comm() const { return whole_.comm(); }
  [[nodiscard]] const char* name_of(Candidate candidate) const { return find_type(type_of(candidate))->name; }
  [[nodiscard]] PCTaskDAGType type_of(Candidate candidate) const {
    if (candidate == Candidate::multigrid) return PC_TASKDAG_MG;
    return candidate == Candidate::jacobi ? PC_TASKDAG_JACOBI : factor_type_;
  }
  [[nodiscard]] double set_up_of_factor() const { return set_up_ > 0.0 ? set_up_ : expected_; }

  const Settings& settings_;
  Settings own_;  ///< the same with the type of what is in use; outlives it
  bool in_loop_ = false;
  Held<Mat> whole_;
  MatState set_up_with_;  ///< of whole_
  std::optional<FirstChoice> choice_;
  PCTaskDAGType factor_type_ = PC_TASKDAG_ILU;
  MatState typed_;  ///< the matrix that factor_type_ is for
  SolveHistory history_;
  std::unique_ptr<Preconditioner> made_;
  PetscInt rows_ = -1;             ///< of the whole matrix that was chosen for
  bool made_for_later_ = false;    ///< what is in use: solves are known to follow, so it need not be set up soon
  double expected_ = 0.0;          ///< seconds to set up the factor; on CUDA
  double set_up_ = 0.0;            ///< what it took; 0: it was not set up
  double multigrid_set_up_ = 0.0;  ///< what that of multigrid took; 0: it was not set up
  double pending_ = 0.0;           ///< seconds spent on new values since the last solve
  PetscLogDouble begin_ = -1.0;    ///< of the solve under way; below 0: none that counts
  Held<Vec> guess_;                ///< what that solve begins with; null: with zero
};

/// Hardly any application says that its matrix is symmetric. Couplings between ranks are not looked at: no factor has
/// them. Collective.
PetscErrorCode AutoPreconditioner::find_symmetry(Mat matrix, Look* mine, bool* symmetric) {
  PetscFunctionBegin;
  PetscBool known = PETSC_FALSE;
  PetscBool theirs = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(whole_, &known, &theirs));
  if (known) {
    *symmetric = theirs == PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(share_error(comm(), mine->symmetric(matrix, symmetric)));
  int all = *symmetric ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm()));
  *symmetric = all == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::look_at(Mat matrix, MatrixLook* look) {
  PetscFunctionBegin;
  Look mine;
  PetscCall(share_error(comm(), mine.open(matrix, settings_.backend)));
  PetscCall(find_symmetry(matrix, &mine, &look->symmetric));
  PetscCall(share_error(comm(), mine.take(matrix, look->symmetric)));
  CommRanks ranks;
  PetscCall(ranks.take(comm()));
  PetscCall(mine.reset());
  PetscCall(sum_up(mine, look));
  look->in_loop = in_loop_ && ranks.count() == 1 && look->on_device;
  look->in_any_loop = in_loop_ && ranks.on_one_node();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values may have ended, or brought, what a factor by ICC needs.
PetscErrorCode AutoPreconditioner::settle_factor_type(Mat matrix) {
  PetscFunctionBegin;
  MatState now;
  PetscCall(read_state(whole_, &now));
  if (now == typed_) PetscFunctionReturn(PETSC_SUCCESS);
  bool symmetric = false;
  Look mine;
  PetscCall(share_error(comm(), mine.open(matrix, settings_.backend)));
  PetscCall(find_symmetry(matrix, &mine, &symmetric));
  PetscCall(mine.reset());
  factor_type_ = symmetric ? PC_TASKDAG_ICC : PC_TASKDAG_ILU;
  typed_ = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::sum_up(const Look& mine, MatrixLook* look) const {
  PetscFunctionBegin;
  const DiagonalDominance& counts = mine.counts;
  std::array<double, 6> sums = {static_cast<double>(counts.rows),   static_cast<double>(counts.absent),
                                static_cast<double>(counts.zero),   static_cast<double>(counts.negative),
                                static_cast<double>(counts.strict), static_cast<double>(counts.poor)};
  const bool rows = counts.rows > 0;
  std::array<double, 10> most = {static_cast<double>(counts.rows),
                                 rows && !mine.cuda ? 1.0 : 0.0,
                                 mine.deep ? 1.0 : 0.0,
                                 mine.settles ? 0.0 : 1.0,
                                 mine.entries,
                                 rows && !(mine.cuda && mine.on_device) ? 1.0 : 0.0,
                                 mine.rates.launch,
                                 mine.rates.hop,
                                 mine.rates.step,
                                 mine.rates.byte};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm()));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE, MPI_MAX, comm()));
  look->rows = sums[0];
  look->absent = sums[1];
  look->zero = sums[2];
  look->negative = sums[3];
  look->strict = sums[4];
  look->poor = sums[5];
  look->local_rows = most[0];
  look->cuda = most[1] == 0.0;
  look->deep = most[2] > 0.0;
  look->settles = most[3] == 0.0;
  look->local_entries = most[4];
  look->on_device = most[5] == 0.0;
  look->rates = {most[6], most[7], most[8], most[9]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::choose(Mat matrix) {
  PetscFunctionBegin;
  MatrixLook look;
  PetscCall(look_at(matrix, &look));
  FirstChoice first;
  PetscCall(share_error(comm(), guarded([&] { first = first_choice(look); })));
  choice_ = std::move(first);
  factor_type_ = look.symmetric ? PC_TASKDAG_ICC : PC_TASKDAG_ILU;
  PetscCall(read_state(whole_, &typed_));
  expected_ = look.cuda ? expected_set_up(look.local_rows, look.local_entries, look.rates) : 0.0;
  history_ = SolveHistory(settings_.sweeps.tune);
  history_.start(*choice_, look.in_loop ? jacobi_iteration_in_loop(look) : 0.0, promise_of_multigrid(look));
  PetscCall(PetscInfo(whole_.get(), "TaskDAG takes %s: %s\n", name_of(history_.current()), choice_->reason.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void AutoPreconditioner::copy_settings(Candidate candidate) {
  own_ = settings_;
  own_.type = type_of(candidate);
  if (candidate == Candidate::jacobi) own_.factor.precision = Precision::in_double;
  if (made_for_later_ && own_.sweeps.one_block_rows == one_block_decided) own_.sweeps.one_block_rows = 0;
}

/// A failure on one rank is one of all.
PetscErrorCode AutoPreconditioner::agree_on_failure(bool* failed) const {
  PetscFunctionBegin;
  const std::optional<MatFactorError> mine = made_->failure();
  int any = mine && *mine != MAT_FACTOR_NOERROR ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm()));
  *failed = any != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::drop_made() {
  PetscFunctionBegin;
  if (made_) PetscCall(made_->reset());
  PetscCall(guarded([&] { made_.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On this rank, with the factor type settled. pc: for a type that has another PC inside, which all ranks set up
/// together.
PetscErrorCode AutoPreconditioner::make_here(Candidate candidate, Mat matrix, bool error_if_failure, double* seconds,
                                             PC pc) {
  PetscFunctionBegin;
  PetscLogDouble begin = 0.0;
  PetscLogDouble end = 0.0;
  made_for_later_ = !history_.is_empty();
  PetscCall(guarded(comm(), [&] {
    copy_settings(candidate);
    made_ = find_type(own_.type)->make(own_);
  }));
  PetscCall(PetscTime(&begin));
  if (pc) PetscCall(made_->belong_to(pc));
  PetscCall(made_->attach(whole_));
  PetscCall(made_->analyse(matrix, error_if_failure));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What there was before is dropped first: there may be no room for both.
PetscErrorCode AutoPreconditioner::make(Candidate candidate, Mat matrix, bool error_if_failure, bool* failed) {
  PetscFunctionBegin;
  double seconds = 0.0;
  PetscCall(share_error(comm(), drop_made()));
  if (candidate == Candidate::factor) PetscCall(settle_factor_type(matrix));
  PetscCall(share_error(comm(), make_here(candidate, matrix, error_if_failure, &seconds)));
  // All ranks are to decide alike.
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm()));
  if (candidate == Candidate::factor) set_up_ = seconds;
  PetscCall(agree_on_failure(failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the history takes, or the other one where that cannot be set up.
PetscErrorCode AutoPreconditioner::make_one(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  const Candidate first = history_.current();
  const bool last = !history_.has_rival();
  bool failed = false;
  PetscCall(make(first, matrix, error_if_failure && last, &failed));
  if (!failed || last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscInfo(whole_.get(), "TaskDAG takes %s: %s cannot be set up\n", name_of(history_.rival()), name_of(first)));
  history_.note_failed_set_up(first);
  PetscCall(make(history_.current(), matrix, error_if_failure, &failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(read_state(whole_, &set_up_with_));
  pending_ = 0.0;
  PetscInt rows = 0;
  PetscCall(MatGetSize(whole_, &rows, nullptr));
  if (!choice_ || rows != rows_) PetscCall(choose(matrix));
  rows_ = rows;
  history_.note_new_values();
  PetscCall(make_one(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::update_here(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscLogDouble begin = 0.0;
  PetscLogDouble end = 0.0;
  PetscCall(guarded(comm(), [&] { copy_settings(history_.current()); }));
  PetscCall(PetscTime(&begin));
  PetscCall(made_->update(matrix, error_if_failure));
  PetscCall(PetscTime(&end));
  pending_ += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  const bool last = !history_.has_rival();
  const PCTaskDAGType type_before = factor_type_;
  const MatState before = set_up_with_;
  PetscCall(read_state(whole_, &set_up_with_));
  const bool was_multigrid = history_.current() == Candidate::multigrid;
  if (set_up_with_ != before) history_.note_new_values();
  if (history_.current() == Candidate::factor) PetscCall(settle_factor_type(matrix));
  const bool leaves_multigrid = was_multigrid && history_.current() != Candidate::multigrid;
  // become() may have set up for another matrix meanwhile.
  if (leaves_multigrid || factor_type_ != type_before || !set_up_with_.has_pattern_of(before)) {
    PetscCall(make_one(matrix, error_if_failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(share_error(comm(), update_here(matrix, error_if_failure && last)));
  bool failed = false;
  PetscCall(agree_on_failure(&failed));
  if (failed && !last) PetscCall(make_one(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In a solve. PETSc may have kept the preconditioner for another matrix than that of its set-up.
PetscErrorCode AutoPreconditioner::become(Candidate next) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  history_.take(next);
  PetscCall(read_state(whole_, &set_up_with_));
  PetscCall(local_block(whole_, &matrix));
  PetscCall(make_one(matrix, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In a solve. What cannot be set up, for want of memory, say, is left for what there was.
PetscErrorCode AutoPreconditioner::become_multigrid(PC pc) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  bool failed = false;
  history_.take(Candidate::multigrid);
  PetscCall(read_state(whole_, &set_up_with_));
  PetscCall(local_block(whole_, &matrix));
  PetscCall(share_error(comm(), drop_made()));
  const PetscErrorCode made =
      share_error(comm(), make_here(Candidate::multigrid, matrix, false, &multigrid_set_up_, pc));
  if (static_cast<int>(made) == 0) {
    PetscCall(agree_on_failure(&failed));
  } else {
    PetscCall(warn_of_error("multigrid, which later solves were to have, is left"));
  }
  if (static_cast<int>(made) == 0 && !failed) PetscFunctionReturn(PETSC_SUCCESS);
  history_.note_failed_set_up(Candidate::multigrid);
  PetscCall(make_one(matrix, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Only where a method ends by a norm can its time be compared, and may the preconditioner change from solve to solve:
/// inside another preconditioner it has to stay what it was.
PetscErrorCode AutoPreconditioner::before_solve(PC pc, KSP ksp) {
  PetscFunctionBegin;
  KSPNormType norm = KSP_NORM_NONE;
  begin_ = -1.0;
  PetscCall(KSPGetNormType(ksp, &norm));
  if (!made_ || norm == KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  const Candidate next = history_.decide(set_up_of_factor());
  if (next != history_.current()) {
    PetscCall(PetscInfo(whole_.get(), "TaskDAG takes %s from now on\n", name_of(next)));
    if (next == Candidate::multigrid)
      PetscCall(become_multigrid(pc));
    else
      PetscCall(become(next));
  }
  PetscCall(guess_.reset());
  if (history_.has_rival()) PetscCall(copy_guess(ksp, guess_.out()));
  PetscCall(PetscTime(&begin_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::note_solve(KSP ksp, KSPConvergedReason* reason) {
  PetscFunctionBegin;
  PetscLogDouble end = 0.0;
  PetscInt iterations = 0;
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  double seconds = end - std::exchange(begin_, -1.0) + std::exchange(pending_, 0.0);
  // All ranks are to decide alike.
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm()));
  history_.note_solve(seconds, static_cast<long>(iterations), *reason >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where one candidate has failed the other one gets its turn in the same solve, once for good.
PetscErrorCode AutoPreconditioner::retry(KSP ksp, KSPConvergedReason reason) {
  PetscFunctionBegin;
  const Candidate failed = history_.current();
  PetscCall(PetscInfo(whole_.get(), "TaskDAG takes %s: a solve with %s has ended with %s\n", name_of(history_.rival()),
                      name_of(failed), KSPConvergedReasons[reason]));
  PetscCall(become(history_.rival()));
  PetscCall(PetscTime(&begin_));
  PetscCall(solve_again(ksp, guess_));
  PetscCall(note_solve(ksp, &reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::after_solve(KSP ksp) {
  PetscFunctionBegin;
  if (begin_ < 0.0) PetscFunctionReturn(PETSC_SUCCESS);
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscCall(note_solve(ksp, &reason));
  if (reason < 0 && history_.has_rival()) PetscCall(retry(ksp, reason));
  PetscCall(guess_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  if (!choice_) PetscFunctionReturn(PETSC_SUCCESS);
  std::string first;
  std::string seen;
  PetscCall(guarded(viewer.comm, [&] {
    first = std::string("for a first solve ") + name_of(choice_->candidate) + ": " + choice_->reason;
    seen = std::string("set-up of ") + name_of(Candidate::factor) + ":";
    if (expected_ > 0.0) seen += " expected " + milliseconds(expected_) + ",";
    seen += set_up_ > 0.0 ? " took " + milliseconds(set_up_) : std::string(" not yet");
    if (history_.multigrid().may) {
      seen += std::string("; multigrid for many solves: set-up expected ") + milliseconds(history_.multigrid().set_up) +
              (multigrid_set_up_ > 0.0 ? ", took " + milliseconds(multigrid_set_up_) : std::string(", not yet")) +
              ", a solve expected " + milliseconds(history_.multigrid().solve);
    }
    for (const Candidate candidate : {Candidate::jacobi, Candidate::factor, Candidate::multigrid}) {
      const SolveHistory::Record& record = history_.of(candidate);
      if (record.failed) seen += std::string("; ") + name_of(candidate) + " has failed";
      if (record.solves == 0) continue;
      seen += std::string("; solves with ") + name_of(candidate) + ": " + std::to_string(record.solves) +
              ", the fastest " + milliseconds(record.best) + " with " + std::to_string(record.best_iterations) +
              " iterations";
    }
  }));
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  auto: %s now\n", name_of(history_.current())));
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  auto: %s\n", first.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  auto: %s\n", seen.c_str()));
  if (made_) PetscCall(made_->view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoPreconditioner::reset() {
  PetscFunctionBegin;
  begin_ = -1.0;
  PetscCall(guess_.reset());
  PetscCall(drop_made());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_auto(const Settings& settings) {
  return std::make_unique<AutoPreconditioner>(settings);
}

PetscErrorCode check_auto(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, false));
  PetscCall(check_jacobi_sweeps(settings));
  PetscCheck(!settings.eisenstat, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_eisenstat needs a type that has halves, not auto");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
