#include "mg/smoother_map.hpp"

#include "boundary.hpp"
#include "events.hpp"
#include "ksp/plan.hpp"
#include "mat/arrays.hpp"
#include "pc/pc_taskdag.hpp"

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

/// PETSc's SOR.
class SorMap final : public LinearMap {
 public:
  SorMap(SorOfPc& sor, bool may_be_captured) : sor_(sor), may_be_captured_(may_be_captured) {}
  void apply(const double* x, double* y, Stream stream) override { sor_.apply(x, y, stream); }
  [[nodiscard]] bool may_be_captured() const override { return may_be_captured_; }

 private:
  SorOfPc& sor_;
  bool may_be_captured_;
};

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
  PetscBool sor = PETSC_FALSE;
  PetscCall(is_simple(pc, &none, &diagonal));
  PetscCall(is_taskdag(pc, &ours));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSOR, &sor));
  *kind = none ? Kind::none : diagonal ? Kind::diagonal : ours ? Kind::ours : sor ? Kind::sor : Kind::other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::look_at(PC pc, Seen* seen, const Refusal& refuse) {
  PetscFunctionBegin;
  Mat made_of = nullptr;
  PCFailedReason failed = PC_NOERROR;
  Kind kind = Kind::other;
  ArrayUse use;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(pc), &seen->pc));
  PetscCall(PCGetOperators(pc, nullptr, &made_of));
  PetscCall(read_state(made_of, &seen->matrix));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(find_kind(pc, &kind));
  if (kind == Kind::ours) PetscCall(prepare_for_arrays(pc, 0, &use));
  seen->diagonal = use.diagonal;
  seen->launches = use.launches;
  if (kind == Kind::sor) PetscCall(SorOfPc::look_at(pc, &seen->sor, refuse));
  if (failed != PC_NOERROR) refuse("has failed");
  if (kind == Kind::other) refuse("is PETSc's ", reinterpret_cast<PetscObject>(pc)->type_name);
  if (kind == Kind::ours && !use.backend) refuse("cannot be applied inside a cycle, or has failed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::bring(PC pc, const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  Kind kind = Kind::other;
  PetscObjectId id = 0;
  PetscCall(find_kind(pc, &kind));
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(pc), &id));
  PetscCall(pc_.share(pc));
  use_ = {};
  if (kind == Kind::ours) PetscCall(prepare_for_arrays(pc, 0, &use_));
  if (use_.backend && !works_in(use_, context)) {
    refuse("works on another backend than the cycle");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kind == Kind::diagonal) PetscCall(bring_diagonal(context));
  if (kind == Kind::sor) PetscCall(bring_sor(context, refuse));
  PetscCall(guarded([&] { take_map(kind, id); }));
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
  else if (kind == Kind::ours)
    map_ = std::make_unique<OursMap>(pc_, use_.may_be_captured);
  else if (kind == Kind::sor)
    map_ = std::make_unique<SorMap>(sor_, use_.may_be_captured);
}

PetscErrorCode SmootherMap::bring_diagonal(const Context& context) {
  PetscFunctionBegin;
  const bool cuda = context.backend() == Backend::cuda;
  Mat made_of = nullptr;
  Vec like = nullptr;
  PetscInt rows = 0;
  PetscCall(PCGetOperators(pc_, nullptr, &made_of));
  PetscCall(MatGetSize(made_of, &rows, nullptr));
  PetscCall(MatCreateVecs(made_of, nullptr, &like));
  const PetscErrorCode found = diagonal_.find(pc_, like);
  PetscCall(VecDestroy(&like));
  PetscCall(found);
  PetscCall(diagonal_.elements(cuda, &use_.diagonal));
  if (!use_.diagonal) PetscCall(copy_diagonal(context, rows, &use_.diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::bring_sor(const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  PetscCall(sor_.bring(pc_, context.backend(), &use_));
  if (!use_.backend) refuse("cannot divide by a diagonal entry");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To device memory, of a vector in host memory.
PetscErrorCode SmootherMap::copy_diagonal(const Context& context, PetscInt rows, const double** elements) {
  PetscFunctionBegin;
  const double* from = nullptr;
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(rows);
  PetscCall(elements_of(diagonal_.vector(), false, &from));
  PetscCall(guarded([&] {
    if (copy_.size() != bytes) copy_ = engine::Memory(context, bytes);
    copy_.copy_in(0, from, bytes);
  }));
  PetscCall(log_staging(static_cast<double>(bytes), 0.0));
  *elements = static_cast<const double*>(copy_.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmootherMap::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    map_.reset();
    copy_ = {};
  }));
  use_ = {};
  PetscCall(diagonal_.reset());
  PetscCall(sor_.reset());
  PetscCall(pc_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
