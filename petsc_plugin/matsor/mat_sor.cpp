#include "matsor/mat_sor.hpp"

#include <array>

#include "boundary.hpp"
#include "events.hpp"
#include "mat/local_block.hpp"
#include "matsor/sweeps_of_matrix.hpp"
#include "options.hpp"

namespace taskdag::petsc {
namespace {

using Operation = PetscErrorCode (*)(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
using Constructor = PetscErrorCode (*)(Mat);

constexpr const char* kAttachment = "TaskDAGMatSOR";

/// What travels with a matrix. PETSc keeps it for as long as the matrix.
struct Attachment {
  SweepsOfMatrix sweeps;
  Operation theirs = nullptr;
};

PetscErrorCode destroy_attachment(void* pointer) {
  PetscFunctionBegin;
  auto* const attachment = static_cast<Attachment*>(pointer);
  const PetscErrorCode ended = attachment->sweeps.reset();
  PetscCall(guarded([&] { delete attachment; }));
  PetscCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null where nothing is attached.
PetscErrorCode attachment_of(Mat matrix, Attachment** attachment) {
  PetscFunctionBegin;
  *attachment = nullptr;
  PetscObject object = nullptr;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(matrix), kAttachment, &object));
  if (object) {
    void* pointer = nullptr;
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &pointer));
    *attachment = static_cast<Attachment*>(pointer);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix may have got our operation with the content of another one, without what travels with that one.
PetscErrorCode attach(Mat matrix, Attachment** attachment) {
  PetscFunctionBegin;
  PetscCall(attachment_of(matrix, attachment));
  if (*attachment) PetscFunctionReturn(PETSC_SUCCESS);
  std::unique_ptr<Attachment> made;
  PetscCall(guarded([&] { made = std::make_unique<Attachment>(); }));
  *attachment = made.get();
  PetscContainer container = nullptr;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(set_container<destroy_attachment>(container, made.release()));
  PetscCall(
      PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), kAttachment, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode sweep(Mat matrix, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits,
                     Vec x) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().mat_sor, reinterpret_cast<PetscObject>(matrix), reinterpret_cast<PetscObject>(b)));
  Attachment* attachment = nullptr;
  PetscCall(attach(matrix, &attachment));
  PetscCall(attachment->sweeps.sweep(matrix, b, omega, flag, shift, its, lits, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode use_for_block(Mat block, bool use) {
  PetscFunctionBegin;
  const bool now = block->ops->sor == sweep;
  if (now == use) PetscFunctionReturn(PETSC_SUCCESS);
  Attachment* attachment = nullptr;
  PetscCall(attach(block, &attachment));
  if (use) {
    attachment->theirs = block->ops->sor;
    block->ops->sor = sweep;
  } else {
    PetscCheck(attachment->theirs, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatSOR() as it was before is not known");
    block->ops->sor = attachment->theirs;
    PetscCall(attachment->sweeps.reset());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Not MATSEQBAIJ: it gets its operation with its memory, after the constructor.
constexpr std::size_t kTypes = 3;
constexpr std::array<const char*, kTypes> type_names = {MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS};
/// PETSc's; null: ours is not registered, or PETSc has no such type.
std::array<Constructor, kTypes> petscs{};

template <std::size_t Type>
PetscErrorCode construct(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(petscs[Type](matrix));
  PetscCall(use_for_block(matrix, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
constexpr std::array<Constructor, kTypes> ours = {construct<0>, construct<1>, construct<2>};

}  // namespace

PetscErrorCode use_mat_sor_for_types(bool use) {
  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  for (std::size_t type = 0; type < kTypes; ++type) {
    Constructor registered = nullptr;
    PetscCall(PetscFunctionListFind(MatList, type_names[type], &registered));
    if (!registered || (registered == ours[type]) == use) continue;
    if (use) petscs[type] = registered;
    PetscCall(MatRegister(type_names[type], use ? ours[type] : petscs[type]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode use_mat_sor(Mat matrix, bool use) {
  PetscFunctionBegin;
  Mat block = nullptr;
  PetscBool fits = PETSC_FALSE;
  PetscCall(local_block(matrix, &block));
  PetscCall(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(block), &fits, MATSEQAIJ, MATSEQBAIJ, ""));
  PetscCheck(fits, PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), PETSC_ERR_SUP,
             "MatSOR() by TaskDAG is for matrices of type %s and what is derived of it, and %s, not for %s", MATAIJ,
             MATBAIJ, reinterpret_cast<PetscObject>(matrix)->type_name);
  PetscCall(use_for_block(block, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode uses_mat_sor(Mat matrix, bool* uses) {
  PetscFunctionBegin;
  Mat block = nullptr;
  PetscCall(local_block(matrix, &block));
  *uses = block->ops->sor == sweep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_mat_sor() {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(read_titled(nullptr, by_mat_sor, &settings));
  if (settings.shared.mat_sor) PetscCall(use_mat_sor_for_types(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
