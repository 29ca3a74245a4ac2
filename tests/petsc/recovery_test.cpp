// After a failed set-up: another type, other values, another pattern or another backend give what a new object gives.
#include <cmath>
#include <limits>

#include "support.hpp"
#include "support/without_diagonal.hpp"

namespace taskdag::test {
namespace {

constexpr const char* ours = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host ";

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 8, .ny = 8, .nz = 1}); }

CsrMatrix with_diagonal(double value, Index row) {
  CsrMatrix a = grid();
  for (Offset k = a.row_offsets[static_cast<std::size_t>(row)]; k < a.row_offsets[static_cast<std::size_t>(row) + 1];
       ++k)
    if (a.col_indices[static_cast<std::size_t>(k)] == row) a.values[static_cast<std::size_t>(k)] = value;
  return a;
}

PCFailedReason reason_of(PC pc) {
  PCFailedReason reason = PC_SETUP_ERROR;
  EXPECT_EQ(static_cast<int>(PCGetFailedReason(pc, &reason)), 0);
  return reason;
}

TEST(Recovery, AnotherTypeForgetsTheReason) {
  const OwnedMat a = make_matrix(with_diagonal(0.0, 0));
  const OwnedPc reference = make_pc(a, "-pc_type jacobi");
  const OwnedPc pc = make_pc(a, ours);
  ASSERT_EQ(reason_of(pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(reason_of(pc), PC_NOERROR);
  EXPECT_LT(difference_of_applications(pc, reference, a), 1e-14);

  const OwnedPc replaced = make_pc(a, ours);
  ASSERT_EQ(reason_of(replaced), PC_FACTOR_NUMERIC_ZEROPIVOT);
  PETSC_OK(PCSetType(replaced, PCJACOBI));
  PETSC_OK(PCSetUp(replaced));
  EXPECT_EQ(reason_of(replaced), PC_NOERROR);
  EXPECT_LT(difference_of_applications(replaced, reference, a), 1e-14);
}

TEST(Recovery, TheReasonOfASolveIsThatOfTheLastType) {
  const OwnedMat a = make_matrix(with_diagonal(0.0, 0));
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  OwnedKsp ksp;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PC pc = nullptr;
  const ScopedOptions scope(std::string("-ksp_type gmres ") + ours);
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(KSPSolve(ksp, b, x));
  PETSC_OK(KSPGetConvergedReason(ksp, &reason));
  ASSERT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  PETSC_OK(KSPSolve(ksp, b, x));
  PETSC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
}

/// Zeros on the diagonal are replaced by 1, other numbers go their way: neither is a failure for PETSc.
TEST(Recovery, JacobiHasPetscsReasons) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    const OwnedMat a = make_matrix(with_diagonal(value, 3));
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    const OwnedPc theirs = make_pc(a, "-pc_type jacobi");
    const OwnedPc found = make_pc(a, std::string(ours) + "-pc_taskdag_type jacobi");
    EXPECT_EQ(reason_of(found), reason_of(theirs)) << value;
    PETSC_OK(PCApply(theirs, b, y));
    PETSC_OK(PCApply(found, b, x));
    const PetscScalar* ax = nullptr;
    const PetscScalar* ay = nullptr;
    PETSC_OK(VecGetArrayRead(x, &ax));
    PETSC_OK(VecGetArrayRead(y, &ay));
    for (PetscInt i = 0; i < 64; ++i) {
      EXPECT_TRUE(ax[i] == ay[i] || (ax[i] != ax[i] && ay[i] != ay[i])) << "row " << i << ", diagonal " << value;
    }
    PETSC_OK(VecRestoreArrayRead(x, &ax));
    PETSC_OK(VecRestoreArrayRead(y, &ay));
  }
}

TEST(Recovery, AnotherBackendAfterADeviceError) {
  if (probe_devices().devices > 0) GTEST_SKIP() << "there is a GPU: " << probe_devices().message;
  const OwnedMat a = make_matrix(grid());
  for (const char* type : {"ilu", "icc", "jacobi"}) {
    const std::string with_type = std::string("-pc_type taskdag -pc_taskdag_type ") + type;
    const OwnedPc reference = make_pc(a, with_type + " -pc_taskdag_backend host");
    const ScopedOptions scope(with_type + " -pc_taskdag_backend cuda");
    OwnedPc pc;
    PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    PETSC_OK(PCSetOperators(pc, a, a));
    PETSC_OK(PCSetFromOptions(pc));
    {
      const ErrorCapture errors;
      EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_GPU) << type;
      EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_GPU) << type << ": a failed set-up is not taken for done";
    }
    PETSC_OK(PCTaskDAGSetBackend(pc, PC_TASKDAG_BACKEND_HOST));
    EXPECT_EQ(difference_of_applications(pc, reference, a), 0.0) << type;
  }
}

