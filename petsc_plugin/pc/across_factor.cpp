// ILU(0), ICC(0), DILU and DIC of the whole matrix on several ranks.
#include <array>
#include <cmath>
#include <limits>

#include "boundary.hpp"
#include "mat/indices.hpp"
#include "mat/matrix_source.hpp"
#include "mat/off_diagonal.hpp"
#include "options.hpp"
#include "pc/across.hpp"
#include "pc/factor_type.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {
namespace {

class FactorAcross final : public AcrossRanks {
 public:
  explicit FactorAcross(const Settings& settings) : AcrossRanks(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  using AcrossRanks::apply;
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  [[nodiscard]] FactorKind kind() const { return kind_of(settings_); }
  [[nodiscard]] bool diagonal_only() const {
    return settings_.type == PC_TASKDAG_DILU || settings_.type == PC_TASKDAG_DIC;
  }
  [[nodiscard]] const RankRows& pattern() const override { return factor_->pattern(); }
  void make_more() override;
  PetscErrorCode load_sweeps() override;
  PetscErrorCode take_on_device(Mat block);
  PetscErrorCode begin();
  PetscErrorCode eliminate();
  PetscErrorCode eliminate_by_messages();
  PetscErrorCode run_attempts();
  void fetch_factor();
  PetscErrorCode find_outcome(FactorStatus* status, PetscInt* row) const;
  PetscErrorCode report(const FactorStatus& status, PetscInt row, bool error_if_failure);
  PetscErrorCode solve(Apply part);
  PetscErrorCode solve_transposed();
  PetscErrorCode sweep(Triangle side);
  void scale(bool by_inverse);

  std::optional<RankFactor> factor_;
  FactorStatus status_;                         ///< of this rank in the last numeric phase
  std::optional<RankElimination> elimination_;  ///< where sweeps are on the GPU: there is the numeric phase, too
  MatrixSource source_;                         ///< for it
  bool fetched_ = false;                        ///< whether factor_ has the numbers that it has made
};

PetscErrorCode FactorAcross::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(take_pattern(matrix, GhostRows::all));
  PetscCall(guarded(whole_.comm(), [&] {
    const FactorOptions options = options_of_factor(settings_.factor, kind(), diagonal_only(), settings_.sweeps);
    factor_.emplace(backend_->context, part_->take_rows(), options);
  }));
  PetscCall(make_sweeps());
  entries_copied_ = entries_copied_ && !elimination_;
  if (elimination_) PetscCall(share_error(whole_.comm(), source_.inspect(matrix, false)));
  PetscCall(update(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  FactorStatus status;
  PetscInt row = -1;
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(whole_.get())));
  loaded_ = false;
  fetched_ = false;
  if (elimination_)
    PetscCall(share_error(whole_.comm(), take_on_device(matrix)));
  else
    PetscCall(take_values());
  PetscCall(begin());
  PetscCall(run_attempts());
  PetscCall(log_flops(elimination_.has_value(), static_cast<PetscLogDouble>(part_->rows())));
  PetscCall(find_outcome(&status, &row));
  PetscCall(report(status, row, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What attempts have in common over all ranks.
PetscErrorCode FactorAcross::begin() {
  PetscFunctionBegin;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::array<double, 2> most = {0.0, kNone};  // dominance, the first diagonal entry
  PetscCall(guarded(whole_.comm(), [&] {
    const Index first = part_->place_of_first();
    const Offset diagonal = first < 0 ? -1 : pattern().diagonals[at(first)];
    const bool looks = !elimination_ || factor_->options().shift == ShiftType::positive_definite;
    std::vector<double> taken;
    if (elimination_ && looks) {
      taken.resize(at(pattern().own_entries()));
      elimination_->copy_taken(0, taken);
    }
    if (looks) most[0] = factor_->dominance(elimination_ ? taken.data() : part_->values());
    if (diagonal < 0) return;
    if (elimination_)
      elimination_->copy_taken(diagonal, {&most[1], 1});
    else
      most[1] = part_->values()[diagonal];
  }));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_DOUBLE, MPI_MAX, whole_.comm()));
  factor_->set_pivoting(settings_.factor.shift_amount, settings_.factor.zero_pivot);
  factor_->begin(elimination_ ? nullptr : part_->values(), most[0], most[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the GPU. Who has lost another rank does not wait for it again.
PetscErrorCode FactorAcross::eliminate() {
  PetscFunctionBegin;
  Stream stream;
  bool lost = false;
  constexpr double a_moment_s = 1.0;
  const double longest_s = 2.0 * EliminationInput{}.patience_s;
  PetscCall(current_stream(&stream));
  const PetscErrorCode ran = guarded([&] {
    try {
      status_ = elimination_->run(*factor_, stream);
    } catch (const RankLost&) {
      lost = true;
      throw;
    } catch (...) {
      elimination_->lose();
      throw;
    }
  });
  PetscCall(ranks_.share_with_those_left(ran, lost ? a_moment_s : longest_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By messages, on host threads.
PetscErrorCode FactorAcross::eliminate_by_messages() {
  PetscFunctionBegin;
  double* const values = factor_->values();
  double* const of_ghosts = values + pattern().own_entries();
  factor_->load();
  PetscCall(part_->sweep(Triangle::lower, part_->entries(), values, of_ghosts, false,
                         [&](Index first, Index last) { factor_->factor(first, last); }));
  status_ = factor_->status();
  status_.shifts -= factor_->shifts();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::run_attempts() {
  PetscFunctionBegin;
  std::array<int, 2> met{};  // a zero pivot, a matrix that is not definite; on any rank
  do {
    if (elimination_)
      PetscCall(eliminate());
    else
      PetscCall(eliminate_by_messages());
    met = {status_.last_row >= 0 ? 1 : 0, status_.outcome == FactorOutcome::not_definite ? 1 : 0};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, met.data(), 2, MPI_INT, MPI_MAX, whole_.comm()));
  } while (met[1] == 0 && factor_->again(met[0] == 1));
  status_.shift_amount = factor_->shift_amount();
  status_.shifts += factor_->shifts();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To host memory, for what is done there.
void FactorAcross::fetch_factor() {
  if (!elimination_ || fetched_) return;
  elimination_->copy_values({factor_->values(), at(pattern().own_entries())});
  fetched_ = true;
}

/// The outcome on all ranks is that of the first row in the order by colours: others come of it. `row`: by its number
/// in the matrix.
PetscErrorCode FactorAcross::find_outcome(FactorStatus* status, PetscInt* row) const {
  PetscFunctionBegin;
  constexpr int kNone = std::numeric_limits<int>::max();
  constexpr int kOutcomes = 4;
  *status = status_;
  // A matrix that is not definite comes before all, in one colour zero pivots before what is not finite.
  const int colour = status->ok() || status->outcome == FactorOutcome::not_definite
                         ? -1
                         : static_cast<int>(part_->colour_of(status->first_row));
  const int mine = status->ok() ? kNone : kOutcomes * (colour + 1) + static_cast<int>(status->outcome);
  int first = mine;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, whole_.comm()));
  *row = mine == first && mine != kNone ? part_->global(status->first_row) : std::numeric_limits<PetscInt>::max();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, row, 1, MPIU_INT, MPI_MIN, whole_.comm()));
  status->outcome = first == kNone ? FactorOutcome::success : static_cast<FactorOutcome>(first % kOutcomes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::report(const FactorStatus& status, PetscInt row, bool error_if_failure) {
  PetscFunctionBegin;
  error_ = MAT_FACTOR_NOERROR;
  if (status.ok()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool numbers = status.outcome == FactorOutcome::non_finite;
  const char* const what = numbers                                         ? "a value that is not finite"
                           : status.outcome == FactorOutcome::not_definite ? "a diagonal of no definite matrix"
                                                                           : "a zero pivot";
  error_ = numbers ? MAT_FACTOR_OTHER : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  PetscCheck(!error_if_failure, PETSC_COMM_SELF, numbers ? PETSC_ERR_FP : PETSC_ERR_MAT_LU_ZRPVT,
             "The factor across ranks meets %s first in row %" PetscInt_FMT " of the matrix, tolerance %g", what, row,
             settings_.factor.zero_pivot);
  PetscCall(PetscInfo(whole_.get(), "The factor across ranks meets %s first in row %" PetscInt_FMT "\n", what, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::sweep(Triangle side) {
  PetscFunctionBegin;
  double* const x = work_.data();
  PetscCall(part_->sweep(side, part_->elements(), x, ghosts_of(x), false, [&](Index first, Index last) {
    side == Triangle::lower ? factor_->solve_lower(first, last, x) : factor_->solve_upper(first, last, x);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By D^½, or by its inverse.
void FactorAcross::scale(bool by_inverse) {
  const RankRows& rows = factor_->pattern();
  for (Index i = 0; i < rows.rows; ++i) {
    const double root = std::sqrt(factor_->values()[rows.diagonals[static_cast<std::size_t>(i)]]);
    work_[static_cast<std::size_t>(i)] *= by_inverse ? root : 1.0 / root;
  }
}

/// Uᵀ is lower, Lᵀ upper: what rows add to others goes to their ranks before the colour of these.
PetscErrorCode FactorAcross::solve_transposed() {
  PetscFunctionBegin;
  double* const x = work_.data();
  const Index colours = part_->colours();
  std::fill(work_.begin() + part_->rows(), work_.end(), 0.0);
  for (Index c = 0; c < colours; ++c) {
    const ColourRange rows = part_->range(c);
    if (c > 0) PetscCall(part_->elements().add(c, ghosts_of(x), x));
    factor_->solve_upper_transposed(rows.first, rows.last, x);
  }
  std::fill(work_.begin() + part_->rows(), work_.end(), 0.0);
  for (Index c = colours - 1; c >= 0; --c) {
    const ColourRange rows = part_->range(c);
    if (c + 1 < colours) PetscCall(part_->elements().add(c, ghosts_of(x), x));
    factor_->solve_lower_transposed(rows.first, rows.last, x);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ICC and DIC: A ≈ Uᵀ D U, with D U for the upper triangle.
PetscErrorCode FactorAcross::solve(Apply part) {
  PetscFunctionBegin;
  if (part == Apply::transposed && kind() == FactorKind::ilu) {
    PetscCall(solve_transposed());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (part != Apply::symmetric_right) PetscCall(sweep(Triangle::lower));
  if (part == Apply::symmetric_left) scale(true);
  if (part == Apply::symmetric_right) scale(false);
  if (part != Apply::symmetric_left) PetscCall(sweep(Triangle::upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The numbers of the factor are there.
PetscErrorCode FactorAcross::load_sweeps() {
  PetscFunctionBegin;
  Stream stream;
  PetscCall(current_stream(&stream));
  PetscCall(guarded(whole_.comm(), [&] { sweeps_->load(elimination_->values(), MemorySpace::device, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void FactorAcross::make_more() {
  std::vector<Offset> own;
  std::vector<Offset> outer;
  part_->list_places(pattern(), own, outer);
  elimination_.emplace(place_->context, *factor_, part_->order().colours, ranks_,
                       EliminationInput{own, outer, part_->ghost_entries()});
}

/// Values that lie where the elimination reads them: as lent, or a copy.
PetscErrorCode FactorAcross::take_on_device(Mat block) {
  PetscFunctionBegin;
  Mat outside = nullptr;
  const PetscScalar* outer = nullptr;
  std::size_t outer_count = 0;
  Stream stream;
  PetscCall(current_stream(&stream));
  PetscCall(outside_part(whole_, &outside, nullptr));
  PetscCall(source_.open(block, true));
  if (outside) {
    MatInfo info;
    PetscCall(MatGetInfo(outside, MAT_LOCAL, &info));
    outer_count = static_cast<std::size_t>(info.nz_used);
    PetscCall(MatSeqAIJGetArrayRead(outside, &outer));
  }
  const PetscErrorCode taken = guarded([&] {
    const Reals outer_values(std::span<const PetscScalar>(outer, outer_count));
    const engine::Array<double> of_others(place_->context, outer_values.get());
    const double* values = source_.view().values;
    engine::Array<double> copy;
    if (source_.space() == MemorySpace::host) {
      copy =
          engine::Array<double>(place_->context, std::span<const double>(values, at(source_.view().pattern.entries())));
      values = copy.data();
    }
    elimination_->take(values, of_others.data(), stream);
  });
  if (outside) PetscCall(MatSeqAIJRestoreArrayRead(outside, &outer));
  PetscCall(source_.close());
  PetscCall(taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  bool by_sweeps = false;
  PetscCheck(factor_, PetscObjectComm(reinterpret_cast<PetscObject>(b)), PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no factor to apply: the last set-up has failed");
  if (part == Apply::full) PetscCall(choose_sweeps(b, x, &by_sweeps));
  if (by_sweeps) {
    PetscCall(apply_by_sweeps(b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(guarded(whole_.comm(), [&] { fetch_factor(); }));
  PetscCall(with_host_arrays(b, x, flops(), [&](const double* from, double* to) -> PetscErrorCode {
    PetscFunctionBegin;
    part_->sort(from, work_.data());
    PetscCall(solve(part));
    part_->sort_back(work_.data(), to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  const Offset entries = factor_ ? factor_->pattern().own_entries() : 0;
  PetscCall(view_part(viewer, static_cast<std::size_t>(entries)));
  PetscCall(view_shift(viewer.viewer, settings_.factor, kind()));
  if (!factor_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(view_sweeps(viewer.viewer, "factored and applied"));
  if (takes_scaled_shift(settings_.factor, kind())) {
    if (status_.shift_amount > 0.0)
      PetscCall(view_scaled_shift(viewer.viewer, status_.shift_amount, status_.shifts + 1));
  } else if (status_.shifts > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  shifted %d times, by %g in the end\n", status_.shifts,
                                     status_.shift_amount));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { elimination_.reset(); }));
  PetscCall(source_.reset());
  PetscCall(forget());
  factor_.reset();
  status_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_factor_across(const Settings& settings) {
  return std::make_unique<FactorAcross>(settings);
}

}  // namespace taskdag::petsc
