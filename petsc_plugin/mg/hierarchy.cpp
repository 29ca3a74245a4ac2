#include "mg/hierarchy.hpp"

#include "across/ranks.hpp"
#include "boundary.hpp"
#include "mg/smoother.hpp"
#include "pc/pc_taskdag.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

constexpr auto operator_name = "operator";
constexpr auto smoother_name = "smoother";
constexpr auto preconditioner_name = "preconditioner";
constexpr auto solver_name = "solver";

/// Of a coarsest level that is not inverted, where each of several ranks does it.
constexpr PetscInt most_smoothed_rows = 16384;

/// Rows of a level up to which each of several ranks does it for all. On GPUs a stage of such a level takes hardly
/// longer than its launch; host threads share out what takes longer than some microseconds.
PetscErrorCode read_most_whole_rows(bool cuda, PetscInt* rows) {
  PetscFunctionBegin;
  *rows = cuda ? 16384 : 1000;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-taskdag_mg_whole_rows", rows, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the coarsest level is solved by its inverse.
PetscErrorCode is_inverted(PC pc, bool* inverted) {
  PetscFunctionBegin;
  KSP const solver = level_of(pc, 0).smoothd;
  Mat a = nullptr;
  PetscInt rows = 0;
  bool once = false;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(applies_once(solver, &once));
  *inverted = once && rows <= CoarseInverse::most_rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `name`: of the smoother.
PetscErrorCode see_smoother(KSP ksp, int level, const char* name, bool from_solution, Hierarchy::SmootherSeen* seen,
                            Reason* why_not) {
  PetscFunctionBegin;
  PC pc = nullptr;
  PetscCall(read_smoother(ksp, from_solution, &seen->steps, Refusal(level, name, why_not)));
  PetscCall(KSPGetPC(ksp, &pc));
  if (!why_not->given()) PetscCall(SmootherMap::look_at(pc, &seen->map, Refusal(level, preconditioner_name, why_not)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The coarsest one, whose solver may be any that is linear. Where PETSc is told that it goes on from a guess, as by
/// KSPSetComputeInitialGuess(), that is the zero which each cycle begins with.
PetscErrorCode see_inverted(PC pc, Hierarchy::LevelSeen* seen, Reason* why_not) {
  PetscFunctionBegin;
  KSP const solver = level_of(pc, 0).smoothd;
  const Refusal refuse(0, solver_name, why_not);
  PC inner = nullptr;
  Mat made_of = nullptr;
  PCFailedReason failed = PC_NOERROR;
  PetscCall(KSPSetUp(solver));
  PetscCall(KSPGetPC(solver, &inner));
  PetscCall(PCGetFailedReason(inner, &failed));
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(inner), &seen->before.map.pc));
  PetscCall(PCGetOperators(inner, nullptr, &made_of));
  PetscCall(read_state(made_of, &seen->before.map.matrix));
  if (failed != PC_NOERROR) refuse("has failed");
  if (solver->numbermonitors > 0) refuse("has a monitor");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode see_transfers(PC pc, int level, Hierarchy::LevelSeen* seen, Reason* why_not) {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, level);
  seen->visits = static_cast<int>(own.cycles);
  PetscCall(Transfer::check(own.interpolate, Refusal(level, "interpolation", why_not)));
  PetscCall(Transfer::check(own.restrct, Refusal(level, "restriction", why_not)));
  PetscCall(read_state(own.interpolate, &seen->interpolation));
  PetscCall(read_state(own.restrct, &seen->restriction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those that PETSc's KSPs remove from what their preconditioners give, and from their right-hand sides.
PetscErrorCode see_null_spaces(Mat a, int level, Hierarchy::LevelSeen* seen, Reason* why_not) {
  PetscFunctionBegin;
  const Refusal refuse(level, operator_name, why_not);
  MatNullSpace space = nullptr;
  MatNullSpace left = nullptr;
  PetscCall(MatGetNullSpace(a, &space));
  PetscCall(MatGetTransposeNullSpace(a, &left));
  PetscCall(look_at_null_space(space, &seen->null_space, refuse));
  PetscCall(look_at_null_space(left, &seen->left_null_space, refuse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode see_level(PC pc, int level, Hierarchy::LevelSeen* seen, Reason* why_not) {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, level);
  Mat a = nullptr;
  PetscCall(check_level(pc, level, why_not));
  if (level > 0 && !why_not->given()) PetscCall(see_transfers(pc, level, seen, why_not));
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(own.smoothd, &a, nullptr));
  PetscCall(read_state(a, &seen->a));
  PetscCall(see_null_spaces(a, level, seen, why_not));
  PetscCall(see_smoother(own.smoothd, level, smoother_name, begins_from_solution(pc, level), &seen->before, why_not));
  if (smooths_after(pc, level) && !why_not->given())
    PetscCall(see_smoother(own.smoothu, level, "second smoother", true, &seen->after, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether each of several ranks can do a level for all.
PetscErrorCode can_be_whole(PC pc, int level, bool inverts, bool* can) {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, level);
  bool before = true;
  bool after = true;
  if (level > 0 || !inverts) PetscCall(SmootherMap::can_be_whole(own.smoothd->pc, &before));
  if (smooths_after(pc, level)) PetscCall(SmootherMap::can_be_whole(own.smoothu->pc, &after));
  *can = before && after;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_ranks(PC pc, Reason* why_not) {
  PetscFunctionBegin;
  for (int level = 0; level < levels_of(pc); ++level) {
    bool has = false;
    PetscCall(has_ranks_of_pc(pc, level, &has));
    if (!has) Refusal(level, smoother_name, why_not)("is on other ranks than the preconditioner");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_entries(Mat matrix, PetscLogDouble* entries) {
  PetscFunctionBegin;
  MatInfo sizes;  // the arrays may be in device memory
  PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
  *entries = sizes.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a smoother's steps, each with its residual.
PetscLogDouble flops_of(const CycleSmoother& smoother, const SmootherMap& map, PetscLogDouble entries,
                        PetscLogDouble rows) {
  return static_cast<PetscLogDouble>(smoother.steps.size()) * (2.0 * entries + 4.0 * rows + map.flops());
}

}  // namespace

PetscErrorCode Hierarchy::set_smoothers_up(PC pc) {
  PetscFunctionBegin;
  Reason none;
  if (!data_of_mg(pc).levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_ranks(pc, &none));
  for (int level = 0; level < levels_of(pc) && !none.given(); ++level) {
    const PC_MG_Levels& own = level_of(pc, level);
    for (KSP const ksp : {own.smoothd, smooths_after(pc, level) ? own.smoothu : nullptr}) {
      PC inner = nullptr;
      if (!ksp) continue;
      PetscCall(KSPSetUp(ksp));
      PetscCall(KSPGetPC(ksp, &inner));
      PetscCall(SmootherMap::meet(inner));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::look_at(PC pc, Seen* seen, Reason* why_not) {
  PetscFunctionBegin;
  const int levels = levels_of(pc);
  if (levels < 1 || !data_of_mg(pc).levels) why_not->set("it has no levels");
  if (!why_not->given()) PetscCall(check_ranks(pc, why_not));
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  seen->options = cycle_options(pc);
  PetscCall(guarded([&] { seen->levels.resize(static_cast<std::size_t>(levels)); }));
  PetscCall(is_inverted(pc, &seen->inverts));
  for (int level = levels - 1; level >= (seen->inverts ? 1 : 0) && !why_not->given(); --level)
    PetscCall(see_level(pc, level, &seen->levels[static_cast<std::size_t>(level)], why_not));
  if (seen->inverts && !why_not->given()) PetscCall(see_inverted(pc, seen->levels.data(), why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::make_room(std::size_t levels) {
  PetscFunctionBegin;
  if (levels_.size() == levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(reset());
  PetscCall(guarded([&] {
    rows_.resize(levels);
    while (levels_.size() < levels) levels_.push_back(std::make_unique<Level>());
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where it is wanted, else where the finest operator lies, or on a GPU where a preconditioner of ours there works on
/// one: then the matrices are copied.
PetscErrorCode Hierarchy::choose_own_place(KSP finest, const std::optional<BackendSettings>& wanted, bool* has_rows) {
  PetscFunctionBegin;
  Mat a = nullptr;
  Mat own = nullptr;
  bool ours = false;
  ArrayUse use;
  MatrixSource source;
  BackendSettings settings;
  PetscCall(is_taskdag(finest->pc, &ours));
  PetscCall(KSPGetOperators(finest, &a, nullptr));
  own = a;
  if (is_on_ranks(a)) PetscCall(MatMPIAIJGetSeqAIJ(a, &own, nullptr, nullptr));
  PetscCall(source.inspect(own, false));
  *has_rows = source.rows() > 0;
  if (ours && !(wanted && wanted->wanted != Backend::automatic)) PetscCall(prepare_for_arrays(finest->pc, 0, &use));
  if (use.backend && use.backend->context.backend() == Backend::cuda) {
    PetscCall(guarded([&] { place_ = *use.backend; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  settings.wanted = source.on_device() ? Backend::cuda : Backend::host;
  if (wanted) settings = *wanted;
  PetscCall(choose_backend(settings, {source.rows(), source.on_device()}, &place_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank without rows is where the others are. Collective.
PetscErrorCode Hierarchy::choose_place(KSP finest, const std::optional<BackendSettings>& wanted, Reason* why_not) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(finest));
  bool has_rows = true;
  BackendSettings settings;
  if (wanted) settings = *wanted;
  PetscErrorCode chosen = choose_own_place(finest, wanted, &has_rows);
  const bool gpu = place_ && place_->context.backend() == Backend::cuda;
  std::array<int, 2> any = {has_rows && gpu ? 1 : 0, has_rows && !gpu ? 1 : 0};
  PetscCall(agree(comm, chosen, why_not, any));
  if (any[0] != 0 && any[1] != 0) why_not->set("some ranks work on a GPU and others do not");
  settings.wanted = any[0] != 0 ? Backend::cuda : Backend::host;
  if (!has_rows) chosen = choose_backend(settings, {}, &place_);
  PetscCall(share_error(comm, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::find_rows(PC pc) {
  PetscFunctionBegin;
  for (std::size_t level = 0; level < rows_.size(); ++level) {
    Mat a = nullptr;
    PetscCall(KSPGetOperators(level_of(pc, static_cast<int>(level)).smoothd, &a, nullptr));
    PetscCall(MatGetSize(a, &rows_[level], nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On several ranks coarse levels are done by each for all: what they save of a level's time is less than the waits
/// cost. A level of more rows or with another preconditioner than a diagonal is dealt out, and those above it.
PetscErrorCode Hierarchy::choose_dealt_out(PC pc, const Seen& seen, Reason* why_not) {
  PetscFunctionBegin;
  const Refusal refuse(0, solver_name, why_not);
  PetscInt most_rows = 0;
  std::size_t whole = 0;
  bool can = true;
  dealt_out_ = 0;
  if (!is_on_ranks(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows_.size() < 2) why_not->set("it has one level, on several ranks");
  PetscCall(read_most_whole_rows(place_->context.backend() == Backend::cuda, &most_rows));
  while (whole + 1 < rows_.size() && (whole == 0 || rows_[whole] <= most_rows)) {
    PetscCall(can_be_whole(pc, static_cast<int>(whole), seen.inverts, &can));
    if (!can) break;
    ++whole;
  }
  if (whole == 0) refuse("has a preconditioner that is no diagonal, on several ranks");
  if (!seen.inverts && rows_[0] > most_smoothed_rows)
    refuse("smooths more rows than each of several ranks does for all");
  dealt_out_ = rows_.size() - whole;
  PetscFunctionReturn(PETSC_SUCCESS);
}

RankMatrix::Reach Hierarchy::reach_of(std::size_t level) const {
  const bool dealt_out = place_of(level) < dealt_out_;
  return dealt_out ? RankMatrix::Reach::dealt_out : RankMatrix::Reach::whole;
}

/// The operator of an inverted level is not read.
PetscErrorCode Hierarchy::take_matrices(PC pc, const Seen& seen) {
  PetscFunctionBegin;
  using Reach = RankMatrix::Reach;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const PC_MG_Levels& own = level_of(pc, static_cast<int>(level));
    Level& to = *levels_[level];
    const Reach reach = reach_of(level);
    Mat a = nullptr;
    PetscCall(KSPGetOperators(own.smoothd, &a, nullptr));
    if (level > 0 || !seen.inverts) PetscCall(to.a.take(a, reach));
    if (level == 0) continue;
    const bool gathers = place_of(level) + 1 == dealt_out_;
    PetscCall(to.interpolation.take(own.interpolate, rows_[level], gathers ? Reach::all_columns : reach));
    PetscCall(to.restriction.take(own.restrct, rows_[level - 1], reach));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Opens one after the other, so that what a GPU is to read is there, and closes them: what is made of the arrays is
/// valid for as long as the states stay.
PetscErrorCode Hierarchy::bring_matrices(const Seen& seen) {
  PetscFunctionBegin;
  OpenMatrices open;
  PetscCall(guarded([&] {
    cycle_levels_.assign(levels_.size(), {});
    ranks_ = {};
    ranks_.levels.resize(dealt_out_);
    parts_ = {};
    parts_.levels.resize(levels_.size());
  }));
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    CycleLevel& to = cycle_levels_[place_of(level)];
    to.a.pattern.rows = to.a.pattern.cols = static_cast<Index>(rows_[level]);
    to.visits = seen.levels[level].visits;
    if (level > 0 || !seen.inverts) PetscCall(bring_level(level, &open));
  }
  for (const auto& one : open) PetscCall(one->close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_level(std::size_t level, OpenMatrices* open) {
  PetscFunctionBegin;
  Level& from = *levels_[level];
  const std::size_t place = place_of(level);
  CycleLevel& to = cycle_levels_[place];
  LevelParts& parts = parts_.levels[place];
  const auto bring = [&](RankMatrix& matrix, bool any_shape, CsrView* view, Place* own, Place* outer) {
    PetscFunctionBegin;
    PetscCall(matrix.open(any_shape, place_->context, open));
    *view = matrix.view();
    *own = matrix.place();
    *outer = matrix.outer_place();
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  RankMatrix& interpolation = from.interpolation.on_rank();
  RankMatrix& restriction = from.restriction.on_rank();
  PetscCall(bring(from.a, false, &to.a, &parts.a, &parts.outer[0]));
  if (level == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bring(interpolation, true, &to.interpolation, &parts.interpolation, &parts.outer[1]));
  PetscCall(bring(restriction, true, &to.restriction, &parts.restriction, &parts.outer[2]));
  if (place >= dealt_out_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { ranks_.levels[place] = {from.a.outer(), interpolation.outer(), restriction.outer()}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_smoothers(PC pc, const Seen& seen, Reason* why_not) {
  PetscFunctionBegin;
  const Context& context = place_->context;
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const auto level = static_cast<int>(k);
    const bool whole = reach_of(k) == RankMatrix::Reach::whole;
    const PC_MG_Levels& own = level_of(pc, level);
    const Refusal refuse(level, preconditioner_name, why_not);
    if (level == 0 && seen.inverts) {
      PetscCall(inverse_.find(pc, context, Refusal(0, solver_name, why_not)));
      continue;
    }
    PetscCall(levels_[k]->before.bring(own.smoothd->pc, context, whole, refuse));
    if (smooths_after(pc, level) && own.smoothu != own.smoothd)
      PetscCall(levels_[k]->after.bring(own.smoothu->pc, context, whole, refuse));
    PetscCall(bring_null_spaces(pc, k, why_not));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_null_spaces(PC pc, std::size_t level, Reason* why_not) {
  PetscFunctionBegin;
  const Refusal refuse(static_cast<int>(level), operator_name, why_not);
  CycleLevel& to = cycle_levels_[place_of(level)];
  LevelParts& parts = parts_.levels[place_of(level)];
  Mat a = nullptr;
  MatNullSpace space = nullptr;
  PetscCall(KSPGetOperators(level_of(pc, static_cast<int>(level)).smoothd, &a, nullptr));
  PetscCall(MatGetNullSpace(a, &space));
  const bool whole = is_on_ranks(a) && reach_of(level) == RankMatrix::Reach::whole;
  PetscCall(bring_null_space(space, place_->context, to.a.pattern.rows, whole, &levels_[level]->null_space,
                             &to.null_space, refuse));
  PetscCall(MatGetTransposeNullSpace(a, &space));
  PetscCall(bring_null_space(space, place_->context, to.a.pattern.rows, whole, &levels_[level]->left_null_space,
                             &to.left_null_space, refuse));
  PetscCall(guarded([&] {
    parts.null_space = to.null_space;
    parts.left_null_space = to.left_null_space;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Hierarchy::collect_smoother(const SmootherSeen& seen, const SmootherMap& map, CycleSmoother* smoother,
                                 SmootherParts* parts) {
  smoother->steps = parts->steps = seen.steps;
  smoother->preconditioner = map.map();
  parts->map = map.map();
  parts->diagonal = map.map() ? map.map()->diagonal() : nullptr;
  parts->launches = map.launches();
}

PetscErrorCode Hierarchy::collect(PC pc, const Seen& seen) {
  PetscFunctionBegin;
  PetscLogDouble times = 1.0;
  flops_ = 0.0;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const bool inverted = level == 0 && seen.inverts;
    const PC_MG_Levels& own = level_of(pc, static_cast<int>(level));
    const Level& kept = *levels_[level];
    const LevelSeen& was = seen.levels[level];
    CycleLevel& to = cycle_levels_[place_of(level)];
    LevelParts& parts = parts_.levels[place_of(level)];
    const SmootherMap& after = own.smoothu == own.smoothd ? kept.before : kept.after;
    PetscCall(guarded([&] {
      parts.visits = to.visits;
      if (!inverted) collect_smoother(was.before, kept.before, &to.before, &parts.before);
      if (level > 0) collect_smoother(was.after, after, &to.after, &parts.after);
    }));
    PetscLogDouble flops = 0.0;
    PetscCall(count_flops(pc, level, inverted, &flops));
    flops_ += times * flops;
    times *= to.visits;
  }
  parts_.form = seen.options.form;
  parts_.cycles = seen.options.cycles;
  parts_.dealt_out = dealt_out_;
  parts_.inverse = seen.inverts ? inverse_.elements() : nullptr;
  parts_.device = place_->context.device();
  parts_.threads = place_->context.threads();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a visit to a level in a multiplicative cycle.
PetscErrorCode Hierarchy::count_flops(PC pc, std::size_t level, bool inverted, PetscLogDouble* flops) const {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, static_cast<int>(level));
  const CycleLevel& made = cycle_levels_[place_of(level)];
  const Level& kept = *levels_[level];
  const auto rows = static_cast<PetscLogDouble>(made.a.pattern.rows);
  Mat a = nullptr;
  PetscLogDouble entries = 0.0;
  PetscLogDouble between = 0.0;
  PetscCall(KSPGetOperators(own.smoothd, &a, nullptr));
  PetscCall(count_entries(a, &entries));
  if (level > 0) {
    PetscCall(count_entries(levels_[level]->interpolation.matrix(), &between));
    between = 4.0 * between + 2.0 * entries;
  }
  *flops = inverted ? 2.0 * rows * rows
                    : flops_of(made.before, kept.before, entries, rows) +
                          flops_of(made.after, kept.after, entries, rows) + between;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring(PC pc, const Seen& seen, const std::optional<BackendSettings>& wanted,
                                Reason* why_not) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  PetscCall(share_error(comm, make_room(seen.levels.size())));
  PetscCall(choose_place(level_of(pc, levels_of(pc) - 1).smoothd, wanted, why_not));
  PetscCall(find_rows(pc));
  if (!why_not->given()) PetscCall(choose_dealt_out(pc, seen, why_not));
  if (why_not->given()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_matrices(pc, seen));
  PetscCall(share_error(comm, bring_matrices(seen)));
  PetscCall(bring_smoothers(pc, seen, why_not));
  PetscCall(agree(comm, PETSC_SUCCESS, why_not));
  if (!why_not->given()) PetscCall(share_error(comm, collect(pc, seen)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::reset() {
  PetscFunctionBegin;
  for (const auto& level : levels_) {
    PetscCall(level->a.reset());
    PetscCall(level->interpolation.reset());
    PetscCall(level->restriction.reset());
    PetscCall(level->before.reset());
    PetscCall(level->after.reset());
  }
  levels_.clear();
  cycle_levels_.clear();
  ranks_ = {};
  parts_ = {};
  PetscCall(inverse_.reset());
  place_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
