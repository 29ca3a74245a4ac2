#include "pc/across.hpp"

#include <array>
#include <cstdio>

#include "boundary.hpp"
#include "fresh_number.hpp"
#include "mat/arrays.hpp"
#include "mat/columns.hpp"
#include "mat/local_block.hpp"
#include "mat/matrix_source.hpp"
#include "mat/off_diagonal.hpp"
#include "ordering/orderings.hpp"
#include "pc/across_choice.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Fewer iterations than by single rows, and fewer colours, but others with another number of ranks.
bool by_blocks(const Settings& settings) {
  const std::string& ordering = settings.factor.ordering;
  return ordering == MATORDERINGTASKDAGBMC || (ordering == ordering_auto && settings.across == Across::automatic);
}

bool in_matrix_order(const Settings& settings) { return settings.factor.ordering == MATORDERINGNATURAL; }

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

/// What does not go together with it, as the end of a sentence.
Reason why_not_across(const Settings& settings) {
  const FactorSettings& factor = settings.factor;
  const std::string& ordering = factor.ordering;
  Reason reason;
  if (!find_type(settings.type)->across) {
    reason.set("is for the types ilu, icc, dilu, dic and sor, not for ", find_type(settings.type)->name);
  } else if (settings.eisenstat || settings.consolidate.mode != Consolidate::off) {
    reason.set("goes neither with -pc_taskdag_eisenstat nor with -pc_taskdag_consolidate");
  } else if (settings.sweeps != SweepSettings{}) {
    reason.set(
        "has one schedule, colour after colour: options of schedules, of their tuning and of the task engine are "
        "not for it");
  } else if (factor.levels != 0) {
    std::array<char, 32> levels{};
    (void)std::snprintf(levels.data(), levels.size(), "%" PetscInt_FMT, factor.levels);
    reason.set("is for factors without fill, and -pc_factor_levels is ", levels.data());
  } else if (ordering != ordering_auto && ordering != MATORDERINGTASKDAGCOLOR && !by_blocks(settings) &&
             !in_matrix_order(settings)) {
    reason.set("takes rows by colours, in the order " MATORDERINGTASKDAGCOLOR " or " MATORDERINGTASKDAGBMC
               ", or in that of the matrix, " MATORDERINGNATURAL ": -pc_taskdag_ordering cannot be ",
               ordering.c_str());
  } else if (factor.precision == Precision::in_single || factor.point_block == PointBlock::on ||
             factor.reuse_ordering) {
    reason.set("has no -pc_taskdag_precision single, no -pc_taskdag_point_block on and no -pc_factor_reuse_ordering");
  }
  return reason;
}

