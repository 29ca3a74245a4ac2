#include "pc/consolidated.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend_choice.hpp"
#include "boundary.hpp"
#include "mat/columns.hpp"
#include "mat/held.hpp"
#include "mat/matrix_source.hpp"
#include "mat/merged_block.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// How the ranks were found to be grouped.
struct Groups {
  int ranks = 1;    ///< of the communicator
  int groups = 1;   ///< of them
  int largest = 1;  ///< ranks in one
};

class Consolidated final : public Preconditioner {
 public:
  Consolidated(std::unique_ptr<Preconditioner> inner, const Settings& settings)
      : inner_(std::move(inner)), settings_(settings) {}

  PetscErrorCode attach(Mat whole) override { return whole_.share(whole); }
  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  // The ranks that do not lead cannot fail, but must take part where a failure is shared.
  [[nodiscard]] std::optional<MatFactorError> failure() const override {
    return leads() ? inner_->failure() : MAT_FACTOR_NOERROR;
  }
  PetscErrorCode apply(Apply part, Vec b, Vec x) override;
  PetscErrorCode apply(Apply part, Mat b, Mat x) override;
  void expect_loop(bool expected) override { inner_->expect_loop(expected); }
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override {
    PetscFunctionBegin;
    if (!merges()) PetscCall(inner_->prepare_for_arrays(replays, use));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void apply_to_arrays(const double* b, double* x, Stream stream) override { inner_->apply_to_arrays(b, x, stream); }
  void apply_to_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                        Stream stream) override {
    inner_->apply_to_columns(count, b, ldb, x, ldx, stream);
  }
  void apply_part_to_arrays(Apply part, const double* b, double* x, Stream stream) override {
    inner_->apply_part_to_arrays(part, b, x, stream);
  }
  bool take_lost_application() override { return inner_->take_lost_application(); }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override;

 private:
  PetscErrorCode describe_rank(Mat matrix, RankCard* card);
  PetscErrorCode form_groups(const RankCard& card, RankGroup* mine);
  PetscErrorCode check_size(RankGroup* mine);
  PetscErrorCode analyse_block(Mat matrix, bool error_if_failure);
  [[nodiscard]] bool merges() const { return groups_.largest > 1; }
  [[nodiscard]] bool leads() const { return !merges() || merged_.block(); }

  std::unique_ptr<Preconditioner> inner_;
  const Settings& settings_;
  Held<Mat> whole_;
  Groups groups_;
  MPI_Comm leaders_ = MPI_COMM_NULL;  ///< ranks that lead; null elsewhere, and where nothing is merged
  MergedBlock merged_;
};

