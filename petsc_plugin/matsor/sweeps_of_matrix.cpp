#include "matsor/sweeps_of_matrix.hpp"

#include <algorithm>
#include <limits>

#include "boundary.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Multigrid calls a matrix with one omega; two preconditioners of one matrix may have two.
constexpr std::size_t kMostSolvers = 4;

constexpr int kForward = SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP;
constexpr int kBackward = SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP;

/// On the rank's own rows a sweep is a local one. 0: neither.
int local_sweep(int flag) {
  return ((flag & kForward) != 0 ? SOR_LOCAL_FORWARD_SWEEP : 0) |
         ((flag & kBackward) != 0 ? SOR_LOCAL_BACKWARD_SWEEP : 0);
}

}  // namespace

PetscErrorCode SweepsOfMatrix::find(Mat matrix, PetscReal omega, PetscReal shift, Solver** solver) {
  PetscFunctionBegin;
  *solver = nullptr;
  auto found = std::ranges::find_if(
      solvers_, [&](const auto& one) { return one->settings.sor.omega == omega && one->settings.sor.shift == shift; });
  if (found == solvers_.end()) {
    if (solvers_.size() == kMostSolvers) {
      PetscCall(reset(solvers_.front().get()));
      solvers_.erase(solvers_.begin());
    }
    PetscCall(guarded([&] {
      auto one = std::make_unique<Solver>();
      one->settings.type = PC_TASKDAG_SOR;
      one->settings.sor.omega = omega;
      one->settings.sor.shift = shift;
      one->sor = make_sor(one->settings);
      solvers_.push_back(std::move(one));
    }));
  } else {
    std::rotate(found, found + 1, solvers_.end());
  }
  Solver& one = *solvers_.back();
  PetscObjectState values = 0;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &values));
  const bool stop = matrix->erroriffailure == PETSC_TRUE;
  if (one.pattern != matrix->nonzerostate) {
    one.pattern = -1;
    PetscCall(one.sor->analyse(matrix, stop));
  } else if (one.values != values) {
    one.values = -1;
    PetscCall(one.sor->update(matrix, stop));
  }
  one.pattern = matrix->nonzerostate;
  one.values = values;
  const MatFactorError failure = one.sor->failure().value_or(MAT_FACTOR_NOERROR);
  matrix->factorerrortype = failure == MAT_FACTOR_OTHER ? MAT_FACTOR_NOERROR : failure;
  *solver = &one;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = (E + L)⁻¹ A (E + U)⁻¹ b, which is x = (E + U)⁻¹ b, then
/// x += (E + L)⁻¹ (b − (2 E − D) x) (Eisenstat 1981).
PetscErrorCode SweepsOfMatrix::eisenstat(Mat matrix, Solver* solver, Vec b, Vec x) {
  PetscFunctionBegin;
  if (!solver->diagonal || solver->diagonal_values != solver->values) {
    if (!solver->diagonal) PetscCall(VecDuplicate(b, solver->diagonal.out()));
    PetscCall(MatGetDiagonal(matrix, solver->diagonal));
    PetscCall(solver->sor->set_diagonal(solver->diagonal, TransformScaling::none));
    solver->diagonal_values = solver->values;
  }
  PetscCall(solver->sor->half(Half::transformed, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SweepsOfMatrix::sweep(Mat matrix, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its,
                                     PetscInt lits, Vec x) {
  PetscFunctionBegin;
  PetscCheck(omega > 0.0 && omega < 2.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "SOR's omega must be more than 0 and less than 2, not %g", omega);
  const auto product = static_cast<double>(its) * static_cast<double>(lits);
  PetscCheck(product <= std::numeric_limits<int>::max(), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "so many SOR iterations are not possible: %g", product);
  const int bits = flag;
  const bool trick = (bits & SOR_EISENSTAT) != 0;
  const bool product_only = (bits & SOR_APPLY_UPPER) != 0;
  const int sweep = local_sweep(bits);
  PetscCheck((bits & SOR_APPLY_LOWER) == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "SOR_APPLY_LOWER is not there, as in PETSc's own matrices");
  PetscCheck((!trick && !product_only) || shift == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "SOR_EISENSTAT and SOR_APPLY_UPPER are there without a diagonal shift alone, not with %g", shift);
  PetscCheck(trick || product_only || sweep != 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "SOR without a sweep: flag %d",
             bits);
  Solver* solver = nullptr;
  const PetscErrorCode found = find(matrix, omega, shift, &solver);
  if (static_cast<int>(found) != 0 && matrix->erroriffailure != PETSC_TRUE && others_may_wait()) {
    PetscCall(report_swallowed_error("SOR cannot be set up"));
    matrix->factorerrortype = MAT_FACTOR_OTHER;
    PetscCall(poison(x, PC_SUBPC_ERROR));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(found);
  if (solver->sor->failure() == MAT_FACTOR_OTHER) {  // not finite: the next norm tells
    PetscCall(poison(x, PC_FACTOR_OTHER));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (trick) {
    PetscCall(eisenstat(matrix, solver, b, x));
  } else if (product_only) {
    PetscCall(solver->sor->half(Half::upper_product, b, x));
  } else {
    solver->settings.sor.sweep = static_cast<MatSORType>(sweep);
    PetscCall(solver->sor->iterate(b, x, its * lits, (bits & SOR_ZERO_INITIAL_GUESS) != 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SweepsOfMatrix::reset(Solver* solver) {
  PetscFunctionBegin;
  PetscCall(solver->sor->reset());
  PetscCall(solver->diagonal.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SweepsOfMatrix::reset() {
  PetscFunctionBegin;
  for (const auto& solver : solvers_) PetscCall(reset(solver.get()));
  solvers_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
