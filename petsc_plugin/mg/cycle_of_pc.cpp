#include "mg/cycle_of_pc.hpp"

#include <utility>

#include "boundary.hpp"
#include "events.hpp"
#include "fresh_number.hpp"
#include "mat/poison.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {

PetscErrorCode CycleOfPc::take(PC pc) {
  PetscFunctionBegin;
  PCFailedReason failed = PC_NOERROR;
  why_not_ = {};
  unfinished_ = false;
  seen_ = {};
  PetscCall(PCGetFailedReason(pc, &failed));
  if (failed != PC_NOERROR) {
    why_not_.set("the preconditioner has failed");
    PetscCall(drop());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(follow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error of a sequential preconditioner cannot be returned where other ranks may wait: the cycle is PETSc's.
PetscErrorCode CycleOfPc::follow(PC pc) {
  PetscFunctionBegin;
  if (std::exchange(unfinished_, false)) why_not_ = {};
  const PetscErrorCode followed = follow_here(pc);
  if (static_cast<int>(followed) != 0) {
    unfinished_ = true;
    why_not_.set("an error was met");
    PetscCall(drop());
    if (!is_alone(PetscObjectComm(reinterpret_cast<PetscObject>(pc)))) PetscCall(followed);
    PetscCall(warn_of_error("a multigrid cycle is PETSc's and not TaskDAG's"));
  }
  if (why_not_.given())
    PetscCall(PetscInfo(pc, "The multigrid cycle is PETSc's and not TaskDAG's: %s\n", why_not_.text()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::follow_here(PC pc) {
  PetscFunctionBegin;
  Hierarchy::Seen now;
  PetscCall(Hierarchy::look_at(pc, &now, &why_not_));
  if (!why_not_.given() && (!cycle_ || now != seen_)) PetscCall(make(pc, &now));
  if (why_not_.given()) PetscCall(drop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::make(PC pc, Hierarchy::Seen* now) {
  PetscFunctionBegin;
  PetscCall(hierarchy_.bring(pc, *now, wanted_, &why_not_));
  if (why_not_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool kept = cycle_ && hierarchy_.parts() == parts_;
  Stream stream;
  if (on_cuda()) PetscCall(current_stream(&stream));
  if (on_cuda() && !kept) PetscCall(wait_for_current_stream());  // the constructor reads patterns and values
  PetscCall(guarded([&] {
    if (kept) {
      cycle_->take_values(stream);
    } else {
      cycle_.reset();
      cycle_.emplace(hierarchy_.place().context, hierarchy_.levels(), hierarchy_.inverse(), now->options);
      launches_ = fresh_number();
    }
    parts_ = hierarchy_.parts();
    seen_ = std::move(*now);
  }));
  PetscCall(PetscInfo(pc, "The multigrid cycle is TaskDAG's: %s\n",
                      kept ? "new numbers, what was set up is kept" : "set up"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::drop() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { cycle_.reset(); }));
  seen_ = {};
  parts_ = {};
  PetscCall(hierarchy_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::apply(PC pc, Vec b, Vec x, bool* done) {
  PetscFunctionBegin;
  *done = false;
  if (cycle_ || unfinished_) PetscCall(follow(pc));
  if (!cycle_) PetscFunctionReturn(PETSC_SUCCESS);
  *done = true;
  EventScope event;
  PetscCall(event.begin(events().cycle, reinterpret_cast<PetscObject>(pc), reinterpret_cast<PetscObject>(b)));
  const PetscErrorCode ran = run(b, x);
  PetscCall(log_flops(on_cuda(), hierarchy_.flops()));
  if (static_cast<int>(ran) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!others_may_wait()) PetscCall(ran);
  PetscCall(report_swallowed_error("an application has met an error"));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscCall(poison(x, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::run(Vec b, Vec x) {
  PetscFunctionBegin;
  Arrays arrays;
  Stream stream;
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(open_arrays(b, x, on_cuda(), &arrays));
  if (on_cuda()) PetscCall(PetscLogGpuTimeBegin());
  const bool apart = on_cuda() && arrays.space == MemorySpace::host;
  const PetscErrorCode ran =
      apart ? run_by_copies(arrays, stream) : guarded([&] { cycle_->apply(arrays.b, arrays.x, stream); });
  if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(b, x, &arrays));
  PetscCall(ran);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of vectors in host memory, on a GPU.
PetscErrorCode CycleOfPc::run_by_copies(const Arrays& arrays, Stream stream) {
  PetscFunctionBegin;
  const double bytes = sizeof(double) * static_cast<double>(arrays.rows);
  PetscCall(guarded([&] {
    vectors_.take(hierarchy_.place().context, arrays);
    cycle_->apply(vectors_.b(), vectors_.x(), stream);
  }));
  PetscCall(wait_for_current_stream());
  PetscCall(guarded([&] { vectors_.give(arrays); }));
  PetscCall(log_staging(2.0 * bytes, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::prepare_for_arrays(PC pc, ArrayUse* use) {
  PetscFunctionBegin;
  *use = {};
  if (cycle_) PetscCall(follow(pc));
  if (!cycle_) PetscFunctionReturn(PETSC_SUCCESS);
  *use = {.backend = &hierarchy_.place(),
          .may_be_captured = cycle_->may_be_captured(),
          .flops = hierarchy_.flops(),
          .launches = launches_};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (why_not_.given())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: by PETSc, not TaskDAG: %s\n", why_not_.text()));
  if (!cycle_) PetscFunctionReturn(PETSC_SUCCESS);
  const CycleInfo info = cycle_->info();
  const Context& context = hierarchy_.place().context;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: by TaskDAG, %s, levels: %d; backend: %s, %s\n",
                                   to_string(parts_.form), static_cast<int>(parts_.levels.size()),
                                   to_string(context.backend()), context.device_name().c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  cycle: stages of an application: %d, preconditioners called beside them: %d, MB "
                                   "that they move: %g; work vectors, MB: %g\n",
                                   info.stages, info.calls, info.bytes_of_cycle / 1.0e6,
                                   static_cast<double>(info.bytes) / 1.0e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::reset() {
  PetscFunctionBegin;
  why_not_ = {};
  unfinished_ = false;
  PetscCall(drop());
  PetscCall(guarded([&] { vectors_ = {}; }));
  wanted_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
