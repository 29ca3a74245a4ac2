#include "pc/complex_checks.hpp"

#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

struct Missing {
  bool asked;
  const char* option;
  const char* instead;
};

}  // namespace

PetscErrorCode check_complex(const Settings& settings) {
  PetscFunctionBegin;
  const FactorSettings& factor = settings.factor;
  const bool jacobi = settings.type == PC_TASKDAG_JACOBI;
  const bool several = jacobi && !settings.block_jacobi.used && settings.jacobi.sweeps > 1;
  const bool other_diagonal = settings.jacobi.diagonal != JacobiDiagonal::diagonal || settings.jacobi.absolute;
  const bool graph = settings.block_jacobi.source == JacobiBlockSource::graph || settings.block_jacobi.block_size > 0;
  const Missing all[] = {
      {settings.type == PC_TASKDAG_AUTO, "-pc_taskdag_type auto", "name a type"},
      {settings.type == PC_TASKDAG_MG, "-pc_taskdag_type mg", "PETSc's own -pc_type gamg takes its smoothers"},
      {settings.across == Across::on, "-pc_taskdag_across on", "each rank has its own rows"},
      {settings.eisenstat, "-pc_taskdag_eisenstat", "PETSc's -pc_type eisenstat has it"},
      {factor.precision == Precision::in_single, "-pc_taskdag_precision single", "double is there"},
      {factor.icc_shift == IccShift::scaled, "-pc_taskdag_icc_shift scaled", "petsc is there"},
      {jacobi && graph && settings.block_jacobi.used, "blocks of the graph for Jacobi", "the matrix' own are there"},
      {several && other_diagonal, "several Jacobi sweeps but by the diagonal", "one is there"},
      {jacobi && settings.jacobi.diagonal == JacobiDiagonal::row_l1, "-pc_taskdag_jacobi_type rowl1",
       "rowmax is there"},
      {jacobi && settings.jacobi.form != JacobiForm::automatic, "-pc_taskdag_jacobi_form", "the form is chosen"},
  };
  for (const Missing& one : all)
    PetscCheck(!one.asked, PETSC_COMM_SELF, PETSC_ERR_SUP, "There is no %s for complex numbers yet: %s", one.option,
               one.instead);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