/// What this rank has, and whether its entries are on a device. Not collective.
PetscErrorCode count_own(Mat matrix, AcrossCounts* counts, Reason* why_not) {
  PetscFunctionBegin;
  Mat block = nullptr;
  Mat outside = nullptr;
  MatrixSource source;
  MatInfo info;
  PetscInt rows = 0;
  PetscInt ghosts = 0;
  PetscCall(outside_part(matrix, &outside, nullptr));
  if (!outside) {
    why_not->set("the matrix does not lend what couples its ranks");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(local_block(matrix, &block));
  PetscCall(source.inspect(block, false));
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatGetSize(outside, nullptr, &ghosts));
  PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
  counts->on_gpus = source.on_device();
  counts->rows = rows;
  counts->ghosts = ghosts;
  counts->entries = static_cast<std::int64_t>(info.nz_used);
  PetscCall(source.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_all(MPI_Comm comm, AcrossCounts* counts, Reason* why_not) {
  PetscFunctionBegin;
  std::array<std::int64_t, 4> most = {counts->rows, counts->entries, counts->ghosts, counts->on_gpus ? 1 : 0};
  PetscCall(agree(comm, PETSC_SUCCESS, why_not));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most.data(), 4, MPI_INT64_T, MPI_MAX, comm));
  *counts = {most[0], most[1], most[2], most[3] != 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode check_across(const Settings& settings) {
  PetscFunctionBegin;
  if (settings.across != Across::on) PetscFunctionReturn(PETSC_SUCCESS);
  const Reason reason = why_not_across(settings);
  PetscCheck(!reason.given(), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "-pc_taskdag_across on %s", reason.text());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_across(Mat matrix, const Settings& settings, AcrossChoice* choice) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  AcrossCounts counts;
  CommRanks ranks;
  *choice = {};
  PetscCall(ranks.take(comm));
  const Reason unfit = why_not_across(settings);
  if (in_matrix_order(settings)) choice->reason.set("the order of the matrix is asked for");
  if (ranks.count() == 1) choice->reason.set("there is one rank");
  if (unfit.given()) choice->reason.set("it ", unfit.text());
  if (choice->reason.given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(share_error(comm, count_own(matrix, &counts, &choice->reason)));
  PetscCall(count_all(comm, &counts, &choice->reason));
  if (counts.on_gpus && !ranks.on_one_node()) choice->reason.set("the ranks' GPUs are not on one node");
  if (choice->reason.given()) PetscFunctionReturn(PETSC_SUCCESS);
  const AcrossEstimate estimate = estimate_across(counts);
  choice->whole = estimate.gain() > 1.0;
  std::array<char, 200> text{};
  (void)std::snprintf(
      text.data(), text.size(),
      "each rank's own rows are expected to take %.2f times the iterations of one rank, the whole matrix "
      "%.2f times, each %.2f times as long",
      estimate.own_iterations, estimate.across_iterations, estimate.across_us / estimate.own_us);
  choice->reason.set(text.data());
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
  entries_copied_ = on_device_;
  PetscCall(share_error(comm, choose_backend(host, {source.rows(), false}, &backend_)));
  PetscCall(source.reset());
  PetscInt rows_of_block = settings_.factor.block_size;
  if (rows_of_block == 0 && on_device_) rows_of_block = rows_of_block_on_device;
  if (by_blocks(settings_)) PetscCall(share_error(comm, make_blocks(block, rows_of_block, host, &blocks)));
  part_.emplace();
  PetscCall(part_->take(whole_, wanted, in_matrix_order(settings_) ? RowOrder::of_the_matrix : RowOrder::by_colours,
                        by_blocks(settings_) ? &blocks : nullptr));
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
  const auto colours = static_cast<int>(part_->colours());
  if (in_matrix_order(settings_))
    PetscCall(
        PetscViewerASCIIPrintf(viewer.viewer, "  across ranks: the whole matrix, in its order; waves: %d", colours));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  across ranks: the whole matrix, by colours (%s); colours: %d",
                                     by_blocks(settings_) ? MATORDERINGTASKDAGBMC : MATORDERINGTASKDAGCOLOR, colours));
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer, ", exchanges in a forward and a backward sweep: %d\n",
                                   static_cast<int>(exchanges)));
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(guarded(viewer.comm, [&] {
    title = "part of a rank: ";
    numbers = {{"rows", static_cast<double>(part_->rows()), true},
               {"entries", static_cast<double>(entries), true},
               {"ghosts", static_cast<double>(part_->ghosts()), true},
               {"messages received in these sweeps", static_cast<double>(messages), true}};
    text = "backend: host, " + backend_->context.device_name() + '\n';
    if (each) text += number_text(title, numbers) + '\n';
    if (on_device_ && !sweeps_) text += "entries and vectors are copied from the device, and results to it\n";
    if (sweeps_ && entries_copied_) text += "entries are copied from the device\n";
  }));
  PetscCall(view_numbers(viewer, title, numbers));
  PetscCall(view_texts(viewer, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A GPU on all ranks, or a reason why not.
PetscErrorCode AcrossRanks::choose_place() {
  PetscFunctionBegin;
  PetscCall(ranks_.take(whole_.comm()));
  if (!on_device_) refused_.set("the matrix is in host memory");
  if (in_matrix_order(settings_)) refused_.set("rows are taken in the matrix' order, a wave by one thread");
  if (!ranks_.on_one_node()) refused_.set("the ranks are not all on one node");
  if (refused_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscErrorCode chosen = choose_backend(settings_.backend, {part_->rows(), true}, &place_);
  if (static_cast<int>(chosen) == 0 && place_->context.backend() != Backend::cuda)
    refused_.set("a rank works on host threads");
  PetscCall(agree(whole_.comm(), chosen, &refused_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On host threads messages are faster.
PetscErrorCode AcrossRanks::make_sweeps() {
  PetscFunctionBegin;
  const bool asked = settings_.backend.wanted == Backend::cuda;
  if (settings_.backend.wanted == Backend::host || (!on_device_ && !asked)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(choose_place());
  if (!refused_.given()) {
    KrylovRanks ranks;
    PetscCall(guarded(whole_.comm(), [&] {
      ranks.group = &ranks_;
      ranks.ghosts.assign(part_->ghost_numbers().begin(), part_->ghost_numbers().end());
    }));
    PetscCall(ranks_.work(whole_.comm(), [&] {
      try {
        sweeps_.emplace(place_->context, pattern(), part_->order(), ranks);
        make_more();
      } catch (const Unsupported& error) {
        sweeps_.reset();
        refused_.set(error.what());
      }
    }));
    launches_ = fresh_number();
  }
  PetscCheck(sweeps_ || !asked, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_taskdag_across on cannot work on the GPU as -pc_taskdag_backend cuda asks for: %s", refused_.text());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::bring_sweeps() {
  PetscFunctionBegin;
  if (!sweeps_ || loaded_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(load_sweeps());
  loaded_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Also on ranks without rows, since all apply it together.
PetscErrorCode AcrossRanks::prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* use) {
  PetscFunctionBegin;
  if (!sweeps_ || error_ != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bring_sweeps());
  *use = {.backend = &*place_, .flops = flops(), .launches = launches_};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::choose_sweeps(Vec b, Vec x, bool* chosen) {
  PetscFunctionBegin;
  bool of_b = true;  // without rows, as those of others
  bool of_x = true;
  if (sweeps_ && part_->rows() > 0) {
    PetscCall(in_device_memory(b, &of_b));
    PetscCall(in_device_memory(x, &of_x));
  }
  *chosen = sweeps_ && of_b && of_x;
  if (*chosen) PetscCall(bring_sweeps());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::apply_by_sweeps(Vec b, Vec x) {
  PetscFunctionBegin;
  EventScope event;
  Arrays arrays;
  Stream stream;
  PetscCall(event.begin(events().apply, reinterpret_cast<PetscObject>(b), reinterpret_cast<PetscObject>(x)));
  PetscCall(current_stream(&stream));
  PetscCall(open_arrays(b, x, true, &arrays));
  PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode applied =
      in_doubles(&arrays, &wide_, stream, [&] { return guarded([&] { sweeps_->apply(arrays.b, arrays.x, stream); }); });
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(b, x, &arrays));
  PetscCall(applied);
  PetscCall(log_flops(true, flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::view_sweeps(PetscViewer viewer, const char* made) const {
  PetscFunctionBegin;
  if (sweeps_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s on the GPU, through the ranks' memory\n", made));
  else if (refused_.given())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  applied by messages: %s\n", refused_.text()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AcrossRanks::forget() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { sweeps_.reset(); }));
  place_.reset();
  refused_ = {};
  loaded_ = false;
  part_.reset();
  backend_.reset();
  work_.clear();
  error_ = MAT_FACTOR_NOERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
