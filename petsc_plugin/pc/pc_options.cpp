#include "pc/pc_options.hpp"

#include <tuple>

#include "boundary.hpp"
#include "ordering/orderings.hpp"
#include "pc/across.hpp"
#include "pc/complex_checks.hpp"
#include "pc/consolidated.hpp"
#include "pc/factor_type.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

/// Before the type is settled it is auto, which reads what factors and Jacobi read.
PCTaskDAGType type_that_reads(const Settings& settings) {
  return settings.type_given ? settings.type : PC_TASKDAG_AUTO;
}

/// Reads for -help only; the values are taken where a backend is chosen, where an ordering is made, and where the
/// plugin is registered.
PetscErrorCode show_shared_options() {
  PetscFunctionBegin;
  Settings shared;
  PetscCall(read_titled(nullptr, by_backend_choice, &shared));
  PetscCall(read_titled(nullptr, by_mat_sor, &shared));
  PetscCall(show_ordering_options());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_precision(const Settings& settings) {
  PetscFunctionBegin;
  PetscCheck(
      find_type(settings.type)->factors || settings.factor.precision == Precision::in_double, PETSC_COMM_SELF,
      PETSC_ERR_ARG_INCOMP,
      "-pc_taskdag_precision %s is for the types ilu, icc, dilu and dic; %s reads the matrix' own values, in double",
      to_string(settings.factor.precision), find_type(settings.type)->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_jacobi(const Settings& a, const Settings& b) {
  const auto tied = [](const JacobiOptions& o) {
    return std::tie(o.sweeps, o.damping, o.weights, o.diagonal, o.l1_scale, o.absolute, o.form, o.part_entries,
                    o.long_row);
  };
  return tied(a.jacobi) == tied(b.jacobi) && a.block_jacobi == b.block_jacobi;
}

/// Eisenstat's trick is not for all sweeps, which its set-up looks at. Else they are the application's alone.
bool same_sor(const Settings& a, const Settings& b) {
  SorSettings other = b.sor;
  if (!a.eisenstat) {
    other.sweep = a.sor.sweep;
    other.iterations = a.sor.iterations;
    other.local_iterations = a.sor.local_iterations;
  }
  return a.sor == other;
}

}  // namespace

PetscErrorCode read_pc_options(OptionItems PetscOptionsObject, Settings* settings) {
  PetscFunctionBegin;
  const auto read = [&](Tier tier) { return read_tier(PetscOptionsObject, tier, type_that_reads, settings); };
  PetscOptionsHeadBegin(PetscOptionsObject, "TaskDAG options for users");
  PetscCall(read(Tier::user));
  PetscOptionsHeadBegin(PetscOptionsObject, "TaskDAG options for experts");
  PetscCall(read(Tier::expert));
  PetscOptionsHeadBegin(PetscOptionsObject, "TaskDAG options for studies");
  PetscCall(read(Tier::study));
  if (find_type(settings->type)->factors) PetscCall(refuse_other_options(PetscOptionsObject));
  PetscCall(guarded([&] { settle_type(settings); }));
  PetscCall(show_shared_options());
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_settings(const Settings& settings) {
  PetscFunctionBegin;
  if (complex_scalars) PetscCall(check_complex(settings));
  PetscCall(check_across(settings));
  PetscCall(check_consolidate(settings));
  PetscCall(check_precision(settings));
  PetscCall(find_type(settings.type)->check(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_pattern(const Settings& a, const Settings& b) {
  return a.type == b.type && a.backend == b.backend && a.mg_pc_type == b.mg_pc_type && a.sweeps == b.sweeps &&
         same_jacobi(a, b) && same_sor(a, b) && a.eisenstat == b.eisenstat &&
         a.eisenstat_scaling == b.eisenstat_scaling && a.consolidate == b.consolidate && a.across == b.across &&
         same_factor_pattern(a, b);
}

bool same_setup(const Settings& a, const Settings& b) { return same_pattern(a, b) && same_factor(a, b); }

}  // namespace taskdag::petsc
