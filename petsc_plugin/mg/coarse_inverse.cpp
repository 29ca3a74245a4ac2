#include "mg/coarse_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boundary.hpp"
#include "events.hpp"
#include "mat/held.hpp"
#include "mg/gather.hpp"
#include "mg/rank_matrix.hpp"

namespace taskdag::petsc {
namespace {

/// ‖A‖ ‖A⁻¹‖ of what is inverted; each digit of it is one that the product with the inverse loses.
/// It is found by a solver of PETSc's, in its precision.
constexpr double most_growth = single_scalars ? 1e5 : 1e12;

double largest_row_sum(const std::vector<double>& matrix, std::size_t rows) {
  double largest = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < rows; ++j) sum += std::abs(matrix[i * rows + j]);
    if (!(sum <= largest)) largest = sum;  // NaN, too
  }
  return largest;
}

/// A solver of A / ‖A‖ in host memory, without the space on which that is nearly singular: PETSc's pseudo-inverse, by
/// all singular values above 1e-12. On several ranks each of them makes it.
PetscErrorCode make_pseudo_solver(Mat a, PetscReal norm, KSP* made) {
  PetscFunctionBegin;
  PC pc = nullptr;
  Held<Mat> scaled;
  Held<KSP> solver;
  PetscCall(MatConvert(a, is_on_ranks(a) ? MATMPIAIJ : MATDENSE, MAT_INITIAL_MATRIX, scaled.out()));
  PetscCall(MatScale(scaled, PetscReal(1.0) / norm));
  PetscCall(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), solver.out()));
  // Options without a prefix are the application's, for solvers of its own: to tell why they ended, for one.
  PetscCall(KSPSetOptionsPrefix(solver, "taskdag_coarse_"));
  PetscCall(KSPSetType(solver, KSPPREONLY));
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PCSetType(pc, PCSVD));
  PetscCall(KSPSetOperators(solver, scaled, scaled));
  PetscCall(KSPSetUp(solver));
  solver.swap(*made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A vector of that space which has a part along each of a basis: z − A⁺ A z, z being random.
PetscErrorCode find_singular_vector(KSP solver, Vec* vector) {
  PetscFunctionBegin;
  Mat a = nullptr;
  Held<Vec> z;
  Held<Vec> image;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatCreateVecs(a, z.out(), image.out()));
  PetscCall(VecSetRandom(z, nullptr));
  PetscCall(MatMult(a, z, image));
  PetscCall(VecDuplicate(z, vector));
  PetscCall(KSPSolve(solver, image, *vector));
  PetscCall(VecAYPX(*vector, -1.0, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is removed on the finest level; null: nothing, or it is the coarsest, too.
PetscErrorCode removed_space_of(PC mg, MatNullSpace* space) {
  PetscFunctionBegin;
  const int finest = levels_of(mg) - 1;
  Mat a = nullptr;
  *space = nullptr;
  PetscCall(KSPGetOperators(level_of(mg, finest).smoothd, &a, nullptr));
  if (finest > 0) PetscCall(MatGetNullSpace(a, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether what a vector of the coarsest level is on the finest one lies in that space.
PetscErrorCode is_removed(PC mg, MatNullSpace space, Vec coarsest, bool* removed) {
  PetscFunctionBegin;
  constexpr double most_left = 1e-6;  // of a unit; what is left stays in the preconditioner
  Mat a = nullptr;
  Held<Vec> vector;
  PetscReal left = 0.0;
  PetscCall(KSPGetOperators(level_of(mg, 0).smoothd, &a, nullptr));
  PetscCall(MatCreateVecs(a, vector.out(), nullptr));
  PetscCall(VecCopy(coarsest, vector));  // which is in host memory
  for (int level = 1; level < levels_of(mg); ++level) {
    Held<Vec> finer;
    PetscCall(KSPGetOperators(level_of(mg, level).smoothd, &a, nullptr));
    PetscCall(MatCreateVecs(a, finer.out(), nullptr));
    PetscCall(MatInterpolate(level_of(mg, level).interpolate, vector, finer));
    PetscCall(vector.share(finer));
  }
  PetscCall(VecNormalize(vector, nullptr));
  PetscCall(MatNullSpaceRemove(space, vector));
  PetscCall(VecNorm(vector, NORM_2, &left));
  *removed = left <= most_left;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// inverse: the rows of this rank.
PetscErrorCode CoarseInverse::solve(KSP solver, std::vector<double>* inverse, bool* failed) {
  PetscFunctionBegin;
  Mat a = nullptr;
  Held<Vec> b;
  Held<Vec> x;
  PetscInt rows = 0;
  PetscInt own_rows = 0;
  PetscInt first = 0;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatGetLocalSize(a, &own_rows, nullptr));
  PetscCall(MatGetOwnershipRange(a, &first, nullptr));
  PetscCall(MatCreateVecs(a, x.out(), b.out()));
  for (PetscInt column = 0; column < rows && !*failed; ++column) {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    const PetscScalar* elements = nullptr;
    PetscCall(VecSet(b, 0.0));
    PetscCall(VecSet(x, 0.0));  // where the solver is told of a guess
    if (column >= first && column < first + own_rows) PetscCall(VecSetValue(b, column, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetConvergedReason(solver, &reason));
    *failed = reason < 0;
    PetscCall(VecGetArrayRead(x, &elements));
    for (PetscInt row = 0; row < own_rows; ++row)
      (*inverse)[static_cast<std::size_t>(row) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(column)] =
          PetscRealPart(elements[row]);
    PetscCall(VecRestoreArrayRead(x, &elements));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All rows on each rank.
PetscErrorCode CoarseInverse::find_rows(KSP solver, std::vector<double>* inverse, bool* failed) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(solver));
  Mat a = nullptr;
  PetscInt rows = 0;
  PetscInt own_rows = 0;
  std::vector<double> own;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatGetLocalSize(a, &own_rows, nullptr));
  PetscCall(guarded(comm, [&] { own.resize(static_cast<std::size_t>(own_rows) * static_cast<std::size_t>(rows)); }));
  PetscCall(solve(solver, &own, failed));
  PetscCall(gather_all<double>(comm, MPI_DOUBLE, own, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// growth: not finite where the solver has failed.
PetscErrorCode CoarseInverse::measure(KSP solver, std::vector<double>* inverse, double* growth) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscInt rows = 0;
  PetscReal norm = 0.0;
  bool failed = false;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatNorm(a, NORM_INFINITY, &norm));
  PetscCall(find_rows(solver, inverse, &failed));
  const double largest = largest_row_sum(*inverse, static_cast<std::size_t>(rows));
  *growth = failed ? std::numeric_limits<double>::infinity() : norm * largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Only where it leaves out no more than what is removed on the finest level; else nothing is done.
PetscErrorCode CoarseInverse::leave_null_space_out(PC mg, std::vector<double>* inverse, double* growth) {
  PetscFunctionBegin;
  Mat a = nullptr;
  MatNullSpace space = nullptr;
  PetscReal norm = 0.0;
  bool removed = false;
  Held<KSP> solver;
  Held<Vec> vector;
  PetscCall(removed_space_of(mg, &space));
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(level_of(mg, 0).smoothd, &a, nullptr));
  PetscCall(MatNorm(a, NORM_INFINITY, &norm));
  PetscCall(make_pseudo_solver(a, norm, solver.out()));
  PetscCall(find_singular_vector(solver, vector.out()));
  PetscCall(is_removed(mg, space, vector, &removed));
  if (!removed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(measure(solver, inverse, growth));
  for (double& element : *inverse) element /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseInverse::find(PC mg, const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(mg));
  KSP const solver = level_of(mg, 0).smoothd;
  double growth = 0.0;
  std::vector<double> inverse;
  PetscCall(measure(solver, &inverse, &growth));
  if (std::isfinite(growth) && growth > most_growth) PetscCall(leave_null_space_out(mg, &inverse, &growth));
  if (!std::isfinite(growth)) refuse("has failed");
  if (growth > most_growth) refuse("is of an operator that is singular or nearly so");
  const std::size_t bytes = inverse.size() * sizeof(double);
  PetscCall(guarded(comm, [&] {
    if (inverse_.size() != bytes || device_ != context.device()) inverse_ = engine::Memory(context, bytes);
    device_ = context.device();
    inverse_.copy_in(0, inverse.data(), bytes);
  }));
  if (context.backend() == Backend::cuda) PetscCall(log_staging(static_cast<double>(bytes), 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseInverse::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { inverse_ = {}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
