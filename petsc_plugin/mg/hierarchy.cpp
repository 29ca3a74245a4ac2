#include "mg/hierarchy.hpp"

#include "boundary.hpp"
#include "mg/smoother.hpp"
#include "pc/pc_taskdag.hpp"

namespace taskdag::petsc {
namespace {

constexpr auto operator_name = "operator";
constexpr auto smoother_name = "smoother";
constexpr auto preconditioner_name = "preconditioner";
constexpr auto solver_name = "solver";

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
  PetscCall(MatGetNullSpace(a, &space));
  PetscCall(look_at_null_space(space, &seen->null_space, refuse));
  PetscCall(MatGetTransposeNullSpace(a, &space));
  PetscCall(look_at_null_space(space, &seen->left_null_space, refuse));
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

/// Lends the arrays of the matrices of all levels.
class Hierarchy::OpenLevels {
 public:
  PetscErrorCode open(Operand* operand, Mat matrix, bool any_shape, const Context& context) {
    PetscFunctionBegin;
    PetscCall(operand->look_at(matrix, any_shape, 1));
    PetscCall(guarded([&] { open_.push_back(std::make_unique<OpenMatrix>(operand->source)); }));
    PetscCall(open_.back()->open(matrix, context.backend() == Backend::cuda));
    PetscCall(operand->bring(matrix, context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close() {
    PetscFunctionBegin;
    for (const auto& one : open_) PetscCall(one->close());
    open_.clear();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  std::vector<std::unique_ptr<OpenMatrix>> open_;
};

PetscErrorCode Hierarchy::look_at(PC pc, Seen* seen, Reason* why_not) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  const int levels = levels_of(pc);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &ranks));
  if (ranks > 1) why_not->set("it is on several ranks");
  if (levels < 1 || !data_of_mg(pc).levels) why_not->set("it has no levels");
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
    while (levels_.size() < levels) levels_.push_back(std::make_unique<Level>());
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where it is wanted, else where the finest operator lies, or on a GPU where a preconditioner of ours there works on
/// one: then the matrices are copied.
PetscErrorCode Hierarchy::choose_place(KSP finest, const std::optional<BackendSettings>& wanted) {
  PetscFunctionBegin;
  Mat a = nullptr;
  bool ours = false;
  ArrayUse use;
  MatrixSource source;
  BackendSettings settings;
  PetscCall(is_taskdag(finest->pc, &ours));
  if (ours && !(wanted && wanted->wanted != Backend::automatic)) PetscCall(prepare_for_arrays(finest->pc, 0, &use));
  if (use.backend && use.backend->context.backend() == Backend::cuda) {
    PetscCall(guarded([&] { place_ = *use.backend; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetOperators(finest, &a, nullptr));
  PetscCall(source.inspect(a, false));
  settings.wanted = source.on_device() ? Backend::cuda : Backend::host;
  if (wanted) settings = *wanted;
  PetscCall(choose_backend(settings, {source.rows(), source.on_device()}, &place_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Opens one after the other, so that what a GPU is to read is there, and closes them: what is made of the arrays is
/// valid for as long as the states stay.
PetscErrorCode Hierarchy::bring_matrices(PC pc, const Seen& seen) {
  PetscFunctionBegin;
  OpenLevels open;
  PetscCall(guarded([&] {
    cycle_levels_.assign(levels_.size(), {});
    parts_ = {};
    parts_.levels.resize(levels_.size());
  }));
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    PetscCall(bring_operator(pc, seen, level, &open));
    if (level > 0) PetscCall(bring_transfers(pc, seen, level, &open));
  }
  PetscCall(open.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// That of an inverted level is not read.
PetscErrorCode Hierarchy::bring_operator(PC pc, const Seen& seen, std::size_t level, OpenLevels* open) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscInt rows = 0;
  CycleLevel& to = cycle_levels_[place_of(level)];
  PetscCall(KSPGetOperators(level_of(pc, static_cast<int>(level)).smoothd, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  to.a.pattern.rows = to.a.pattern.cols = static_cast<Index>(rows);
  if (level == 0 && seen.inverts) PetscFunctionReturn(PETSC_SUCCESS);
  Operand& operand = levels_[level]->a;
  PetscCall(open->open(&operand, a, false, place_->context));
  to.a = operand.view();
  parts_.levels[place_of(level)].a = operand.place();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_transfers(PC pc, const Seen& seen, std::size_t level, OpenLevels* open) {
  PetscFunctionBegin;
  const PC_MG_Levels& own = level_of(pc, static_cast<int>(level));
  Transfer& interpolation = levels_[level]->interpolation;
  Transfer& restriction = levels_[level]->restriction;
  CycleLevel& to = cycle_levels_[place_of(level)];
  LevelParts& parts = parts_.levels[place_of(level)];
  PetscCall(interpolation.take(own.interpolate, to.a.pattern.rows));
  PetscCall(restriction.take(own.restrct, cycle_levels_[place_of(level - 1)].a.pattern.rows));
  PetscCall(open->open(&interpolation.operand(), interpolation.matrix(), true, place_->context));
  PetscCall(open->open(&restriction.operand(), restriction.matrix(), true, place_->context));
  to.interpolation = interpolation.operand().view();
  to.restriction = restriction.operand().view();
  to.visits = seen.levels[level].visits;
  parts.interpolation = interpolation.operand().place();
  parts.restriction = restriction.operand().place();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_smoothers(PC pc, const Seen& seen, Reason* why_not) {
  PetscFunctionBegin;
  const Context& context = place_->context;
  for (std::size_t k = 0; k < levels_.size() && !why_not->given(); ++k) {
    const auto level = static_cast<int>(k);
    const PC_MG_Levels& own = level_of(pc, level);
    const Refusal refuse(level, preconditioner_name, why_not);
    if (level == 0 && seen.inverts) {
      PetscCall(inverse_.find(pc, context, Refusal(0, solver_name, why_not)));
      continue;
    }
    PetscCall(levels_[k]->before.bring(own.smoothd->pc, context, refuse));
    if (smooths_after(pc, level) && own.smoothu != own.smoothd)
      PetscCall(levels_[k]->after.bring(own.smoothu->pc, context, refuse));
    PetscCall(bring_null_spaces(pc, k, why_not));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hierarchy::bring_null_spaces(PC pc, std::size_t level, Reason* why_not) {
  PetscFunctionBegin;
  const bool cuda = place_->context.backend() == Backend::cuda;
  const Refusal refuse(static_cast<int>(level), operator_name, why_not);
  CycleLevel& to = cycle_levels_[place_of(level)];
  LevelParts& parts = parts_.levels[place_of(level)];
  Mat a = nullptr;
  MatNullSpace space = nullptr;
  PetscCall(KSPGetOperators(level_of(pc, static_cast<int>(level)).smoothd, &a, nullptr));
  PetscCall(MatGetNullSpace(a, &space));
  PetscCall(bring_null_space(space, cuda, to.a.pattern.rows, &to.null_space, refuse));
  PetscCall(MatGetTransposeNullSpace(a, &space));
  PetscCall(bring_null_space(space, cuda, to.a.pattern.rows, &to.left_null_space, refuse));
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
  PetscCall(make_room(seen.levels.size()));
  PetscCall(choose_place(level_of(pc, levels_of(pc) - 1).smoothd, wanted));
  PetscCall(bring_matrices(pc, seen));
  PetscCall(bring_smoothers(pc, seen, why_not));
  if (!why_not->given()) PetscCall(collect(pc, seen));
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
  parts_ = {};
  PetscCall(inverse_.reset());
  place_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
