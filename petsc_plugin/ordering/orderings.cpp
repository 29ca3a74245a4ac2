#include "ordering/orderings.hpp"

#include <algorithm>
#include <array>

#include "ordering/multicolour.hpp"
#include "ordering/rcm.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// How to add an ordering: a function in files of its own, a name in taskdagpetsc.h, a row in the table below.
struct Ordering {
  const char* name;
  /// What MatGetOrdering() calls. It works where the matrix lies, and orders nodes as one: PETSc's own factorisations
  /// rely on that.
  PetscErrorCode (*make)(Mat matrix, MatOrderingType type, IS* row, IS* col);
  /// For a preconditioner of our own, which knows its backend and needs no nodes; null: the same as for PETSc's.
  PetscErrorCode (*make_on)(Mat matrix, const BackendSettings& backend, IS* row, IS* col);
};

constexpr auto orderings = std::to_array<Ordering>({
    {MATORDERINGTASKDAGRCM, order_rcm, nullptr},
    {MATORDERINGTASKDAGCOLOR, order_color, order_color_on},
    {MATORDERINGTASKDAGBMC, order_bmc, order_bmc_on},
});

}  // namespace

PetscErrorCode register_orderings() {
  PetscFunctionBegin;
  for (const Ordering& ordering : orderings) PetscCall(MatOrderingRegister(ordering.name, ordering.make));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string ordering_names() {
  std::array<const char*, orderings.size()> names{};
  std::transform(orderings.begin(), orderings.end(), names.begin(), [](const Ordering& o) { return o.name; });
  return join(names);
}

PetscErrorCode make_ordering(Mat matrix, const std::string& name, const BackendSettings& backend, IS* row, IS* col) {
  PetscFunctionBegin;
  const auto* ours =
      std::find_if(orderings.begin(), orderings.end(), [&](const Ordering& o) { return o.name == name; });
  if (ours != orderings.end() && ours->make_on)
    PetscCall(ours->make_on(matrix, backend, row, col));
  else
    PetscCall(MatGetOrdering(matrix, name.c_str(), row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<OptionRow> ordering_rows() {
  std::vector<OptionRow> rows = rcm_rows();
  rows.push_back(color_form_row());
  rows.push_back(bmc_block_size_row());
  return rows;
}

PetscErrorCode show_ordering_options() {
  PetscFunctionBegin;
  PetscInt rows = 0;
  OrderingOptions rcm;
  ColourForm color = ColourForm::automatic;
  PetscCall(read_rcm(&rcm));
  PetscCall(read_color_form(&color));
  PetscCall(read_bmc_block_size(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
