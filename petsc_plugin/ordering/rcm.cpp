#include "ordering/rcm.hpp"

#include <optional>
#include <vector>

#include "backend_choice.hpp"
#include "boundary.hpp"
#include "compat.hpp"
#include "mat/matrix_source.hpp"
#include "mat/pattern.hpp"
#include "taskdag/ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// Whether MatGetOrdering() orders the nodes in which PETSc has gathered rows of equal pattern, instead of rows.
PetscErrorCode has_nodes(Mat matrix, bool* found) {
  PetscFunctionBegin;
  PetscInt nodes = 0;
  PetscInt rows = 0;
  PetscInt* sizes = nullptr;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatInodeGetInodeSizes(matrix, &nodes, &sizes, nullptr));
  *found = sizes && nodes > 0 && nodes < rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The backend where the matrix lies: its device, else host threads.
PetscErrorCode backend_at(PetscInt rows, bool on_device, std::optional<BackendChoice>* backend) {
  BackendSettings settings;
  settings.wanted = on_device ? Backend::cuda : Backend::host;
  return choose_backend(settings, {rows, on_device}, backend);
}

/// Row by row, from the device's arrays where the matrix has such.
PetscErrorCode order_rows(Mat matrix, std::vector<Index>* order) {
  PetscFunctionBegin;
  MatrixSource source;
  std::optional<BackendChoice> backend;
  Stream stream;
  PetscCall(source.inspect(matrix, true));
  PetscCall(backend_at(source.rows(), source.on_device(), &backend));
  if (source.on_device()) PetscCall(current_stream(&stream));
  PetscCall(source.open(matrix, source.on_device()));
  PetscCall(guarded([&] {
    *order = reverse_cuthill_mckee(backend->context, source.view().pattern, source.space(), nullptr, stream);
  }));
  PetscCall(source.close());
  PetscCall(source.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The nodes' graph, which PETSc keeps on the host; MatGetOrdering() expands what it gets.
PetscErrorCode order_nodes(Mat matrix, std::vector<Index>* order) {
  PetscFunctionBegin;
  CsrPattern nodes;
  std::optional<BackendChoice> backend;
  PetscCall(open_pattern(matrix, PETSC_TRUE, &nodes));
  PetscCall(backend_at(nodes.rows, false, &backend));
  PetscCall(guarded([&] { *order = reverse_cuthill_mckee(backend->context, nodes); }));
  PetscCall(close_pattern(matrix, PETSC_TRUE, &nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows and columns get the same ordering. A matrix that stores one triangle only gives the same one as the full
/// matrix, since the graph of A + Aᵀ counts. Rows that PETSc has found to have the same pattern are ordered as one, and
/// MatGetOrdering() expands them: PETSc's own factorisations rely on such rows staying together.
PetscErrorCode reverse_cuthill_mckee_of(Mat matrix, MatOrderingType, IS* row, IS* col) {
  PetscFunctionBegin;
  bool nodes = false;
  std::vector<Index> order;
  PetscCall(has_nodes(matrix, &nodes));
  PetscCall(nodes ? order_nodes(matrix, &order) : order_rows(matrix, &order));
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
