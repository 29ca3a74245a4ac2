// ILU(0), ICC(0), DILU and DIC of the whole matrix on several ranks.
#include <array>
#include <cmath>
#include <limits>

#include "across/ranks.hpp"
#include "boundary.hpp"
#include "fresh_number.hpp"
#include "mat/arrays.hpp"
#include "options.hpp"
#include "pc/across.hpp"
#include "pc/factor_type.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

class FactorAcross final : public AcrossRanks {
 public:
  explicit FactorAcross(const Settings& settings) : AcrossRanks(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  using AcrossRanks::apply;
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override;
  void apply_to_arrays(const PetscScalar* b, PetscScalar* x, Stream stream) override { sweeps_->apply(b, x, stream); }
  [[nodiscard]] LinearMap* map_over_ranks() override { return sweeps_ ? &*sweeps_ : nullptr; }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  [[nodiscard]] FactorKind kind() const { return kind_of(settings_); }
  [[nodiscard]] bool diagonal_only() const {
    return settings_.type == PC_TASKDAG_DILU || settings_.type == PC_TASKDAG_DIC;
  }
  PetscErrorCode begin();
  PetscErrorCode run_attempts();
  PetscErrorCode find_outcome(FactorStatus* status, PetscInt* row) const;
  PetscErrorCode report(const FactorStatus& status, PetscInt row, bool error_if_failure);
  PetscErrorCode choose_place();
  PetscErrorCode make_sweeps();
  PetscErrorCode prepare_sweeps();
  /// On host threads messages are faster.
  [[nodiscard]] bool wants_sweeps() const { return on_device() && settings_.backend.wanted != Backend::host; }
  [[nodiscard]] PetscLogDouble flops() const {
    return 2.0 * static_cast<PetscLogDouble>(factor_->pattern().own_entries());
  }
  PetscErrorCode apply_on_device(Vec b, Vec x);
  PetscErrorCode solve(Apply part);
  PetscErrorCode solve_transposed();
  PetscErrorCode sweep(Triangle side);
  void scale(bool by_inverse);

  std::optional<RankFactor> factor_;
  double shift_ = 0.0;  ///< of the last numeric phase, and how often it was shifted
  int shifts_ = 0;

  // Sweeps on the GPU through the ranks' memory, which are made when they are first of use.
  CommRanks ranks_;
  std::optional<BackendChoice> place_;
  std::optional<RankSweeps> sweeps_;
  Reason refused_;       ///< why there are none
  bool asked_ = false;   ///< whether they have been tried
  bool loaded_ = false;  ///< whether they have the numbers of this factor
  std::uint64_t launches_ = 0;
};

PetscErrorCode FactorAcross::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(take_pattern(matrix, GhostRows::all));
  PetscCall(guarded(whole_.comm(), [&] {
    const FactorOptions options = options_of_factor(settings_.factor, kind(), diagonal_only(), settings_.sweeps);
    factor_.emplace(backend_->context, part_->take_rows(), options);
  }));
  if (settings_.backend.wanted == Backend::cuda) {
    if (wants_sweeps()) PetscCall(make_sweeps());
    PetscCheck(sweeps_, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-pc_taskdag_across on cannot work on the GPU as -pc_taskdag_backend cuda asks for: %s",
               refused_.given() ? refused_.text() : "the matrix is in host memory");
  }
  PetscCall(update(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::update(Mat /*matrix*/, bool error_if_failure) {
  PetscFunctionBegin;
  FactorStatus status;
  PetscInt row = -1;
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(whole_.get())));
  loaded_ = false;
  PetscCall(take_values());
  PetscCall(begin());
  PetscCall(run_attempts());
  PetscCall(log_flops(false, static_cast<PetscLogDouble>(part_->rows())));
  PetscCall(find_outcome(&status, &row));
  PetscCall(report(status, row, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What attempts have in common over all ranks.
PetscErrorCode FactorAcross::begin() {
  PetscFunctionBegin;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Index first = part_->place_of_first();
  const auto diagonal = [&] { return part_->values()[factor_->pattern().diagonals[static_cast<std::size_t>(first)]]; };
  std::array<double, 2> most = {factor_->dominance(part_->values()), first < 0 ? kNone : diagonal()};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_DOUBLE, MPI_MAX, whole_.comm()));
  factor_->set_pivoting(settings_.factor.shift_amount, settings_.factor.zero_pivot);
  factor_->begin(part_->values(), most[0], most[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::run_attempts() {
  PetscFunctionBegin;
  std::array<int, 2> met{};  // a zero pivot, a matrix that is not definite; on any rank
  double* const values = factor_->values();
  double* const of_ghosts = values + factor_->pattern().own_entries();
  do {
    factor_->load();
    PetscCall(part_->sweep(Triangle::lower, part_->entries(), values, of_ghosts, false,
                           [&](Index first, Index last) { factor_->factor(first, last); }));
    const FactorStatus status = factor_->status();
    met = {status.last_row >= 0 ? 1 : 0, status.outcome == FactorOutcome::not_definite ? 1 : 0};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, met.data(), 2, MPI_INT, MPI_MAX, whole_.comm()));
  } while (met[1] == 0 && factor_->again(met[0] == 1));
  shift_ = factor_->status().shift_amount;
  shifts_ = factor_->status().shifts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The outcome on all ranks is that of the first row in the order by colours: others come of it. `row`: by its number
/// in the matrix.
PetscErrorCode FactorAcross::find_outcome(FactorStatus* status, PetscInt* row) const {
  PetscFunctionBegin;
  constexpr int kNone = std::numeric_limits<int>::max();
  constexpr int kOutcomes = 4;
  *status = factor_->status();
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

/// A GPU on all ranks, or a reason why not.
PetscErrorCode FactorAcross::choose_place() {
  PetscFunctionBegin;
  PetscCall(ranks_.take(whole_.comm()));
  if (!ranks_.on_one_node()) refused_.set("the ranks are not all on one node");
  if (refused_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscErrorCode chosen = choose_backend(settings_.backend, {part_->rows(), true}, &place_);
  if (static_cast<int>(chosen) == 0 && place_->context.backend() != Backend::cuda)
    refused_.set("a rank works on host threads");
  PetscCall(agree(whole_.comm(), chosen, &refused_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::make_sweeps() {
  PetscFunctionBegin;
  KrylovRanks ranks;
  asked_ = true;
  PetscCall(choose_place());
  if (refused_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded(whole_.comm(), [&] {
    ranks.group = &ranks_;
    ranks.ghosts.assign(part_->ghost_numbers().begin(), part_->ghost_numbers().end());
  }));
  PetscCall(ranks_.work(whole_.comm(), [&] {
    try {
      sweeps_.emplace(place_->context, factor_->pattern(), part_->order(), ranks);
    } catch (const Unsupported& error) {
      refused_.set(error.what());
    }
  }));
  launches_ = fresh_number();
  vectors_stay_ = sweeps_.has_value();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::prepare_sweeps() {
  PetscFunctionBegin;
  if (!asked_) PetscCall(make_sweeps());
  if (sweeps_ && !loaded_) {
    PetscCall(guarded(whole_.comm(), [&] { sweeps_->load(factor_->values()); }));
    loaded_ = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Also on ranks without rows, since all apply it together.
PetscErrorCode FactorAcross::prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* use) {
  PetscFunctionBegin;
  if (!factor_ || error_ != MAT_FACTOR_NOERROR || !wants_sweeps()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(prepare_sweeps());
  if (sweeps_) *use = {.backend = &*place_, .flops = flops(), .launches = launches_};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::apply_on_device(Vec b, Vec x) {
  PetscFunctionBegin;
  EventScope event;
  Arrays arrays;
  Stream stream;
  PetscCall(event.begin(events().apply, reinterpret_cast<PetscObject>(b), reinterpret_cast<PetscObject>(x)));
  PetscCall(current_stream(&stream));
  PetscCall(open_arrays(b, x, true, &arrays));
  PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode applied = guarded([&] { sweeps_->apply(arrays.b, arrays.x, stream); });
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(b, x, &arrays));
  PetscCall(applied);
  PetscCall(log_flops(true, flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCheck(factor_, PetscObjectComm(reinterpret_cast<PetscObject>(b)), PETSC_ERR_ARG_WRONGSTATE,
             "TaskDAG has no factor to apply: the last set-up has failed");
  if (part == Apply::full && wants_sweeps()) PetscCall(prepare_sweeps());
  bool of_b = true;  // without rows, as those of others
  bool of_x = true;
  if (part_->rows() > 0) {
    PetscCall(in_device_memory(b, &of_b));
    PetscCall(in_device_memory(x, &of_x));
  }
  if (sweeps_ && part == Apply::full && of_b && of_x) {
    PetscCall(apply_on_device(b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(with_host_arrays(b, x, flops(), [&](const PetscScalar* from, PetscScalar* to) -> PetscErrorCode {
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
  if (sweeps_)
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  applied on the GPU, through the ranks' memory\n"));
  else if (refused_.given())
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  applied by messages: %s\n", refused_.text()));
  if (takes_scaled_shift(settings_.factor, kind())) {
    if (shift_ > 0.0) PetscCall(view_scaled_shift(viewer.viewer, shift_, shifts_ + 1));
  } else if (shifts_ > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  shifted %d times, by %g in the end\n", shifts_, shift_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorAcross::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { sweeps_.reset(); }));
  place_.reset();
  refused_ = {};
  asked_ = false;
  loaded_ = false;
  factor_.reset();
  shift_ = 0.0;
  shifts_ = 0;
  PetscCall(forget());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_factor_across(const Settings& settings) {
  return std::make_unique<FactorAcross>(settings);
}

}  // namespace taskdag::petsc
