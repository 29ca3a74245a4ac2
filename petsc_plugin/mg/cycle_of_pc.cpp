#include "mg/cycle_of_pc.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "boundary.hpp"
#include "events.hpp"
#include "fresh_number.hpp"
#include "mat/poison.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// How long a rank waits for those that need not be there any more, beyond what the cycle waits.
constexpr double short_wait_s = 5.0;

}  // namespace

PetscErrorCode CycleOfPc::take(PC pc) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  PCFailedReason failed = PC_NOERROR;
  why_not_ = {};
  unfinished_ = false;
  seen_ = {};
  PetscCall(ranks_.take(comm));
  PetscCall(PCGetFailedReason(pc, &failed));
  if (failed != PC_NOERROR) why_not_.set("the preconditioner has failed");
  if (complex_scalars) why_not_.set("its numbers are complex");
  if (!ranks_.on_one_node()) why_not_.set("its ranks are not all on one node");
  PetscCall(agree(comm, PETSC_SUCCESS, &why_not_));
  if (why_not_.given()) {
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
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  Hierarchy::Seen now;
  PetscCall(Hierarchy::set_smoothers_up(pc));
  PetscErrorCode looked = Hierarchy::look_at(pc, &now, &why_not_);
  bool lost = false;
  if (static_cast<int>(looked) == 0) looked = guarded([&] { lost = cycle_ && cycle_->has_lost_rank(); });
  std::array<int, 2> any = {!cycle_ || now != seen_ ? 1 : 0, lost ? 1 : 0};
  PetscCall(agree(comm, looked, &why_not_, any));
  if (any[1] != 0) PetscCall(guarded([&] { cycle_.reset(); }));  // ranks have left each other in an application
  if (!why_not_.given() && (any[0] != 0 || !cycle_)) PetscCall(make(pc, &now));
  if (why_not_.given()) PetscCall(drop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOfPc::make(PC pc, Hierarchy::Seen* now) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  Stream stream;
  PetscCall(hierarchy_.bring(pc, *now, wanted_, &why_not_));
  if (why_not_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  std::array<int, 1> is_other = {cycle_ && hierarchy_.parts() == parts_ ? 0 : 1};
  PetscCall(agree(comm, PETSC_SUCCESS, &why_not_, is_other));
  const bool kept = is_other[0] == 0;
  if (!kept) PetscCall(construct(pc, now->options));
  if (why_not_.given()) PetscFunctionReturn(PETSC_SUCCESS);
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(guarded(comm, [&] {
    if (kept) cycle_->take_values(stream);
    parts_ = hierarchy_.parts();
    seen_ = std::move(*now);
  }));
  PetscCall(PetscInfo(pc, "The multigrid cycle is TaskDAG's: %s\n",
                      kept ? "new numbers, what was set up is kept" : "set up"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The library's constructor is collective. Where ranks do not reach each other's memory it is no error.
PetscErrorCode CycleOfPc::construct(PC pc, const CycleOptions& options) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  CycleRanks ranks;
  if (on_cuda()) PetscCall(wait_for_current_stream());  // the constructor reads patterns and values
  PetscCall(guarded(comm, [&] {
    cycle_.reset();
    ranks = hierarchy_.ranks();
    ranks.group = &ranks_;
  }));
  PetscCall(ranks_.work(comm, [&] {
    const Context& context = hierarchy_.place().context;
    if (ranks_.count() == 1) {
      cycle_.emplace(context, hierarchy_.levels(), hierarchy_.inverse(), options);
    } else {
      try {
        cycle_.emplace(context, hierarchy_.levels(), hierarchy_.inverse(), options, ranks);
      } catch (const Unsupported& error) {
        why_not_.set(error.what());
      }
    }
  }));
  launches_ = fresh_number();
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
  const PetscErrorCode ran = ranks_.count() > 1 ? run_with_others(b, x) : run(b, x);
  PetscCall(log_flops(on_cuda(), hierarchy_.flops()));
  if (static_cast<int>(ran) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (ranks_.count() > 1 || !others_may_wait()) PetscCall(ran);
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
  const PetscErrorCode ran = in_doubles(&arrays, &wide_, stream, [&] {
    return apart ? run_by_copies(arrays, stream) : guarded([&] { cycle_->apply(arrays.b, arrays.x, stream); });
  });
  if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(close_arrays(b, x, &arrays));
  PetscCall(ran);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error on one rank is one on all, and no rank waits for one that has ended.
PetscErrorCode CycleOfPc::run_with_others(Vec b, Vec x) {
  PetscFunctionBegin;
  PetscErrorCode ran = run(b, x);
  bool lost = false;
  if (static_cast<int>(ran) != 0) cycle_->lose();
  if (static_cast<int>(ran) == 0)
    ran = guarded([&] {
      lost = cycle_->has_lost_rank();
      if (lost) throw Error("another rank of this cycle has ended or does not answer");
    });
  const double patience_s = hierarchy_.ranks().patience_s;
  ran = ranks_.share_with_those_left(ran, lost ? short_wait_s : patience_s + short_wait_s);
  if (static_cast<int>(ran) != 0) unfinished_ = true;
  if (static_cast<int>(ran) != 0) PetscCall(drop());
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
  std::array<char, 64> ranks{};
  if (ranks_.count() > 1)
    std::snprintf(ranks.data(), ranks.size(), " (%d of them dealt out to %d ranks)", info.dealt_out, ranks_.count());
  const Context& context = hierarchy_.place().context;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: by TaskDAG, %s, levels: %d%s; backend: %s, %s\n",
                                   to_string(parts_.form), static_cast<int>(parts_.levels.size()), ranks.data(),
                                   to_string(context.backend()), context.device_name().c_str()));
  PetscCall(
      PetscViewerASCIIPrintf(viewer,
                             "  cycle%s: stages of an application: %d, preconditioners called beside them: %d, MB "
                             "that they move: %g; work vectors, MB: %g\n",
                             ranks_.count() > 1 ? " on the first rank" : "", info.stages, info.calls,
                             info.bytes_of_cycle / 1.0e6, static_cast<double>(info.bytes) / 1.0e6));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: transposed, and to several columns at once, by PETSc\n"));
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
