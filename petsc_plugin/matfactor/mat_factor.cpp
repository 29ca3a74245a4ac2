#include "matfactor/mat_factor.hpp"

#include "compat.hpp"
#include "mat/poison.hpp"
#include "mat/with_pattern.hpp"
#include "matfactor/factor_bridge.hpp"
#include "matfactor/factor_options.hpp"
#include "options.hpp"
#include "shared_error.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

struct FactorData {
  FactorKind kind = FactorKind::ilu;
  Settings settings;
  PetscReal fill_expected = 1.0;
  bool not_finite = false;  ///< numbers of the last numeric phase: no failure to PETSc, the next norm tells of them
  PetscLogDouble entries_given = 0.0;  ///< of the matrix, or of its upper triangle
  FactorBridge bridge{MeasureGrowth::no};
};

FactorData& data_of(Mat factor) { return *static_cast<FactorData*>(factor->data); }

/// Not where PETSc makes the factor: what fails there cannot be told as a failure of it.
PetscErrorCode make_data(Mat factor) {
  PetscFunctionBegin;
  if (!factor->data) PetscCall(guarded([&] { factor->data = new FactorData; }));
  data_of(factor).kind = factor->factortype == MAT_FACTOR_ILU ? FactorKind::ilu : FactorKind::ic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

FactorOptions options_of(Mat factor, const MatFactorInfo* info) {
  const auto shift = static_cast<MatFactorShiftType>(static_cast<int>(info->shifttype));
  const FactorData& data = data_of(factor);
  const auto levels = static_cast<PetscInt>(info->levels);
  return factor_options(data.kind, shift, info->shiftamount, info->zeropivot, levels, data.settings.factor.fill,
                        data.settings.factor.precision, data.settings.sweeps);
}

/// The factor may be that of one rank's block in a preconditioner of several, which PETSc tells of a failure, not of an
/// error: then an error of a phase is a failure. Else the error, if any, is returned.
PetscErrorCode settle_error(Mat factor, Mat matrix, PetscErrorCode error) {
  PetscFunctionBegin;
  if (static_cast<int>(error) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (matrix->erroriffailure == PETSC_TRUE || !others_may_wait()) PetscCall(error);
  PetscCall(report_swallowed_error("a factor cannot be made"));
  factor->factorerrortype = static_cast<int>(error) == PETSC_ERR_MEM ? MAT_FACTOR_OUTMEMORY : MAT_FACTOR_OTHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run_numeric(Mat factor, Mat matrix, const MatFactorInfo* info) {
  PetscFunctionBegin;
  FactorFailure failure;
  FactorOptions options;
  PetscCall(make_data(factor));
  const PetscErrorCode read = guarded([&] { options = options_of(factor, info); });
  if (static_cast<int>(read) != 0) (void)data_of(factor).bridge.drop_factor();  // PETSc takes the new values for taken
  PetscCall(read);
  PetscCall(data_of(factor).bridge.factor(matrix, options, matrix->erroriffailure == PETSC_TRUE, &failure));
  data_of(factor).not_finite = failure.error == MAT_FACTOR_OTHER;
  factor->factorerrortype = data_of(factor).not_finite ? MAT_FACTOR_NOERROR : failure.error;
  factor->factorerror_zeropivot_value = failure.zero_pivot_value;
  factor->factorerror_zeropivot_row = failure.zero_pivot_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat factor, Mat matrix, const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCall(settle_error(factor, matrix, run_numeric(factor, matrix, info)));
  factor->assembled = PETSC_TRUE;
  factor->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc looks for a failure of the numbers before MatSolve() alone.
template <class Object>
PetscErrorCode apply_operation(Mat factor, Apply operation, Object b, Object x) {
  PetscFunctionBegin;
  // The two enumerations count the same failures alike, as PETSc's own preconditioners rely on.
  if (factor->factorerrortype != MAT_FACTOR_NOERROR)
    PetscCall(poison(x, static_cast<PCFailedReason>(factor->factorerrortype)));
  else if (data_of(factor).not_finite)
    PetscCall(poison(x, PC_FACTOR_OTHER));
  else
    PetscCall(data_of(factor).bridge.apply(operation, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(Mat factor, Vec b, Vec x) { return apply_operation(factor, Apply::full, b, x); }
PetscErrorCode solve_transpose(Mat factor, Vec b, Vec x) { return apply_operation(factor, Apply::transposed, b, x); }
PetscErrorCode mat_solve(Mat factor, Mat b, Mat x) { return apply_operation(factor, Apply::full, b, x); }
PetscErrorCode mat_solve_transpose(Mat factor, Mat b, Mat x) {
  return apply_operation(factor, Apply::transposed, b, x);
}

/// For -ksp_pc_side symmetric. PETSc would say no more than that there is no such method.
PetscErrorCode apply_half(Mat factor, Apply operation, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCheck(data_of(factor).kind == FactorKind::ic, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "TaskDAG applies symmetrically (-ksp_pc_side symmetric) with -pc_type icc only");
  PetscCall(apply_operation(factor, operation, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode forward_solve(Mat factor, Vec b, Vec x) { return apply_half(factor, Apply::symmetric_left, b, x); }
PetscErrorCode backward_solve(Mat factor, Vec b, Vec x) { return apply_half(factor, Apply::symmetric_right, b, x); }

/// Entries of the part of the matrix that is factored.
PetscErrorCode count_entries(Mat matrix, FactorKind kind, PetscLogDouble* entries) {
  PetscFunctionBegin;
  MatInfo info;
  PetscBool upper_only = PETSC_FALSE;
  PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &upper_only));
  const bool whole = kind == FactorKind::ilu || upper_only;
  PetscInt block = 1;
  PetscCall(stored_block_size(matrix, &block));
  const auto diagonal = static_cast<PetscLogDouble>(matrix->rmap->n * block);
  *entries = whole ? info.nz_used : (info.nz_used + diagonal) / 2.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Backend, threads, schedules, where fill may be and precision, under the factor's own prefix.
PetscErrorCode read_settings(Mat factor) {
  PetscFunctionBegin;
  Settings& settings = data_of(factor).settings;
  PetscCall(guarded([&] { settings = {}; }));
  PetscOptionsBegin(PetscObjectComm(reinterpret_cast<PetscObject>(factor)),
                    reinterpret_cast<PetscObject>(factor)->prefix, "TaskDAG factor options", "Mat");
  PetscCall(read_options(PetscOptionsObject, by_package, &settings));
  PetscOptionsEnd();
  PetscCall(check_trace(settings.sweeps, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run_symbolic(Mat factor, Mat matrix, IS row, IS col, const MatFactorInfo* info) {
  PetscFunctionBegin;
  PetscCheck(info->usedt == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP, "TaskDAG has no drop tolerance");
  FactorOptions options;
  PetscCall(make_data(factor));
  FactorData& data = data_of(factor);
  PetscCall(read_settings(factor));
  PetscCall(guarded([&] { options = options_of(factor, info); }));
  // PCICC always asks for this shift, and PETSc's own factorisations of blocks know it as little as ours.
  const bool by_default = data.kind == FactorKind::ic && options.shift == ShiftType::positive_definite;
  PetscCall(data.bridge.analyse(matrix, row, col, options, {data.settings.factor.point_block, by_default},
                                data.settings.backend, data.settings.sweeps.trace_file));
  data.fill_expected = info->fill;
  PetscCall(count_entries(matrix, data.kind, &data.entries_given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat factor, Mat matrix, IS row, IS col, const MatFactorInfo* info) {
  PetscFunctionBegin;
  // Before the phase, which may fail: PETSc goes on to the next one with new values.
  if (factor->factortype == MAT_FACTOR_ILU)
    factor->ops->lufactornumeric = numeric;
  else
    factor->ops->choleskyfactornumeric = numeric;
  factor->ops->forwardsolve = forward_solve;
  factor->ops->backwardsolve = backward_solve;
  factor->ops->solve = solve;
  factor->ops->solvetranspose = solve_transpose;
  factor->ops->matsolve = mat_solve;
  factor->ops->matsolvetranspose = mat_solve_transpose;
  factor->factorerrortype = MAT_FACTOR_NOERROR;
  PetscCall(settle_error(factor, matrix, run_symbolic(factor, matrix, row, col, info)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode icc_symbolic(Mat factor, Mat matrix, IS perm, const MatFactorInfo* info) {
  return symbolic(factor, matrix, perm, perm, info);
}

PetscErrorCode get_info(Mat factor, MatInfoType, MatInfo* info) {
  PetscFunctionBegin;
  *info = {};
  info->block_size = 1.0;
  info->fill_ratio_given = 1.0;
  info->fill_ratio_needed = 1.0;
  if (!factor->data) PetscFunctionReturn(PETSC_SUCCESS);
  const std::optional<FactorizationInfo> sizes = data_of(factor).bridge.info();
  info->fill_ratio_given = data_of(factor).fill_expected;
  if (sizes) {
    const PetscLogDouble given = data_of(factor).entries_given;
    const auto block = static_cast<PetscLogDouble>(sizes->block_size);
    auto entries = static_cast<PetscLogDouble>(sizes->entries);
    // Of one triangle, as the entries that are given.
    if ((block > 1.0 || complex_scalars) && data_of(factor).kind == FactorKind::ic)
      entries = (entries + block * sizes->rows) / 2.0;
    info->block_size = block * block;
    if (given > 0.0) info->fill_ratio_needed = entries / given;
    info->nz_allocated = info->nz_used = entries;
    info->memory = static_cast<PetscLogDouble>(sizes->bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(Mat factor, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(factor));
  if (ascii && factor->data) PetscCall(end_view(comm, data_of(factor).bridge.view({viewer, comm})));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat factor) {
  PetscFunctionBegin;
  auto* data = static_cast<FactorData*>(factor->data);
  if (data) {
    PetscCall(data->bridge.reset());
    PetscCall(guarded([&] { delete data; }));
    factor->data = nullptr;
  }
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(factor), "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_solver_type(Mat, MatSolverType* type) {
  *type = MATSOLVERTASKDAG;
  return PETSC_SUCCESS;
}

PetscErrorCode create(Mat matrix, MatFactorType type, Mat* result) {
  PetscFunctionBegin;
  Mat factor = nullptr;
  PetscCall(MatCreate(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &factor));
  PetscCall(MatSetSizes(factor, matrix->rmap->n, matrix->cmap->n, matrix->rmap->N, matrix->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERTASKDAG, &reinterpret_cast<PetscObject>(factor)->type_name));
  PetscCall(MatSetUp(factor));

  if (type == MAT_FACTOR_ILU)
    factor->ops->ilufactorsymbolic = symbolic;
  else
    factor->ops->iccfactorsymbolic = icc_symbolic;
  factor->ops->getinfo = get_info;
  factor->ops->view = view;
  factor->ops->destroy = destroy;
  PetscCall(
      PetscObjectComposeFunction(reinterpret_cast<PetscObject>(factor), "MatFactorGetSolverType_C", get_solver_type));

  factor->factortype = type;
  factor->assembled = PETSC_TRUE;  // else -ksp_view says "not yet factored" for good
  factor->preallocated = PETSC_TRUE;
  factor->canuseordering = PETSC_TRUE;
  PetscCall(PetscFree(factor->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERTASKDAG, &factor->solvertype));
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, const_cast<char**>(&factor->preferredordering[type])));
  *result = factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_mat_factor() {
  PetscFunctionBegin;
  // MatSolverTypeRegister() looks at its list before it initialises the package: without this call the first
  // registration would drop PETSc's own factorisations, and ours would become the default.
  PetscCall(MatInitializePackage());
  // PETSc compares the beginning of a type's name and takes the first hit: longer names come first.
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQAIJCUSPARSE, MAT_FACTOR_ILU, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQAIJCUSPARSE, MAT_FACTOR_ICC, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQAIJ, MAT_FACTOR_ILU, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQAIJ, MAT_FACTOR_ICC, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQBAIJ, MAT_FACTOR_ILU, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQBAIJ, MAT_FACTOR_ICC, create));
  PetscCall(MatSolverTypeRegister(MATSOLVERTASKDAG, MATSEQSBAIJ, MAT_FACTOR_ICC, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