/// A set-up that was good, one with a pattern that is refused, and one that is good again.
TEST(Recovery, AGoodPatternAfterARefusedOne) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat good = make_matrix(grid());
  const OwnedMat bad = make_matrix(without_diagonal(grid(), 63));
  const OwnedVec b = make_vector(good);
  const OwnedVec x = make_vector(good);
  for (const char* type : {"ilu", "icc"}) {
    const std::string options = std::string(ours) + "-pc_taskdag_type " + type;
    const OwnedPc reference = make_pc(good, options);
    const OwnedPc pc = make_pc(good, options);
    PETSC_OK(PCSetOperators(pc, bad, bad));
    {
      const ErrorCapture errors;
      EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_ARG_WRONGSTATE);
      EXPECT_EQ(static_cast<int>(PCApply(pc, b, x)), PETSC_ERR_ARG_WRONGSTATE) << "nothing to apply";
    }
    PETSC_OK(PCSetOperators(pc, good, good));
    EXPECT_EQ(difference_of_applications(pc, reference, good), 0.0);
  }
}

/// A value that is not finite need not reach each result: an infinite pivot has the inverse 0.
TEST(Recovery, NoPartOfAFailedFactorGivesNumbers) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_diagonal(std::numeric_limits<double>::infinity(), 63));
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  for (const char* options : {"-pc_type taskdag -pc_taskdag_type icc ", "-pc_type icc "}) {
    const OwnedPc pc = make_pc(a, options + std::string("-pc_factor_mat_solver_type taskdag -pc_taskdag_backend host"));
    ASSERT_EQ(reason_of(pc), PC_NOERROR) << options;
    OwnedMat many_b;
    OwnedMat many_x;
    for (OwnedMat* dense : {&many_b, &many_x}) {
      PETSC_OK(MatCreateSeqDense(PETSC_COMM_SELF, 64, 3, nullptr, dense->out()));
      PETSC_OK(MatZeroEntries(*dense));
    }
    PetscReal norm = 0.0;
    for (const auto apply : {PCApply, PCApplyTranspose, PCApplySymmetricLeft, PCApplySymmetricRight}) {
      PETSC_OK(apply(pc, b, x));
      PETSC_OK(VecNorm(x, NORM_2, &norm));
      EXPECT_FALSE(std::isfinite(norm)) << options;
    }
    PETSC_OK(PCMatApply(pc, many_b, many_x));
    PETSC_OK(MatNorm(many_x, NORM_FROBENIUS, &norm));
    EXPECT_FALSE(std::isfinite(norm)) << options;
  }
}

/// PETSc's own preconditioner takes the failed set-up for done: the factor itself has to refuse, where the ordering is
/// kept, or is a new one that cannot solve yet. Releases differ in when they make a new one.
TEST(Recovery, APackageWithoutAFactorRefusesToSolve) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat good = make_matrix(grid());
  const OwnedMat bad = make_matrix(without_diagonal(grid(), 63));
  const OwnedVec b = make_vector(good);
  const OwnedVec x = make_vector(good);
  for (const char* type : {"ilu -pc_factor_reuse_ordering", "ilu", "icc"}) {
    const std::string options =
        std::string("-pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_type ") + type;
    const OwnedPc reference = make_pc(good, options);
    const OwnedPc pc = make_pc(good, options);
    PETSC_OK(PCSetOperators(pc, bad, bad));
    {
      const ErrorCapture errors;
      EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_ARG_WRONGSTATE);
      const auto applied = static_cast<int>(PCApply(pc, b, x));
      EXPECT_TRUE(applied == PETSC_ERR_ARG_WRONGSTATE || applied == PETSC_ERR_SUP) << applied;
    }
    PETSC_OK(PCReset(pc));
    PETSC_OK(PCSetOperators(pc, good, good));
    EXPECT_EQ(difference_of_applications(pc, reference, good), 0.0);
  }
}

/// The options are those of the factor that was there before, but it is gone.
TEST(Recovery, ANumericPhaseAfterARefusedSymbolicOneIsRefusedToo) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat good = make_local_matrix(grid());
  const OwnedMat bad = make_local_matrix(without_diagonal(grid(), 63));
  OwnedIs rows;
  OwnedIs columns;
  PETSC_OK(MatGetOrdering(good, MATORDERINGNATURAL, rows.out(), columns.out()));
  MatFactorInfo info;
  PETSC_OK(MatFactorInfoInitialize(&info));
  info.fill = 1.0;
  OwnedMat factor;
  PETSC_OK(MatGetFactor(good, "taskdag", MAT_FACTOR_ILU, factor.out()));
  PETSC_OK(MatILUFactorSymbolic(factor, good, rows, columns, &info));
  PETSC_OK(MatLUFactorNumeric(factor, good, &info));
  {
    const ErrorCapture errors;
    EXPECT_EQ(static_cast<int>(MatILUFactorSymbolic(factor, bad, rows, columns, &info)), PETSC_ERR_ARG_WRONGSTATE);
    EXPECT_EQ(static_cast<int>(MatLUFactorNumeric(factor, bad, &info)), PETSC_ERR_ARG_WRONGSTATE);
  }
  PETSC_OK(MatILUFactorSymbolic(factor, good, rows, columns, &info));
  PETSC_OK(MatLUFactorNumeric(factor, good, &info));
}

}  // namespace
}  // namespace taskdag::test
