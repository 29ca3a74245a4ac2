// What a preconditioner is and where it works.
#include "pc/access.hpp"
#include "taskdag/context.hpp"

using namespace taskdag::petsc;

const char* const PCTaskDAGTypes[] = {
#include <taskdag_settings/type_names.inc>
    "PCTaskDAGType", "PC_TASKDAG_", nullptr};
const char* const PCTaskDAGBackends[] = {"auto", "cuda", "host", "PCTaskDAGBackend", "PC_TASKDAG_BACKEND_", nullptr};

/*MC
  PCTASKDAG - Incomplete factorisations, SOR and Jacobi sweeps as tasks that depend on each other, on a GPU or on host
  threads

  Options Database Keys:
+ -pc_taskdag_type <ilu,icc,jacobi,sor,dilu,dic,auto,mg> - what it is; without it `PCTaskDAGSetType()` says what counts
- -pc_taskdag_backend <auto,cuda,host>                   - where it works

  Level: beginner

  Notes:
  With the type and the ordering of PETSc's own preconditioner it is the same one, with as many iterations.

  On several ranks it works on the rows and columns of each, as block Jacobi with one block a rank.

  -help shows all options; the setters of `PCILU`, `PCICC`, `PCSOR` and `PCJACOBI` are taken, too.

.seealso: `PCTaskDAGSetType()`, `PCTaskDAGSetBackend()`, `PCILU`, `PCICC`, `PCSOR`, `PCJACOBI`
M*/

/*MC
  MATSOLVERTASKDAG - Incomplete factorisations by TaskDAG inside `PCILU` and `PCICC`, and wherever PETSc factors a
matrix incompletely

  Options Database Key:
. -pc_factor_mat_solver_type taskdag - takes it

  Level: beginner

.seealso: `PCTASKDAG`, `PCFactorSetMatSolverType()`
M*/

static_assert(static_cast<int>(taskdag::Backend::automatic) == PC_TASKDAG_BACKEND_AUTO);
static_assert(static_cast<int>(taskdag::Backend::cuda) == PC_TASKDAG_BACKEND_CUDA);
static_assert(static_cast<int>(taskdag::Backend::host) == PC_TASKDAG_BACKEND_HOST);

// The setters and getters, which declared/generate.py makes, with their manual pages.
#include <taskdag_settings/setters.inc>
