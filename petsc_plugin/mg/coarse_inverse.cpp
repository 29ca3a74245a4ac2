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
constexpr double most_growth = 1e12;

double largest_row_sum(const std::vector<double>& matrix, std::size_t rows) {
  double largest = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < rows; ++j) sum += std::abs(matrix[i * rows + j]);
    if (!(sum <= largest)) largest = sum;  // NaN, too
  }
  return largest;
}

/// x without its part along v, where what is orthogonal to w stays: x −= v wᵀx / wᵀv.
PetscErrorCode remove_along(Vec v, Vec w, Vec x) {
  PetscFunctionBegin;
  PetscScalar part = 0.0;
  PetscScalar scale = 0.0;
  PetscCall(VecDot(x, w, &part));
  PetscCall(VecDot(v, w, &scale));
  PetscCall(VecAXPY(x, -part / scale, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of length 1, by inverse iteration; null where the solver cannot solve the transposed system.
PetscErrorCode find_singular_vector(KSP solver, bool transposed, Vec* vector) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscBool there = PETSC_TRUE;
  Held<Vec> b;
  Held<Vec> x;
  if (transposed) PetscCall(PCApplyTransposeExists(solver->pc, &there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatCreateVecs(a, x.out(), b.out()));
  PetscInt rows = 0;
  PetscCall(VecGetSize(b, &rows));
  for (PetscInt i = 0; i < rows; ++i)
    PetscCall(VecSetValue(b, i, 1.0 + 0.1 * static_cast<double>(i % 7), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecSet(x, 0.0));
    PetscCall((transposed ? KSPSolveTranspose : KSPSolve)(solver, b, x));
    PetscCall(VecNormalize(x, nullptr));
    PetscCall(VecCopy(x, b));
  }
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(x.get())));
  *vector = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether what a coarsest vector is on the finest level lies in the null space that is removed there.
PetscErrorCode is_removed(PC mg, Vec coarsest, bool* removed) {
  PetscFunctionBegin;
  constexpr double most_left = 1e-6;  // of a unit; what is left stays in the preconditioner
  const int finest = levels_of(mg) - 1;
  Mat a = nullptr;
  MatNullSpace space = nullptr;
  Held<Vec> vector;
  PetscReal left = 0.0;
  *removed = false;
  PetscCall(KSPGetOperators(level_of(mg, finest).smoothd, &a, nullptr));
  PetscCall(MatGetNullSpace(a, &space));
  if (!space || finest == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(vector.share(coarsest));
  for (int level = 1; level <= finest; ++level) {
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

/// The vectors that make the operator and its transpose nearly singular, of length 1; null: none is known.
struct CoarseInverse::Singular {
  Held<Vec> right;
  Held<Vec> left;
};

/// inverse: the rows of this rank.
PetscErrorCode CoarseInverse::solve(KSP solver, const Singular& singular, std::vector<double>* inverse, bool* failed) {
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
    if (singular.right) PetscCall(remove_along(singular.right, singular.left, b));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetConvergedReason(solver, &reason));
    if (singular.right) PetscCall(remove_along(singular.right, singular.right, x));
    *failed = reason < 0;
    PetscCall(VecGetArrayRead(x, &elements));
    for (PetscInt row = 0; row < own_rows; ++row)
      (*inverse)[static_cast<std::size_t>(row) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(column)] =
          elements[row];
    PetscCall(VecRestoreArrayRead(x, &elements));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All rows on each rank.
PetscErrorCode CoarseInverse::find_rows(KSP solver, const Singular& singular, std::vector<double>* inverse,
                                        bool* failed) {
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
  PetscCall(solve(solver, singular, &own, failed));
  PetscCall(gather_all<double>(comm, MPI_DOUBLE, own, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// growth: not finite where the solver has failed.
PetscErrorCode CoarseInverse::measure(KSP solver, const Singular& singular, std::vector<double>* inverse,
                                      double* growth) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscInt rows = 0;
  PetscReal norm = 0.0;
  bool failed = false;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatNorm(a, NORM_INFINITY, &norm));
  PetscCall(find_rows(solver, singular, inverse, &failed));
  const double largest = largest_row_sum(*inverse, static_cast<std::size_t>(rows));
  *growth = failed ? std::numeric_limits<double>::infinity() : norm * largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseInverse::find(PC mg, const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(mg));
  KSP const solver = level_of(mg, 0).smoothd;
  Singular singular;
  double growth = 0.0;
  std::vector<double> inverse;
  PetscCall(measure(solver, singular, &inverse, &growth));
  if (!is_on_ranks(mg->pmat) && std::isfinite(growth) && growth > most_growth) {
    bool removed = false;
    PetscCall(find_singular_vector(solver, false, singular.right.out()));
    PetscCall(is_removed(mg, singular.right, &removed));
    if (removed) PetscCall(find_singular_vector(solver, true, singular.left.out()));
    if (singular.left) PetscCall(measure(solver, singular, &inverse, &growth));
  }
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
