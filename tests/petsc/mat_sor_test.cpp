// MatSOR() of PETSc's own matrices by our sweeps: what calls it gets what PETSc's own gives.
#include <array>
#include <cmath>
#include <limits>

#include "support.hpp"

namespace taskdag::test {
namespace {

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 9, .nz = 8}); }
CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .nz = 1, .wind = 1.5});
}

/// Inside its scope matrices get our sweeps.
class OwnMatSor {
 public:
  OwnMatSor() { EXPECT_EQ(static_cast<int>(TaskDAGSetMatSOR(PETSC_TRUE)), 0); }
  OwnMatSor(const OwnMatSor&) = delete;
  OwnMatSor& operator=(const OwnMatSor&) = delete;
  ~OwnMatSor() { EXPECT_EQ(static_cast<int>(TaskDAGSetMatSOR(PETSC_FALSE)), 0); }
};

/// Matrices of this type: on the host, on a GPU, or where Kokkos works.
class MatSor : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  /// With equal rows of one column PETSc takes several of them at once ("inodes"): another method.
  [[nodiscard]] static OwnedMat theirs(const CsrMatrix& a) {
    const ScopedOptions no_inode("-mat_no_inode");
    return make_matrix(a, GetParam().c_str());
  }
  [[nodiscard]] static OwnedMat ours(const CsrMatrix& a) {
    OwnedMat matrix = theirs(a);
    EXPECT_EQ(static_cast<int>(MatTaskDAGSetSOR(matrix, PETSC_TRUE)), 0);
    return matrix;
  }
};
INSTANTIATE_TEST_SUITE_P(On, MatSor, testing::Values(MATAIJ, MATAIJCUSPARSE, MATAIJKOKKOS),
                         [](const auto& test) { return test.param; });

struct Arguments {
  int flag;
  double omega = 1.0;
  double shift = 0.0;
  PetscInt its = 1;
  PetscInt lits = 1;
};

OwnedVec result_of(Mat a, const Arguments& with) {
  const OwnedVec b = make_vector(a, 1.0);
  OwnedVec x = make_vector(a, 3.0);
  EXPECT_EQ(static_cast<int>(
                MatSOR(a, b, with.omega, static_cast<MatSORType>(with.flag), with.shift, with.its, with.lits, x)),
            0);
  return x;
}

TEST_P(MatSor, ValuesAreThoseOfPetsc) {
  for (const char* name : {"orsreg_1", "sherman1", "steam2"}) {
    SCOPED_TRACE(name);
    const CsrMatrix csr = load(name);
    const OwnedMat a = theirs(csr);
    const OwnedMat b = ours(csr);
    const int sweeps = event_count("TaskDAGMatSOR");
    int calls = 0;
    for (const int start : {0, static_cast<int>(SOR_ZERO_INITIAL_GUESS)}) {
      for (const int sweep : {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP}) {
        for (const Arguments& rest : {Arguments{0}, Arguments{0, 0.8}, Arguments{0, 1.5, 0.0, 2},
                                      Arguments{0, 1.0, 0.5, 1, 3}, Arguments{0, 1.0, -0.5}}) {
          Arguments with = rest;
          with.flag = start | sweep;
          SCOPED_TRACE("flag " + std::to_string(with.flag) + ", omega " + std::to_string(with.omega));
          EXPECT_LE(relative_difference(result_of(b, with), result_of(a, with)), 1e-12);
          calls += ranks() > 1 ? static_cast<int>(with.its) : 1;
        }
      }
    }
    EXPECT_EQ(event_count("TaskDAGMatSOR") - sweeps, calls);
  }
}

TEST_P(MatSor, PartsOfEisenstatsTrickAreThoseOfPetsc) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");  // PETSc's own fails on several without inodes
  const CsrMatrix csr = convection();
  const OwnedMat a = theirs(csr);
  const OwnedMat b = ours(csr);
  for (const double omega : {0.8, 1.0, 1.5}) {
    for (const int flag : {static_cast<int>(SOR_EISENSTAT), static_cast<int>(SOR_APPLY_UPPER)}) {
      SCOPED_TRACE("flag " + std::to_string(flag) + ", omega " + std::to_string(omega));
      EXPECT_LE(relative_difference(result_of(b, {flag, omega}), result_of(a, {flag, omega})), 1e-12);
    }
  }
}

