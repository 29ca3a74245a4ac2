#include "ordering.hpp"

#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "taskdag/ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// Rows and columns get the same ordering. A matrix that stores one triangle only gives the same one as the full
/// matrix, since the graph of A + Aᵀ counts. Rows that PETSc has found to have the same pattern are ordered as one, and
/// MatGetOrdering() expands them: PETSc's own factorisations rely on such rows staying together.
PetscErrorCode reverse_cuthill_mckee_of(Mat matrix, MatOrderingType, IS* row, IS* col) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscBool done = PETSC_FALSE;
  const PetscInt* offsets = nullptr;
  const PetscInt* columns = nullptr;
  PetscCall(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_TRUE, &rows, &offsets, &columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "TaskDAG cannot read the pattern of a matrix of type %s",
             reinterpret_cast<PetscObject>(matrix)->type_name);
  std::vector<Index> order;
  PetscCall(guarded([&] { order = reverse_cuthill_mckee(CsrPattern{rows, rows, offsets, columns}); }));
  PetscCall(MatRestoreRowIJ(matrix, 0, PETSC_FALSE, PETSC_TRUE, &rows, &offsets, &columns, &done));
  PetscCall(
      ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(order.size()), order.data(), PETSC_COPY_VALUES, row));
  PetscCall(ISDuplicate(*row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_ordering() {
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGTASKDAGRCM, reverse_cuthill_mckee_of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
