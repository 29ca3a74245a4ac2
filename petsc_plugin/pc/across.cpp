#include "pc/across.hpp"

#include "boundary.hpp"
#include "mat/columns.hpp"
#include "mat/matrix_source.hpp"
#include "ordering/orderings.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Fewer iterations than by single rows, and fewer colours, but others with another number of ranks.
bool by_blocks(const Settings& settings) { return settings.factor.ordering == MATORDERINGTASKDAGBMC; }

/// On a GPU a block is done by one thread, row after row. On two H200 blocks of 8 rows are faster than of 16 for 64³ to
/// 160³ of a 7-point grid, though iterations are some more.
constexpr PetscInt rows_of_block_on_device = 8;

/// Blocks of a rank's own rows, none of which crosses ranks. rows_of_block: 0 leaves it to the ordering. Not
/// collective.
PetscErrorCode make_blocks(Mat block, PetscInt rows_of_block, const BackendSettings& host, OwnBlocks* blocks) {
  PetscFunctionBegin;
  OwnOrder order;
  EventScope event;
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(block, &rows, nullptr));
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(event.begin(events().ordering, reinterpret_cast<PetscObject>(block)));
  PetscCall(make_own_order(block, MATORDERINGTASKDAGBMC, rows_of_block, host, &order));
  blocks->order = std::move(order.host);
  blocks->blocks = std::move(order.blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_factor_settings(const Settings& settings) {
  PetscFunctionBegin;
  const FactorSettings& factor = settings.factor;
  PetscCheck(factor.levels == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_across on is for factors without fill, and -pc_factor_levels is %" PetscInt_FMT,
             factor.levels);
  PetscCheck(factor.ordering == ordering_auto || factor.ordering == MATORDERINGTASKDAGCOLOR || by_blocks(settings),
             PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_across on takes rows by colours, in the order %s or %s: -pc_taskdag_ordering cannot be %s",
             MATORDERINGTASKDAGCOLOR, MATORDERINGTASKDAGBMC, factor.ordering.c_str());
  PetscCheck(factor.precision != Precision::in_single && factor.point_block != PointBlock::on && !factor.reuse_ordering,
             PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_across on has no -pc_taskdag_precision single, no -pc_taskdag_point_block on and no "
             "-pc_factor_reuse_ordering");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode check_across(const Settings& settings) {
  PetscFunctionBegin;
  if (settings.across == Across::off) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(find_type(settings.type)->across, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_across on is for the types ilu, icc, dilu, dic and sor, not for %s",
             find_type(settings.type)->name);
  PetscCheck(!settings.eisenstat && settings.consolidate.mode == Consolidate::off, PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_across on goes neither with -pc_taskdag_eisenstat nor with -pc_taskdag_consolidate");
  PetscCheck(settings.backend.wanted != Backend::cuda || settings.type != PC_TASKDAG_SOR, PETSC_COMM_SELF,
             PETSC_ERR_SUP, "-pc_taskdag_across on works on host threads for SOR: -pc_taskdag_backend cannot be cuda");
  PetscCheck(
      settings.sweeps == SweepSettings{}, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
      "-pc_taskdag_across on has one schedule, colour after colour: options of schedules, of their tuning and of "
      "the task engine are not for it");
  PetscCall(check_factor_settings(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::unique_ptr<Preconditioner> make_across(const Settings& settings) {
  return settings.type == PC_TASKDAG_SOR ? make_sor_across(settings) : make_factor_across(settings);
}

PetscErrorCode AcrossRanks::apply(Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(by_columns(b, x, [&](Vec from, Vec to) { return apply(part, from, to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::take_pattern(Mat block, GhostRows wanted) {
  PetscFunctionBegin;
  const MPI_Comm comm = whole_.comm();
  BackendSettings host = settings_.backend;
  host.wanted = Backend::host;
  MatrixSource source;
  OwnBlocks blocks;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(whole_.get())));
  PetscCall(forget());
  PetscCall(share_error(comm, source.inspect(block, false)));
  PetscMPIInt on_device = source.on_device() ? 1 : 0;  // false on a rank without rows
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &on_device, 1, MPI_INT, MPI_MAX, comm));
  on_device_ = on_device != 0;
  vectors_stay_ = false;
  PetscCall(share_error(comm, choose_backend(host, {source.rows(), false}, &backend_)));
  PetscCall(source.reset());
  PetscInt rows_of_block = settings_.factor.block_size;
  if (rows_of_block == 0 && on_device_) rows_of_block = rows_of_block_on_device;
  if (by_blocks(settings_)) PetscCall(share_error(comm, make_blocks(block, rows_of_block, host, &blocks)));
  part_.emplace();
  PetscCall(part_->take(whole_, wanted, by_blocks(settings_) ? &blocks : nullptr));
  PetscCall(guarded(comm, [&] { work_.assign(static_cast<std::size_t>(part_->rows() + part_->ghosts()), 0.0); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::take_values() {
  PetscFunctionBegin;
  PetscCall(share_error(whole_.comm(), part_->read_values(whole_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::view_part(const RankViewer& viewer, std::size_t entries) const {
  PetscFunctionBegin;
  std::string title;
  std::string text;
  std::vector<RankNumber> numbers;
  bool each = false;
  Index exchanges = 0;
  Index messages = 0;
  if (!part_) {
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  across ranks: the whole matrix, by colours\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Index c = 0; c < part_->colours(); ++c) {
    // Forward all colours but the last one are told of, backward all but the first one.
    const Index times = (c + 1 < part_->colours() ? 1 : 0) + (c > 0 ? 1 : 0);
    if (part_->elements().any(c)) exchanges += times;
    messages += times * part_->elements().senders(c);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer,
                                   "  across ranks: the whole matrix, by colours (%s); colours: %d, exchanges in a "
                                   "forward and a backward sweep: %d\n",
                                   by_blocks(settings_) ? MATORDERINGTASKDAGBMC : MATORDERINGTASKDAGCOLOR,
                                   static_cast<int>(part_->colours()), static_cast<int>(exchanges)));
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded(viewer.comm, [&] {
    title = "part of a rank: ";
    numbers = {{"rows", static_cast<double>(part_->rows()), true},
               {"entries", static_cast<double>(entries), true},
               {"ghosts", static_cast<double>(part_->ghosts()), true},
               {"messages received in these sweeps", static_cast<double>(messages), true}};
    text = "backend: host, " + backend_->context.device_name() + '\n';
    if (each) text += number_text(title, numbers) + '\n';
    if (on_device_)
      text += vectors_stay_ ? "entries are copied from the device\n"
                            : "entries and vectors are copied from the device, and results to it\n";
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::forget() {
  PetscFunctionBegin;
  part_.reset();
  backend_.reset();
  work_.clear();
  error_ = MAT_FACTOR_NOERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