TEST_P(MatSor, FollowsTheMatrix) {
  const CsrMatrix csr = poisson();
  const OwnedMat a = theirs(csr);
  const OwnedMat b = ours(csr);
  const Arguments with{SOR_LOCAL_SYMMETRIC_SWEEP, 1.2, 0.0, 2};
  const Arguments trick{SOR_EISENSTAT, 1.2};
  const auto expect_equal = [&] {
    EXPECT_LE(relative_difference(result_of(b, with), result_of(a, with)), 1e-12);
    if (ranks() == 1) {
      EXPECT_LE(relative_difference(result_of(b, trick), result_of(a, trick)), 1e-12);
    }
  };
  expect_equal();
  const int analyses = event_count("TaskDAGSymbolic");
  const int numeric = event_count("TaskDAGNumeric");
  expect_equal();
  EXPECT_EQ(event_count("TaskDAGNumeric"), numeric) << "the values are the same";
  for (const Mat matrix : {static_cast<Mat>(a), static_cast<Mat>(b)}) {
    PETSC_OK(MatScale(matrix, 3.0));
    PETSC_OK(MatShift(matrix, 0.5));
  }
  expect_equal();
  EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 1);
  EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses) << "the pattern is the same";
  // Sparser than before.
  for (const Mat matrix : {static_cast<Mat>(a), static_cast<Mat>(b)}) {
    PetscInt first = 0;
    PetscInt end = 0;
    PETSC_OK(MatGetOwnershipRange(matrix, &first, &end));
    const PetscInt row = first;
    PETSC_OK(MatSetOption(matrix, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
    PETSC_OK(MatZeroRows(matrix, 1, &row, 2.0, nullptr, nullptr));
  }
  expect_equal();
  EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses + 1);
}

TEST_P(MatSor, TwoOmegasOfOneMatrixAreKeptApart) {
  const OwnedMat a = theirs(poisson());
  const OwnedMat b = ours(poisson());
  const int analyses = event_count("TaskDAGSymbolic");
  for (int round = 0; round < 2; ++round) {
    for (const double omega : {0.7, 1.3}) {
      const Arguments with{SOR_LOCAL_SYMMETRIC_SWEEP, omega};
      EXPECT_LE(relative_difference(result_of(b, with), result_of(a, with)), 1e-12);
    }
  }
  EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses + 2);
  for (int k = 1; k <= 10; ++k) {  // the oldest go, and come again
    const Arguments with{SOR_LOCAL_FORWARD_SWEEP, 0.15 * k};
    EXPECT_LE(relative_difference(result_of(b, with), result_of(a, with)), 1e-12);
  }
  const Arguments with{SOR_LOCAL_SYMMETRIC_SWEEP, 0.7};
  EXPECT_LE(relative_difference(result_of(b, with), result_of(a, with)), 1e-12);
}

TEST_P(MatSor, PreconditionersOfPetscTakeAsManyIterations) {
  const std::string smoother = "-mg_levels_ksp_type richardson -mg_levels_pc_type sor";
  for (const std::string& options :
       {std::string("-ksp_type cg -pc_type sor"), std::string("-ksp_type richardson -ksp_max_it 500 -pc_type sor"),
        std::string("-ksp_type cg -pc_type gamg ") + smoother,
        std::string("-ksp_type cg -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type sor"),
        std::string("-ksp_type cg -pc_type eisenstat"),
        std::string("-ksp_type cg -pc_type eisenstat -pc_eisenstat_omega 1.3")}) {
    if (ranks() > 1 && options.find("eisenstat") != std::string::npos) continue;
    SCOPED_TRACE(options);
    const ScopedOptions no_inode("-mat_no_inode");  // for the levels of multigrid, too
    const std::string all = "-mat_no_inode " + options;
    const OwnedMat a = theirs(poisson());
    const Solve expected = solve(a, all);
    ASSERT_EQ(static_cast<int>(expected.code), 0) << expected.message;
    ASSERT_GT(expected.reason, 0);
    const OwnMatSor own;
    const OwnedMat b = theirs(poisson());  // they are of a type that is ours now
    const int sweeps = event_count("TaskDAGMatSOR");
    const Solve found = solve(b, all);
    ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
    EXPECT_EQ(found.reason, expected.reason);
    EXPECT_EQ(found.iterations, expected.iterations);
    EXPECT_NEAR(found.residual, expected.residual, 1e-2 * expected.residual);
    EXPECT_GT(event_count("TaskDAGMatSOR"), sweeps);
  }
}

