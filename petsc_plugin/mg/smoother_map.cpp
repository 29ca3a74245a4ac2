#include "mg/smoother_map.hpp"

#include "boundary.hpp"
#include "ksp/plan.hpp"
#include "mg/rank_matrix.hpp"
#include "mg/sor_of_pc.hpp"
#include "pc/pc_taskdag.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// A PC of type taskdag.
class OursMap final : public LinearMap {
 public:
  OursMap(const Held<PC>& pc, bool may_be_captured) : pc_(pc), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { apply_to_arrays(pc_, x, y, stream); }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }

 private:
  const Held<PC>& pc_;
  bool may_be_captured_;
};

/// What is ours on a rank without rows.
class EmptyMap final : public LinearMap {
 public:
  void apply(const double* /*x*/, double* /*y*/, Stream /*stream*/) override {}
};

PetscErrorCode has_rows(PC pc, bool* rows) {
  PetscFunctionBegin;
  Mat made_of = nullptr;
  PetscInt own = 0;
  PetscCall(PCGetOperators(pc, nullptr, &made_of));
  PetscCall(MatGetLocalSize(made_of, &own, nullptr));
  *rows = own > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool works_in(const ArrayUse& use, const Context& context) {
  const Context& own = use.backend->context;
  return own.backend() == context.backend() && (own.backend() == Backend::host || own.device() == context.device());
}

}  // namespace

PetscErrorCode SmootherMap::find_kind(PC pc, Kind* kind) {
  PetscFunctionBegin;
  bool none = false;
  bool diagonal = false;
  bool ours = false;
  bool blocks = false;
  PetscBool sor = PETSC_FALSE;
  PetscCall(is_simple(pc, &none, &diagonal));
  PetscCall(is_taskdag(pc, &ours));
  PetscCall(divides_by_blocks(pc, &blocks));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSOR, &sor));
  *kind = none       ? Kind::none
          : diagonal ? Kind::diagonal
          : ours     ? Kind::ours
          : sor      ? Kind::sor
          : blocks   ? Kind::blocks
                     : Kind::other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// After it, prepare_for_arrays() finds the matrix that it knows.
PetscErrorCode SmootherMap::meet(PC pc) {
  PetscFunctionBegin;
  Kind kind = Kind::other;
  ArrayUse use;
  PetscCall(find_kind(pc, &kind));
  if (kind == Kind::ours) PetscCall(prepare_for_arrays(pc, 0, &use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::can_be_whole(PC pc, bool* can) {
  PetscFunctionBegin;
  Kind kind = Kind::other;
  PetscCall(find_kind(pc, &kind));
  *can = kind == Kind::none || kind == Kind::diagonal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::look_at(PC pc, Seen* seen, const Refusal& refuse) {
  PetscFunctionBegin;
  Mat made_of = nullptr;
  PCFailedReason failed = PC_NOERROR;
  Kind kind = Kind::other;
  bool rows = true;
  ArrayUse use;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(pc), &seen->pc));
  PetscCall(has_rows(pc, &rows));
  PetscCall(PCGetOperators(pc, nullptr, &made_of));
  PetscCall(read_state(made_of, &seen->matrix));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(find_kind(pc, &kind));
  if (kind == Kind::ours) PetscCall(prepare_for_arrays(pc, 0, &use));
  seen->diagonal = use.diagonal;
  seen->launches = use.launches;
  if (kind == Kind::sor) PetscCall(look_at_sor(pc, &seen->sor, refuse));
  if (failed != PC_NOERROR) refuse("has failed");
  if (kind == Kind::other) refuse("is PETSc's ", reinterpret_cast<PetscObject>(pc)->type_name);
  if (kind == Kind::ours && map_over_ranks(pc)) refuse("is TaskDAG's over all ranks");
  if (kind == Kind::ours && rows && !use.backend) refuse("cannot be applied inside a cycle, or has failed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::bring(PC pc, const Context& context, bool whole, const Refusal& refuse) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  Kind kind = Kind::other;
  PetscObjectId id = 0;
  PetscCall(find_kind(pc, &kind));
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(pc), &id));
  PetscCall(pc_.share(pc));
  use_ = {};
  if (kind == Kind::ours) PetscCall(share_error(comm, prepare_for_arrays(pc, 0, &use_)));
  if (use_.backend && !works_in(use_, context)) refuse("works on another backend than the cycle");
  if (kind == Kind::diagonal) PetscCall(bring_diagonal(context, whole));
  if (kind == Kind::sor || kind == Kind::blocks) PetscCall(bring_stand_in(kind, context, refuse));
  PetscCall(guarded(comm, [&] { take_map(kind, id); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A cycle is kept while its maps are.
void SmootherMap::take_map(Kind kind, PetscObjectId pc) {
  const bool same = map_ && kind == kind_ && pc == of_ && map_->diagonal() == use_.diagonal &&
                    map_->may_be_captured() == use_.may_be_captured;
  if (same) return;
  map_.reset();
  kind_ = kind;
  of_ = pc;
  if (use_.diagonal)
    map_ = std::make_unique<DiagonalMap>(use_.diagonal);
  else if (kind != Kind::none && kind != Kind::diagonal && !use_.backend)
    map_ = std::make_unique<EmptyMap>();
  else if (kind == Kind::ours)
    map_ = std::make_unique<OursMap>(pc_, use_.may_be_captured);
  else if (kind == Kind::sor || kind == Kind::blocks)
    map_ = std::make_unique<StandInMap>(stand_in_, use_.may_be_captured);
}

PetscErrorCode SmootherMap::bring_diagonal(const Context& context, bool whole) {
  PetscFunctionBegin;
  Mat made_of = nullptr;
  Vec like = nullptr;
  PetscCall(PCGetOperators(pc_, nullptr, &made_of));
  PetscCall(MatCreateVecs(made_of, nullptr, &like));
  const PetscErrorCode found = diagonal_.find(pc_, like);
  PetscCall(VecDestroy(&like));
  PetscCall(found);
  if (whole && is_on_ranks(made_of))
    PetscCall(whole_diagonal_.find(diagonal_.vector(), context, &use_.diagonal));
  else
    PetscCall(share_error(pc_.comm(), diagonal_.elements(context, &use_.diagonal)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::bring_stand_in(Kind kind, const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  bool rows = true;
  PetscErrorCode brought = PETSC_SUCCESS;
  PetscCall(PCSetUp(pc_));
  PetscCall(has_rows(pc_, &rows));
  if (rows) {
    const auto bring = kind == Kind::sor ? bring_sor : bring_blocks;
    brought = bring(pc_, context.backend(), &stand_in_, &use_);
  }
  PetscCall(share_error(pc_.comm(), brought));
  if (rows && !use_.backend)
    refuse(kind == Kind::sor ? "cannot divide by a diagonal entry" : "cannot divide by a block");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    map_.reset();
    whole_diagonal_ = {};
  }));
  use_ = {};
  PetscCall(diagonal_.reset());
  PetscCall(stand_in_.reset());
  PetscCall(pc_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
