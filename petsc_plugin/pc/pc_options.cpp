#include "pc/pc_options.hpp"

#include <algorithm>
#include <ostream>

#include "boundary.hpp"
#include "ordering/orderings.hpp"

namespace taskdag::petsc {

std::vector<OptionRow> option_table() {
  std::vector<OptionRow> table{type_row()};
  const auto append = [&](const std::vector<OptionRow>& rows) { table.insert(table.end(), rows.begin(), rows.end()); };
  append(backend_rows());
  append(sweep_rows());
  for (const TypeOptions& options : type_options) append(options.rows());
  append(ordering_rows());
  table.push_back(auto_min_rows_row());
  table.push_back(mat_sor_row());
  return table;
}

void write_option_table(std::ostream& out) {
  out << "| Option | Default | Values | Meaning |\n|---|---|---|---|\n";
  for (const OptionRow& option : option_table())
    out << "| `" << option.name << "` | " << option.default_value << " | " << option.range << " | " << option.help
        << " |\n";
}

PetscErrorCode read_settings(OptionItems items, Settings* settings) {
  PetscFunctionBegin;
  PetscCall(read_type(items, settings));
  PetscCall(read_backend(items, &settings->backend));
  PetscCall(read_sweeps(items, &settings->sweeps));
  for (const TypeOptions& options : type_options) PetscCall(options.read(items, settings));
  PetscCall(guarded([&] { settle_type(settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_pc_options(OptionItems PetscOptionsObject, Settings* settings) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "TaskDAG options");
  PetscCall(read_settings(PetscOptionsObject, settings));
  // Read here for -help only; the values are taken where a backend is chosen, where an ordering is made, and where the
  // plugin is registered.
  PetscInt rows = default_auto_min_rows;
  PetscCall(read_auto_min_rows(&rows));
  bool mat_sor = false;
  PetscCall(read_mat_sor(&mat_sor));
  PetscCall(show_ordering_options());
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_settings(const Settings& settings) {
  PetscFunctionBegin;
  PetscCall(check_trace(settings.sweeps, settings.type == PC_TASKDAG_JACOBI && is_program(settings.jacobi.form)));
  PetscCall(check_jacobi(settings));
  PetscCall(check_block_jacobi(settings));
  PetscCall(check_eisenstat(settings));
  PetscCall(check_consolidate(settings));
  PetscCall(check_precision(settings));
  PetscCall(check_auto(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

bool same(const Settings& a, const Settings& b, bool (*TypeOptions::*compare)(const Settings&, const Settings&)) {
  return a.type == b.type && a.backend == b.backend && a.sweeps == b.sweeps &&
         std::all_of(type_options.begin(), type_options.end(),
                     [&](const TypeOptions& options) { return (options.*compare)(a, b); });
}

}  // namespace

bool same_setup(const Settings& a, const Settings& b) { return same(a, b, &TypeOptions::same); }

bool same_pattern(const Settings& a, const Settings& b) { return same(a, b, &TypeOptions::same_pattern); }

}  // namespace taskdag::petsc