TEST_P(MatSor, IsOffUnlessAskedFor) {
  const OwnedMat a = theirs(poisson());
  PetscBool uses = PETSC_TRUE;
  PETSC_OK(MatTaskDAGGetSOR(a, &uses));
  EXPECT_EQ(uses, PETSC_FALSE);
  {
    const OwnMatSor own;
    const OwnedMat b = theirs(poisson());
    PETSC_OK(MatTaskDAGGetSOR(b, &uses));
    EXPECT_EQ(uses, PETSC_TRUE);
    OwnedMat copy;
    PETSC_OK(MatDuplicate(b, MAT_COPY_VALUES, copy.out()));
    PETSC_OK(MatTaskDAGGetSOR(copy, &uses));
    EXPECT_EQ(uses, PETSC_TRUE);
    PETSC_OK(MatTaskDAGSetSOR(b, PETSC_FALSE));
    const int sweeps = event_count("TaskDAGMatSOR");
    const Arguments with{SOR_LOCAL_SYMMETRIC_SWEEP, 1.1};
    const OwnedVec theirs_again = result_of(b, with);
    EXPECT_EQ(event_count("TaskDAGMatSOR"), sweeps);
    EXPECT_LE(relative_difference(result_of(copy, with), theirs_again), 1e-12);
    EXPECT_EQ(event_count("TaskDAGMatSOR"), sweeps + 1);
  }
  const OwnedMat after = theirs(poisson());
  PETSC_OK(MatTaskDAGGetSOR(after, &uses));
  EXPECT_EQ(uses, PETSC_FALSE);
}

TEST_P(MatSor, BadDiagonalsAndArgumentsAreErrors) {
  const OwnedMat a = ours(poisson());
  PetscInt first = 0;
  PetscInt end = 0;
  PETSC_OK(MatGetOwnershipRange(a, &first, &end));
  const Solve good = solve(a, "-ksp_type cg -pc_type sor");
  EXPECT_GT(good.reason, 0) << good.message;
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    SCOPED_TRACE(bad);
    PETSC_OK(MatSetValue(a, end - 1, end - 1, bad, INSERT_VALUES));
    PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    const Solve failed = solve(a, "-ksp_type gmres -pc_type sor");
    EXPECT_EQ(static_cast<int>(failed.code), 0) << failed.message;
    EXPECT_EQ(failed.reason, bad == 0.0 ? KSP_DIVERGED_PC_FAILED : KSP_DIVERGED_NANORINF);
    const Solve stopped = solve(a, "-ksp_type gmres -pc_type sor -ksp_error_if_not_converged");
    EXPECT_NE(static_cast<int>(stopped.code), 0);
  }
  PETSC_OK(MatSetValue(a, end - 1, end - 1, 6.0, INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  EXPECT_GT(solve(a, "-ksp_type cg -pc_type sor").reason, 0);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const ErrorCapture errors;
  EXPECT_NE(static_cast<int>(MatSOR(a, b, 1.0, SOR_APPLY_LOWER, 0.0, 1, 1, x)), 0);
  EXPECT_EQ(static_cast<int>(MatSOR(a, b, 2.0, SOR_LOCAL_FORWARD_SWEEP, 0.0, 1, 1, x)), PETSC_ERR_ARG_OUTOFRANGE);
  const OwnedMat dense = make_local_matrix(poisson(), MATSEQDENSE);
  EXPECT_EQ(static_cast<int>(MatTaskDAGSetSOR(dense, PETSC_TRUE)), PETSC_ERR_SUP);
}

#if defined(PETSC_HAVE_CUDA)
TEST(MatSorOnDevice, CopiesNothing) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnMatSor own;
  for (const char* type : {MATAIJCUSPARSE, MATAIJKOKKOS}) {
    if (!what_is_missing_for(type).empty()) continue;
    const OwnedMat a = make_matrix(convection(), type);
    for (const int flag : {SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS,
                           static_cast<int>(SOR_LOCAL_FORWARD_SWEEP), static_cast<int>(SOR_EISENSTAT)}) {
      SCOPED_TRACE(std::string(type) + ", flag " + std::to_string(flag));
      const OwnedVec b = make_vector(a);
      const OwnedVec x = make_vector(a);
      PETSC_OK(MatSOR(a, b, 1.1, static_cast<MatSORType>(flag), 0.0, 1, 1, x));  // brings vectors to the device
      const PetscEventPerfInfo before = event_info("TaskDAGMatSOR");
      for (int k = 0; k < 5; ++k) PETSC_OK(MatSOR(a, b, 1.1, static_cast<MatSORType>(flag), 0.0, 1, 1, x));
      const PetscEventPerfInfo after = event_info("TaskDAGMatSOR");
      EXPECT_EQ(after.count, before.count + 5);
      EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount);
      EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount);
    }
  }
}
#endif

}  // namespace
}  // namespace taskdag::test
