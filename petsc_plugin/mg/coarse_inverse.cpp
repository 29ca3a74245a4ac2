#include "mg/coarse_inverse.hpp"

#include <algorithm>
#include <cmath>

#include "boundary.hpp"
#include "events.hpp"
#include "mat/held.hpp"

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

}  // namespace

PetscErrorCode CoarseInverse::solve(KSP solver, Vec b, Vec x, std::vector<double>* inverse, bool* failed) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscCall(VecGetSize(b, &rows));
  for (PetscInt column = 0; column < rows && !*failed; ++column) {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    const PetscScalar* elements = nullptr;
    PetscCall(VecSet(b, 0.0));
    PetscCall(VecSet(x, 0.0));  // where the solver is told of a guess
    PetscCall(VecSetValue(b, column, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetConvergedReason(solver, &reason));
    *failed = reason < 0;
    PetscCall(VecGetArrayRead(x, &elements));
    for (PetscInt row = 0; row < rows; ++row)
      (*inverse)[static_cast<std::size_t>(row) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(column)] =
          elements[row];
    PetscCall(VecRestoreArrayRead(x, &elements));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CoarseInverse::find(KSP solver, const Context& context, const Refusal& refuse) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscInt rows = 0;
  PetscReal norm = 0.0;
  Held<Vec> b;
  Held<Vec> x;
  std::vector<double> inverse;
  bool failed = false;
  PetscCall(KSPGetOperators(solver, &a, nullptr));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatNorm(a, NORM_INFINITY, &norm));
  PetscCall(MatCreateVecs(a, x.out(), b.out()));
  const auto size = static_cast<std::size_t>(rows);
  PetscCall(guarded([&] { inverse.resize(size * size); }));
  PetscCall(solve(solver, b, x, &inverse, &failed));
  const double growth = norm * largest_row_sum(inverse, size);
  if (failed || !std::isfinite(growth)) refuse("has failed");
  if (growth > most_growth) refuse("is of an operator that is singular or nearly so");
  const std::size_t bytes = inverse.size() * sizeof(double);
  PetscCall(guarded([&] {
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