/// Before an analysis, on this rank alone.
PetscErrorCode Consolidated::describe_rank(Mat matrix, RankCard* card) {
  PetscFunctionBegin;
  // On a GPU, of the gathered block and its factor while that is made in blocks: 4.1 GB for 56 million on an H100, and
  // the matrix.
  constexpr double kBytesPerEntry = 100.0;
  const bool automatic = settings_.consolidate.mode == Consolidate::automatic;
  MatrixSource source;
  DevicePlace device;
  PetscBool has = PETSC_FALSE;
  PetscCall(reset());
  PetscCall(source.inspect(matrix, false));
  PetscCall(find_device(settings_.backend, {source.rows(), source.on_device()}, &device));
  card->most_entries = std::numeric_limits<Offset>::max();
  if (automatic && !device.uuid.empty())
    card->most_entries = std::min(card->most_entries, device.free_bytes / kBytesPerEntry);
  const std::string_view text = device.uuid.empty() && !automatic ? "host" : std::string_view(device.uuid);
  PetscCheck(text.size() <= card->text.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "so long a text is not exchanged");
  std::ranges::copy(text, card->text.begin());
  MatInfo info;
  PetscCall(MatHasOperation(whole_, MATOP_GETINFO, &has));
  PetscCall(MatGetInfo(has ? whole_.get() : matrix, MAT_LOCAL, &info));
  card->entries = info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A group whose block would be too large is left apart, or is an error.
PetscErrorCode Consolidated::check_size(RankGroup* mine) {
  PetscFunctionBegin;
  if (mine->fits()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
      settings_.consolidate.mode == Consolidate::automatic, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "-pc_taskdag_consolidate on: the blocks of %d ranks have up to %.0f entries together, and %.0f is the most "
      "that one rank works with: -pc_taskdag_consolidate_ranks makes smaller groups",
      static_cast<int>(mine->members.size()), mine->entries, mine->most_entries);
  PetscCall(PetscInfo(whole_.get(),
                      "-pc_taskdag_consolidate auto leaves the blocks of %d ranks apart: up to %.0f entries together, "
                      "and there is room for %.0f\n",
                      static_cast<int>(mine->members.size()), mine->entries, mine->most_entries));
  PetscCall(guarded([&] { mine->members = {mine->rank}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::form_groups(const RankCard& card, RankGroup* mine) {
  PetscFunctionBegin;
  const MPI_Comm comm = whole_.comm();
  PetscCall(share_error(comm, find_group(comm, card, settings_.consolidate.ranks, mine)));
  PetscCall(share_error(comm, check_size(mine)));

  PetscMPIInt ranks = 1;
  const int leads = mine->leads() ? 1 : 0;
  const int size = static_cast<int>(mine->members.size());
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  groups_.ranks = ranks;
  PetscCallMPI(MPI_Allreduce(&leads, &groups_.groups, 1, MPI_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&size, &groups_.largest, 1, MPI_INT, MPI_MAX, comm));
  if (merges()) PetscCallMPI(MPI_Comm_split(comm, leads ? 0 : MPI_UNDEFINED, mine->rank, &leaders_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::analyse_block(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  if (!leads()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(inner_->attach(merges() ? merged_.block() : whole_));
  PetscCall(inner_->analyse(merges() ? merged_.block() : matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  RankGroup mine;
  RankCard card;
  PetscCall(share_error(whole_.comm(), describe_rank(matrix, &card)));
  PetscCall(form_groups(card, &mine));
  if (merges()) PetscCall(share_error(whole_.comm(), merged_.take(whole_, mine)));
  PetscCall(analyse_block(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  if (merges()) PetscCall(merged_.take_values(whole_));
  if (leads()) PetscCall(inner_->update(merges() ? merged_.block() : matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::apply(Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  if (merges())
    PetscCall(merged_.with_vectors(b, x, [&](Vec from, Vec to) { return inner_->apply(part, from, to); }));
  else
    PetscCall(inner_->apply(part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::apply(Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  if (merges())
    PetscCall(by_columns(b, x, [&](Vec from, Vec to) { return apply(part, from, to); }));
  else
    PetscCall(inner_->apply(part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  if (!merges()) {
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  consolidated: no ranks share what they work on\n"));
    PetscCall(inner_->view(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer,
                                   "  consolidated: blocks of %d ranks put together to %d; ranks below are those "
                                   "that have one, counted anew\n",
                                   groups_.ranks, groups_.groups));
  PetscCall(share_error(viewer.comm, leads() ? inner_->view({viewer.viewer, leaders_}) : PETSC_SUCCESS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Consolidated::reset() {
  PetscFunctionBegin;
  const PetscErrorCode ended = inner_->reset();  // of a rank that leads; what follows is of all
  PetscCall(merged_.reset());
  if (leaders_ != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&leaders_));
  groups_ = {};
  PetscCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode check_consolidate(const Settings& settings) {
  PetscFunctionBegin;
  if (settings.consolidate.mode == Consolidate::off) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(find_type(settings.type)->consolidates, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_consolidate is for the types ilu, icc, dilu and dic, not for %s",
             find_type(settings.type)->name);
  PetscCheck(!settings.eisenstat, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_consolidate and -pc_taskdag_eisenstat exclude each other");
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::unique_ptr<Preconditioner> consolidate(std::unique_ptr<Preconditioner> inner, const Settings& settings) {
  return std::make_unique<Consolidated>(std::move(inner), settings);
}

}  // namespace taskdag::petsc
