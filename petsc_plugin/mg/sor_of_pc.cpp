#include "mg/sor_of_pc.hpp"

#include <limits>
#include <vector>

#include "mat/local_block.hpp"
#include "mat/with_pattern.hpp"
#include "matsor/mat_sor.hpp"
#include "mg/rank_matrix.hpp"

namespace taskdag::petsc {
namespace {

/// Whether PETSc takes rows of one pattern at once, and solves with their diagonal blocks.
PetscErrorCode sweeps_by_nodes(Mat matrix, const SorSettings& settings, bool* by_nodes) {
  PetscFunctionBegin;
  bool ours = false;
  std::vector<Index> begins;
  PetscCall(uses_mat_sor(matrix, &ours));
  PetscCall(find_nodes(matrix, &begins));
  *by_nodes = !ours && !begins.empty() && settings.omega == 1.0 && settings.shift == 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On several ranks PETSc has sweeps through each rank's own rows alone.
bool is_a_sweep(MatSORType sweep, bool on_ranks) {
  const int sweeps = (on_ranks ? 0 : SOR_SYMMETRIC_SWEEP) | SOR_LOCAL_SYMMETRIC_SWEEP;
  return (sweep & sweeps) != 0 && (sweep & ~sweeps) == 0;
}

}  // namespace

PetscErrorCode read_sor(PC pc, SorSettings* settings, bool* known) {
  PetscFunctionBegin;
  const auto& data = *static_cast<const SorData*>(pc->data);
  PetscCall(PCSORGetIterations(pc, &settings->iterations, &settings->local_iterations));
  PetscCall(PCSORGetSymmetric(pc, &settings->sweep));
  PetscCall(PCSORGetOmega(pc, &settings->omega));
  *known = data.iterations == settings->iterations && data.local_iterations == settings->local_iterations &&
           data.sweep == settings->sweep && data.omega == settings->omega;
  if (*known) settings->shift = data.shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode look_at_sor(PC pc, SorSettings* seen, const Refusal& refuse) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  Mat own = nullptr;
  PetscBool aij = PETSC_FALSE;
  bool known = false;
  bool by_nodes = false;
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), type_by_rows(matrix), &aij));
  PetscCall(read_sor(pc, seen, &known));
  if (!aij) refuse("is PETSc's sor of a matrix of type ", reinterpret_cast<PetscObject>(matrix)->type_name);
  if (!aij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(local_block(matrix, &own));
  PetscCall(sweeps_by_nodes(own, *seen, &by_nodes));
  const double sweeps = static_cast<double>(seen->iterations) * static_cast<double>(seen->local_iterations);
  if (!known || !is_a_sweep(seen->sweep, is_on_ranks(matrix)) || sweeps > std::numeric_limits<int>::max())
    refuse("is PETSc's sor with settings that are not known");
  if (is_on_ranks(matrix) && seen->iterations > 1) refuse("is PETSc's sor with several iterations over all ranks");
  if (by_nodes) refuse("is PETSc's sor by nodes, rows of one pattern at once: -mat_no_inode lets it take rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bring_sor(PC pc, Backend backend, StandIn* stand_in, ArrayUse* use) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  bool known = false;
  Settings settings;
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(read_sor(pc, &settings.sor, &known));
  settings.type = PC_TASKDAG_SOR;
  settings.backend.wanted = backend;
  PetscCall(stand_in->bring(matrix, settings, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
