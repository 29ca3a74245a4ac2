#include "ordering/orderings.hpp"

#include <algorithm>
#include <array>

#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "ordering/multicolour.hpp"
#include "ordering/rcm.hpp"
#include "shared_error.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// How to add an ordering: a function in files of its own, a name in taskdagpetsc.h, a row in the table below.
struct Ordering {
  const char* name;
  /// What MatGetOrdering() calls. It works where the matrix lies, and orders nodes as one: PETSc's own factorisations
  /// rely on that.
  PetscErrorCode (*make)(Mat matrix, MatOrderingType type, IS* row, IS* col);
  /// For a preconditioner of our own, which knows its backend and orders rows; null: the same as for PETSc's.
  PetscErrorCode (*make_on)(Mat matrix, PetscInt block_size, const BackendSettings& backend, IS* row, IS* col);
  /// The same without an index set; null as make_on.
  PetscErrorCode (*make_own)(Mat matrix, PetscInt block_size, const BackendSettings& backend, OwnOrder* order);
};

/// Whether MatGetOrdering() has been called by us, who share errors.
bool called_by_us = false;

PetscErrorCode natural_order(Mat matrix, IS* row, IS* col) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscInt block = 1;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(stored_block_size(matrix, &block));
  for (IS* const set : {row, col}) {
    PetscCall(ISDestroy(set));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, rows / block, 0, 1, set));
    PetscCall(ISSetIdentity(*set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc's own solver of a block calls: there an error would leave the other ranks in a collective call, and any
/// order will do.
template <auto make>
PetscErrorCode order_for_petsc(Mat matrix, MatOrderingType type, IS* row, IS* col) {
  PetscFunctionBegin;
  *row = *col = nullptr;
  const PetscErrorCode made = make(matrix, type, row, col);
  if (static_cast<int>(made) != 0 && !called_by_us &&
      is_alone(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)))) {
    PetscCall(warn_of_error("an ordering cannot be made, and the natural one takes its place,"));
    PetscCall(natural_order(matrix, row, col));
  } else {
    PetscCall(made);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr auto orderings = std::to_array<Ordering>({
    {MATORDERINGTASKDAGRCM, order_for_petsc<order_rcm>, nullptr, nullptr},
    {MATORDERINGTASKDAGCOLOR, order_for_petsc<order_color>, order_color_on, own_order_color},
    {MATORDERINGTASKDAGBMC, order_for_petsc<order_bmc>, order_bmc_on, own_order_bmc},
});

/// Null where another one's.
const Ordering* find_ordering(const std::string& name) {
  const auto* found =
      std::find_if(orderings.begin(), orderings.end(), [&](const Ordering& o) { return o.name == name; });
  return found != orderings.end() ? found : nullptr;
}

/// By rows, where PETSc orders blocks, too. PETSc's own orderings read rows: a matrix of a type that has none to lend
/// (dense, sell) is copied into rows for them.
PetscErrorCode order_by_petsc(Mat matrix, const char* name, IS* row, IS* col) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscInt block = 1;
  PetscBool lends_rows = PETSC_FALSE;
  Mat copy = nullptr;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(stored_block_size(matrix, &block));
  PetscCall(MatHasOperation(matrix, MATOP_GET_ROW_IJ, &lends_rows));
  if (!lends_rows && !find_ordering(name)) PetscCall(MatConvert(matrix, MATSEQAIJ, MAT_INITIAL_MATRIX, &copy));
  called_by_us = true;
  const PetscErrorCode ordered = MatGetOrdering(copy ? copy : matrix, name, row, col);
  called_by_us = false;
  PetscCall(MatDestroy(&copy));
  PetscCall(ordered);
  PetscCall(expand_row_order(row, rows, block));
  PetscCall(expand_row_order(col, rows, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_orderings() {
  PetscFunctionBegin;
  for (const Ordering& ordering : orderings) PetscCall(MatOrderingRegister(ordering.name, ordering.make));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_ordering(Mat matrix, const std::string& name, PetscInt block_size, const BackendSettings& backend,
                             IS* row, IS* col) {
  PetscFunctionBegin;
  const Ordering* const ours = find_ordering(name);
  if (ours && ours->make_on)
    PetscCall(ours->make_on(matrix, block_size, backend, row, col));
  else
    PetscCall(order_by_petsc(matrix, name.c_str(), row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_own_order(Mat matrix, const std::string& name, PetscInt block_size, const BackendSettings& backend,
                              OwnOrder* order) {
  PetscFunctionBegin;
  PetscCall(guarded([&] { *order = {}; }));
  const Ordering* const ours = find_ordering(name);
  if (ours && ours->make_own) PetscCall(ours->make_own(matrix, block_size, backend, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show_ordering_options() {
  PetscFunctionBegin;
  PetscInt rows = 0;
  OrderingOptions rcm;
  ColourForm color = ColourForm::automatic;
  PetscCall(read_rcm(nullptr, &rcm));
  PetscCall(read_color_form(nullptr, &color));
  PetscCall(read_bmc_block_size(nullptr, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
