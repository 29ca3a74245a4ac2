#include "pc/pc_taskdag.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/local_block.hpp"
#include "mat/off_diagonal.hpp"
#include "mat/poison.hpp"
#include "mat/state.hpp"
#include "pc/across.hpp"
#include "pc/consolidated.hpp"
#include "pc/eisenstat.hpp"
#include "pc/factor_type.hpp"
#include "pc/inner_mg.hpp"
#include "pc/jacobi_type.hpp"
#include "pc/pc_options.hpp"
#include "pc/preconditioner.hpp"
#include "pc/sor_type.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"
#include "taskdag/version.hpp"

namespace taskdag::petsc {
namespace {

/// A matrix and its pattern on this rank. PETSc's count for the whole is not enough: releases miss entries that are
/// added to the types by blocks, or come back to the same number.
struct PatternState {
  PetscObjectId matrix = 0;
  PetscObjectState pattern = 0;
  PetscObjectState block = 0;  ///< of the diagonal block
  PetscObjectId outside = 0;   ///< what lies beside it, which is another matrix with other columns
  double entries = 0.0;
  bool operator==(const PatternState&) const = default;
};

PetscErrorCode read_pattern_state(Mat matrix, Mat block, PatternState* state) {
  PetscFunctionBegin;
  Mat outside = nullptr;
  PetscBool has_info = PETSC_FALSE;
  PetscBool dense = PETSC_FALSE;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &state->matrix));
  PetscCall(MatGetNonzeroState(matrix, &state->pattern));
  PetscCall(MatGetNonzeroState(block, &state->block));
  // A dense matrix has entries where it is not 0, so new values may be new entries.
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &dense, MATSEQDENSE, MATMPIDENSE,
                                      MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  if (dense) PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &state->pattern));
  PetscCall(outside_part(matrix, &outside, nullptr));
  if (outside) PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(outside), &state->outside));
  PetscCall(MatHasOperation(matrix, MATOP_GETINFO, &has_info));
  if (has_info) {
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    state->entries = info.nz_used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// State behind a PC of this type.
struct Data {
  Settings settings;
  bool checked = false;                            ///< that the settings do not contradict each other
  std::unique_ptr<Preconditioner> preconditioner;  ///< of the type in the settings, or null: not made yet
  PCFailedReason failed = PC_NOERROR;              ///< the same on all ranks
  PetscErrorCode unread = PETSC_SUCCESS;           ///< why the options could not be read, which the next set-up tells
  Eisenstat eisenstat;
  InnerMg inner_mg;
  AcrossChoice across;                   ///< what -pc_taskdag_across auto has led to
  std::optional<PatternState> analysed;  ///< what the preconditioner was set up with
  bool repeat_numbers = false;           ///< where that is still there, the next set-up needs no analysis
  MatState numbers_of;                   ///< the matrix as it was at the last set-up
  MatState attached;                     ///< the matrix that the preconditioner has, as it was seen last
  bool in_loop = false;                  ///< a Krylov loop of TaskDAG is to apply it
  std::vector<PetscObjectId> solving;    ///< the KSPs that have begun a solve by pre_solve() and not ended it
};

Data& data_of(PC pc) { return *static_cast<Data*>(pc->data); }

const PcType& type_of(PC pc) { return *find_type(data_of(pc).settings.type); }

MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

bool works_across(const Data& data) {
  return data.settings.across == Across::on || (data.settings.across == Across::automatic && data.across.whole);
}

PetscErrorCode make_preconditioner(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (data.preconditioner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] {
    std::unique_ptr<Preconditioner> made =
        works_across(data) ? make_across(data.settings) : type_of(pc).make(data.settings);
    if (data.settings.consolidate.mode != Consolidate::off) made = consolidate(std::move(made), data.settings);
    data.preconditioner = std::move(made);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc keeps a reason until another one is set, whatever becomes of what has failed.
PetscErrorCode forget_failure(PC pc) {
  PetscFunctionBegin;
  data_of(pc).failed = PC_NOERROR;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscCall(forget_failure(pc));
  data.analysed.reset();
  data.repeat_numbers = false;
  data.numbers_of = {};
  data.attached = {};
  data.solving.clear();
  PetscCall(data.eisenstat.reset(pc));
  if (data.preconditioner) PetscCall(data.preconditioner->reset());
  PetscCall(guarded([&] { data.preconditioner.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCReset()
PetscErrorCode reset_all(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  PetscCall(reset_inner_mg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A failure on one rank is a failure of all: else some would go on into a collective operation.
PetscErrorCode share_failure(PC pc, MatFactorError error) {
  PetscFunctionBegin;
  // The two enumerations count the same failures alike, as PETSc's own factorisation preconditioners rely on.
  int mine = static_cast<int>(error);
  int worst = 0;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm_of(pc)));
  data_of(pc).failed = static_cast<PCFailedReason>(worst);
  PetscCall(PCSetFailedReason(pc, data_of(pc).failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode changes_rhs(PC pc, PetscBool* change) {
  *change = to_petsc(data_of(pc).settings.eisenstat);
  return PETSC_SUCCESS;
}

/// Whether an analysis of the last set-up is there, and of this very pattern. An analysis may be collective: all ranks
/// need one where one does.
PetscErrorCode find_analysis(PC pc, const PatternState& state, bool* found) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscMPIInt ranks = 1;
  const bool repeat_numbers = std::exchange(data.repeat_numbers, false);
  const bool set_up = repeat_numbers || (pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN);
  int same = set_up && data.analysed == state ? 1 : 0;
  data.analysed = state;
  PetscCallMPI(MPI_Comm_size(comm_of(pc), &ranks));
  if (ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_of(pc)));
  *found = same == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a set-up does before its first collective call.
PetscErrorCode prepare(PC pc, Mat* matrix, PatternState* state) {
  PetscFunctionBegin;
  PetscCall(forget_failure(pc));
  if (!data_of(pc).checked) PetscCall(check_settings(data_of(pc).settings));
  data_of(pc).checked = true;
  PetscCall(local_block(pc->pmat, matrix));
  PetscCall(make_preconditioner(pc));
  data_of(pc).preconditioner->expect_loop(data_of(pc).in_loop);
  PetscCall(data_of(pc).preconditioner->belong_to(pc));
  PetscCall(data_of(pc).preconditioner->attach(pc->pmat));
  PetscCall(read_pattern_state(pc->pmat, *matrix, state));
  // Solves that are under way are noted without memory: PETSc nests two.
  PetscCall(guarded([&] { data_of(pc).solving.reserve(2); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_matrix(PC pc, Mat matrix, bool analysed) {
  PetscFunctionBegin;
  Preconditioner& preconditioner = *data_of(pc).preconditioner;
  const bool error_if_failure = pc->erroriffailure == PETSC_TRUE;
  if (analysed)
    PetscCall(preconditioner.update(matrix, error_if_failure));
  else
    PetscCall(preconditioner.analyse(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_eisenstat(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  bool failed = false;
  if (data.failed == PC_NOERROR)
    PetscCall(share_error(
        comm_of(pc), data.eisenstat.set_up(pc, data.preconditioner.get(), data.settings.eisenstat_scaling, &failed)));
  if (failed) PetscCall(share_failure(pc, MAT_FACTOR_OTHER));
  if (data.failed != PC_NOERROR) PetscCall(data.eisenstat.fail(pc, data.failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -pc_taskdag_across auto: another choice than that of the set-up before needs another preconditioner.
PetscErrorCode settle_across(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  AcrossChoice choice;
  if (data.settings.across != Across::automatic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(choose_across(pc->pmat, data.settings, &choice));
  if (choice.whole != data.across.whole) PetscCall(reset(pc));
  data.across = choice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whatever fails on one rank alone is shared before the next collective call.
PetscErrorCode make_ready(PC pc) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  PatternState state;
  bool analysed = false;
  PetscCall(settle_across(pc));
  PetscCall(share_error(comm_of(pc), prepare(pc, &matrix, &state)));
  PetscCall(find_analysis(pc, state, &analysed));
  PetscCall(share_error(comm_of(pc), take_matrix(pc, matrix, analysed)));
  const std::optional<MatFactorError> failure = data_of(pc).preconditioner->failure();
  if (failure) PetscCall(share_failure(pc, *failure));
  // Numbers that are not finite are no failure to factor: as with PETSc's own the next norm tells of them.
  if (data_of(pc).failed == PC_FACTOR_OTHER) PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (data_of(pc).settings.eisenstat) PetscCall(set_up_eisenstat(pc));
  PetscCall(PetscInfo(pc, "TaskDAG's %s: %s%s\n", type_of(pc).name,
                      analysed ? "new numbers, the analysis is kept" : "analysed and set up",
                      data_of(pc).failed != PC_NOERROR ? ", has failed" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether an error of the set-up must become a failed reason: the preconditioner is sequential, and may be that of a
/// block inside another one whose ranks wait. All that PETSc nests has an options prefix; levels of nesting are not
/// always told to a preconditioner (3.26 makes it before it counts them). A program's own sequential solver with a
/// prefix looks the same.
bool cannot_return(PC pc) {
  PetscMPIInt ranks = 1;
  const char* prefix = nullptr;
  const bool known =
      MPI_Comm_size(comm_of(pc), &ranks) == MPI_SUCCESS && static_cast<int>(PCGetOptionsPrefix(pc, &prefix)) == 0;
  return known && ranks == 1 && prefix && *prefix && pc->erroriffailure != PETSC_TRUE && others_may_wait();
}

PetscErrorCode fail_alone(PC pc) {
  PetscFunctionBegin;
  // Options that could not be taken have been reported where they were read.
  if (static_cast<int>(data_of(pc).unread) == 0) PetscCall(report_swallowed_error("a preconditioner cannot be set up"));
  data_of(pc).failed = PC_SUBPC_ERROR;
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  if (data_of(pc).settings.eisenstat) PetscCall(data_of(pc).eisenstat.fail(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  PetscErrorCode ready = data_of(pc).unread;
  if (static_cast<int>(ready) == 0) ready = make_ready(pc);
  if (static_cast<int>(ready) == 0) ready = read_state(pc->pmat, &data_of(pc).numbers_of);
  data_of(pc).attached = data_of(pc).numbers_of;
  // PETSc has noted the state of the matrix before, and would take a repetition for done.
  if (static_cast<int>(ready) != 0) (void)start_over(pc);
  if (static_cast<int>(ready) != 0 && cannot_return(pc))
    PetscCall(fail_alone(pc));
  else
    PetscCall(ready);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// After an application by a preconditioner that has not failed. KSP looks at the reason where it meets the infinities
/// of a lost one; it does not outlast the next application.
PetscErrorCode note_lost_application(PC pc) {
  PetscFunctionBegin;
  const PCFailedReason now = data_of(pc).preconditioner->take_lost_application() ? PC_SUBPC_ERROR : PC_NOERROR;
  if (pc->failedreason != now) PetscCall(PCSetFailedReason(pc, now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is kept by PETSc is not set up again, whatever becomes of the matrix. What stands for the matrix itself goes on
/// with its values of now all the same, as PETSc's SOR and PCEISENSTAT do. Collective where the matrix has changed.
PetscErrorCode follow_matrix(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  MatState now;
  PetscCall(read_state(pc->pmat, &now));
  if (now == data.attached || !data.preconditioner) PetscFunctionReturn(PETSC_SUCCESS);
  if (data.settings.eisenstat || type_of(pc).follows_matrix) {
    data.repeat_numbers = true;
    PetscCall(set_up(pc));
  } else {
    PetscCall(data.preconditioner->attach(pc->pmat));
    data.attached = now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether what was set up has the numbers of the operator, so that it may stand for it.
PetscErrorCode has_numbers_of_operator(PC pc, bool* has) {
  PetscFunctionBegin;
  MatState now;
  PetscCall(read_state(pc->mat, &now));
  // PETSc's SOR iterates by the preconditioner's matrix, whatever the operator is.
  *has = type_of(pc).follows_matrix || now == data_of(pc).numbers_of;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x += S (b - A x), again and again, by the operator's own product.
PetscErrorCode iterate_by_product(PC pc, Vec b, Vec x, Vec rest, PetscInt its, bool from_zero) {
  PetscFunctionBegin;
  Held<Vec> step;
  PetscCall(VecDuplicate(x, step.out()));
  if (from_zero) PetscCall(VecSet(x, 0.0));
  for (PetscInt k = 0; k < its; ++k) {
    PetscCall(MatMult(pc->mat, x, rest));
    PetscCall(VecAYPX(rest, -1.0, b));
    PetscCall(data_of(pc).preconditioner->apply(Apply::full, rest, step));
    PetscCall(VecAXPY(x, 1.0, step));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_richardson(PC pc, Vec b, Vec x, Vec work, PetscReal /*rtol*/, PetscReal /*abstol*/,
                                PetscReal /*dtol*/, PetscInt its, PetscBool from_zero, PetscInt* done,
                                PCRichardsonConvergedReason* reason) {
  PetscFunctionBegin;
  bool by_numbers = false;
  PetscCall(follow_matrix(pc));
  PetscCall(has_numbers_of_operator(pc, &by_numbers));
  const bool failed = data_of(pc).failed != PC_NOERROR;
  if (failed)
    PetscCall(poison(x, data_of(pc).failed));
  else if (by_numbers)
    PetscCall(data_of(pc).preconditioner->iterate(b, x, its, from_zero == PETSC_TRUE));
  else
    PetscCall(iterate_by_product(pc, b, x, work, its, from_zero == PETSC_TRUE));
  if (!failed) PetscCall(note_lost_application(pc));
  *done = failed ? 0 : its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  if (failed) {
    // PETSc hands the address of KSP's reason on, and these count the failure of a preconditioner, too.
    const KSPConvergedReason failure = pc->failedreason == PC_NOERROR ? KSP_DIVERGED_NANORINF : KSP_DIVERGED_PC_FAILED;
    static_assert(sizeof(failure) == sizeof(*reason));
    std::memcpy(reason, &failure, sizeof(failure));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solve that an error or a monitor's exception has ended is not under way any more, although PETSc counts it: its
/// KSP begins another one.
PetscErrorCode forget_abandoned(PC pc, PetscObjectId ksp) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  const auto begun = std::ranges::find(data.solving, ksp);
  data.solving.erase(begun, data.solving.end());
  if (data.solving.empty()) PetscCall(data.eisenstat.restore(pc));
  pc->presolvedone = static_cast<PetscInt>(data.solving.size()) + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode pre_solve(PC pc, KSP ksp, Vec b, Vec x) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscObjectId id = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(ksp), &id));
  PetscCall(forget_abandoned(pc, id));
  // Where a setting or values have changed since the last solve, and the KSP was not told of a matrix, PETSc would set
  // up at the first application.
  PetscCall(PCSetUp(pc));
  PetscCall(follow_matrix(pc));
  if (data.settings.eisenstat)
    PetscCall(data.eisenstat.pre_solve(pc, ksp, b, x, data.solving.size()));
  else if (data.preconditioner)
    PetscCall(data.preconditioner->before_solve(pc, ksp));
  PetscCall(guarded([&] { data.solving.push_back(id); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode post_solve(PC pc, KSP ksp, Vec b, Vec x) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (data.solving.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  data.solving.pop_back();
  if (data.settings.eisenstat)
    PetscCall(data.eisenstat.post_solve(pc, b, x, data.solving.size()));
  else if (data.preconditioner)
    PetscCall(data.preconditioner->after_solve(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a Krylov method calls depends on the settings. To be called where these change, not at a set-up, which may come
/// inside a solve.
void set_operations(PC pc) {
  const bool eisenstat = data_of(pc).settings.eisenstat;
  const auto iterates = type_of(pc).iterates;
  const bool by_us = iterates != nullptr && iterates(data_of(pc).settings) && !eisenstat;
  pc->ops->applyrichardson = by_us ? apply_richardson : nullptr;
  const bool around = eisenstat || type_of(pc).watches_solves;
  pc->ops->presolve = around ? pre_solve : nullptr;
  pc->ops->postsolve = around ? post_solve : nullptr;
}

/// Called before a solve, whether the KSP was told of new values or not: PETSc would look at the last set-up's reason,
/// and set up at the first application.
PetscErrorCode set_up_before_solve(PC pc) {
  PetscFunctionBegin;
  PetscCheck(pc->mat, comm_of(pc), PETSC_ERR_ORDER, "Matrix must be set first: KSPSetOperators()");
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Object>
PetscErrorCode apply_part(PC pc, Apply part, Object b, Object x) {
  PetscFunctionBegin;
  PetscCall(follow_matrix(pc));
  if (data_of(pc).failed != PC_NOERROR) {
    PetscCall(poison(x, data_of(pc).failed));
  } else {
    PetscCall(data_of(pc).preconditioner->apply(part, b, x));
    PetscCall(note_lost_application(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Inside a solve by Eisenstat's trick the preconditioner is diagonal.
PetscErrorCode apply_vector(PC pc, Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  if (data_of(pc).settings.eisenstat && data_of(pc).failed == PC_NOERROR) {
    PetscCall(data_of(pc).eisenstat.apply(b, x));
    PetscCall(note_lost_application(pc));  // of the operator
  } else {
    PetscCall(apply_part(pc, part, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_columns(PC pc, Apply part, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCheck(!data_of(pc).settings.eisenstat, comm_of(pc), PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat changes the system, which PETSc does for one right-hand side at a time only");
  PetscCall(apply_part(pc, part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) { return apply_vector(pc, Apply::full, b, x); }
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) { return apply_vector(pc, Apply::transposed, b, x); }
PetscErrorCode mat_apply(PC pc, Mat b, Mat x) { return apply_columns(pc, Apply::full, b, x); }
PetscErrorCode mat_apply_transpose(PC pc, Mat b, Mat x) { return apply_columns(pc, Apply::transposed, b, x); }

PetscErrorCode apply_half(PC pc, Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(check_halves(comm_of(pc), type_of(pc)));
  PetscCheck(!data_of(pc).settings.eisenstat, comm_of(pc), PETSC_ERR_SUP,
             "-pc_taskdag_eisenstat and a symmetric application exclude each other");
  PetscCall(apply_part(pc, part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_left(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_left, b, x); }
PetscErrorCode apply_right(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_right, b, x); }

PetscErrorCode take_options(PC pc, OptionItems items) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(guarded([&] { settings = data_of(pc).settings; }));
  PetscCall(read_pc_options(items, &settings));
  PetscCall(check_settings(settings));
  PetscCall(take_settings(pc, std::move(settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(PC pc, OptionItems items) {
  PetscFunctionBegin;
  const PetscErrorCode read = share_error(comm_of(pc), take_options(pc, items));
  // The options of a block are read inside the set-up of another preconditioner, whose other ranks go on.
  const bool later = static_cast<int>(read) != 0 && cannot_return(pc);
  data_of(pc).unread = later ? read : PETSC_SUCCESS;
  if (later)
    PetscCall(report_swallowed_error("options cannot be taken"));
  else
    PetscCall(read);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_text(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  type: %s%s\n", type_of(pc).name,
                                   data_of(pc).settings.type_given ? "" : " (none was given)"));
  PetscCall(share_error(comm_of(pc), make_preconditioner(pc)));
  if (data_of(pc).settings.eisenstat)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Eisenstat's trick: the operator is %s\n",
                                     data_of(pc).settings.eisenstat_scaling == TransformScaling::symmetric
                                         ? "E^1/2 (E + L)^-1 A (E + U)^-1 E^1/2"
                                         : "(E + L)^-1 A (E + U)^-1"));
  const AcrossChoice& across = data_of(pc).across;
  if (data_of(pc).settings.across == Across::automatic && across.reason.given())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  across ranks: %s, auto: %s\n", across.whole ? "yes" : "no",
                                     across.reason.text()));
  PetscCall(data_of(pc).preconditioner->view({viewer, comm_of(pc)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(end_view(comm_of(pc), view_text(pc, viewer)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCPreSolveChangeRHS_C", present ? changes_rhs : nullptr));
  PetscCall(compose_jacobi_setters(pc, present));
  PetscCall(compose_sor_setters(pc, present));
  PetscCall(compose_factor_setters(pc, present));
  PetscCall(compose_inner_mg(pc, present));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  PetscCall(guarded([&] { delete static_cast<Data*>(pc->data); }));
  pc->data = nullptr;
  PetscCall(compose(pc, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool cited = PETSC_FALSE;  // since PetscInitialize()

/// For -citations; CITATION.cff says the same.
PetscErrorCode cite() {
  PetscFunctionBegin;
  std::string text;
  PetscCall(guarded([&] {
    text =
        "@misc{taskdag,\n"
        "  title  = {{TaskDAG}: a task-dependency engine for sparse solvers, and its {PETSc} plugin},\n"
        "  author = {{The TaskDAG authors}},\n"
        "  note   = {version " +
        std::to_string(TASKDAG_VERSION_MAJOR) + '.' + std::to_string(TASKDAG_VERSION_MINOR) + '.' +
        std::to_string(TASKDAG_VERSION_PATCH) + "},\n  year   = {2026}\n}\n";
  }));
  PetscCall(PetscCitationsRegister(text.c_str(), &cited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  PetscErrorCode made = cite();
  if (static_cast<int>(made) == 0) made = guarded([&] { pc->data = new Data; });
  made = share_error(comm_of(pc), made);
  if (static_cast<int>(made) != 0) {
    delete static_cast<Data*>(pc->data);
    pc->data = nullptr;
  }
  // PETSc has named the type before, and would take a repetition of PCSetType() for done.
  if (static_cast<int>(made) != 0) PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(pc), nullptr));
  PetscCall(made);
  pc->ops->setup = set_up;
  pc->ops->setuponblocks = set_up_before_solve;
  pc->ops->apply = apply;
  pc->ops->applytranspose = apply_transpose;
  pc->ops->matapply = mat_apply;
  set_optional_operations(pc, mat_apply_transpose);
  pc->ops->applysymmetricleft = apply_left;
  pc->ops->applysymmetricright = apply_right;
  pc->ops->setfromoptions = set_from_options;
  pc->ops->view = view;
  pc->ops->reset = reset_all;
  pc->ops->destroy = destroy;
  set_operations(pc);
  PetscCall(compose(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode is_taskdag(PC pc, bool* is) {
  PetscFunctionBegin;
  PetscBool same = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCTASKDAG, &same));
  *is = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode expect_loop(PC pc, bool expected) {
  PetscFunctionBegin;
  bool ours = false;
  PetscCall(is_taskdag(pc, &ours));
  if (ours) data_of(pc).in_loop = expected;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_for_arrays(PC pc, std::int64_t replays, ArrayUse* use) {
  PetscFunctionBegin;
  PetscCall(follow_matrix(pc));
  const Data& data = data_of(pc);
  *use = {};
  if (data.preconditioner && data.failed == PC_NOERROR && !data.settings.eisenstat)
    PetscCall(data.preconditioner->prepare_for_arrays(replays, use));
  use->has_parts = use->has_parts && type_of(pc).has_halves;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void apply_to_arrays(PC pc, const double* b, double* x, Stream stream) {
  data_of(pc).preconditioner->apply_to_arrays(b, x, stream);
}

void apply_to_columns(PC pc, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                      Stream stream) {
  data_of(pc).preconditioner->apply_to_columns(count, b, ldb, x, ldx, stream);
}

void apply_part_to_arrays(PC pc, Apply part, const double* b, double* x, Stream stream) {
  data_of(pc).preconditioner->apply_part_to_arrays(part, b, x, stream);
}

LinearMap* map_over_ranks(PC pc) {
  const Data& data = data_of(pc);
  return data.preconditioner ? data.preconditioner->map_over_ranks() : nullptr;
}

const Settings& settings_of(PC pc) { return data_of(pc).settings; }

InnerMg& inner_mg_of(PC pc) { return data_of(pc).inner_mg; }

PetscErrorCode start_over(PC pc) {
  PetscFunctionBegin;
  forget_setup(pc);
  PetscCall(reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_settings(PC pc, Settings&& settings) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (data.analysed && same_pattern(settings, data.settings)) {
    if (!same_setup(settings, data.settings)) {
      data.repeat_numbers = true;
      forget_setup(pc);
    }
  } else {
    PetscCall(start_over(pc));
  }
  data.settings = std::move(settings);
  data.checked = false;
  set_operations(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode change_settings(PC pc, const std::function<void(Settings&)>& change) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(guarded([&] {
    settings = settings_of(pc);
    change(settings);
    settle_type(&settings);
  }));
  PetscCall(take_settings(pc, std::move(settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_pc() {
  PetscFunctionBegin;
  cited = PETSC_FALSE;
  PetscCall(PCRegister(PCTASKDAG, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
