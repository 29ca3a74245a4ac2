// Matrices and vectors of Kokkos, wherever Kokkos works: what MATAIJ gives, and nothing copied. Skipped, with the
// reason, where PETSc has no Kokkos Kernels.
#include <array>

#include "support.hpp"

namespace taskdag::test {
namespace {

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11}); }
CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .nz = 1, .wind = 1.5});
}
CsrMatrix matrix_for(const std::string& ksp) { return ksp == "cg" ? poisson() : convection(); }

class Kokkos : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing_for(MATAIJKOKKOS);
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  /// Our preconditioner of this type for a matrix of Kokkos, where it is by itself.
  [[nodiscard]] static std::string ours(const std::string& type) {
    return words(
        {"-pc_type taskdag -pc_taskdag_ordering natural -taskdag_auto_min_rows 1000000 -pc_taskdag_type", type});
  }
  static void expect_backend(const Solve& solve) {
#if defined(PETSC_HAVE_CUDA)
    const std::string expected = "backend: cuda (the matrix is in device memory)";
#else
    const std::string expected = "backend: host";
#endif
    if (rank() == 0) {
      EXPECT_NE(solve.view.find(expected), std::string::npos) << solve.view;
    }
  }
};

constexpr std::array<std::pair<const char*, const char*>, 9> solvers = {
    {{"cg", "icc"},
     {"cg", "icc -pc_factor_levels 1"},
     {"cg", "dic"},
     {"cg", "jacobi"},
     {"gmres", "ilu"},
     {"bcgs", "ilu -pc_factor_levels 2"},
     {"gmres", "dilu"},
     {"gmres", "sor"},
     {"gmres", "jacobi -pc_taskdag_jacobi_sweeps 3"}}};

TEST_F(Kokkos, GivesTheIterationsOfAij) {
  for (const auto& [ksp, type] : solvers) {
    SCOPED_TRACE(words({ksp, type}));
    const CsrMatrix csr = matrix_for(ksp);
    const OwnedMat aij = make_matrix(csr);
    const OwnedMat kokkos = make_matrix(csr, MATAIJKOKKOS);
    const std::string method = words({"-ksp_type", ksp}) + ours(type);
    const Solve expected = solve(aij, method + "-pc_taskdag_backend host");
    const Solve found = solve(kokkos, method);
    ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
    EXPECT_GT(expected.reason, 0);
    EXPECT_EQ(found.iterations, expected.iterations);
    EXPECT_NEAR(found.residual, expected.residual, 1e-2 * expected.residual);
    expect_backend(found);
  }
}

TEST_F(Kokkos, GivesTheIterationsOfAijInEachOrder) {
  for (const auto& [ksp, type] : {std::pair{"cg", "icc"}, std::pair{"gmres", "ilu"}}) {
    for (const char* ordering : {"rcm", "nd", "taskdag_rcm", "taskdag_color", "taskdag_bmc"}) {
      SCOPED_TRACE(words({ksp, type, ordering}));
      const CsrMatrix csr = matrix_for(ksp);
      const OwnedMat aij = make_matrix(csr);
      const OwnedMat kokkos = make_matrix(csr, MATAIJKOKKOS);
      const std::string method =
          words({"-ksp_type", ksp, "-pc_type taskdag -pc_taskdag_type", type, "-pc_taskdag_ordering", ordering});
      const Solve expected = solve(aij, method + "-pc_taskdag_backend host");
      const Solve found = solve(kokkos, method + "-taskdag_auto_min_rows 1000000");
      ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
      EXPECT_GT(expected.reason, 0);
      EXPECT_EQ(found.iterations, expected.iterations);
      expect_backend(found);
    }
  }
}

TEST_F(Kokkos, PackageGivesTheIterationsOfAij) {
  const std::string block = ranks() > 1 ? "-pc_type bjacobi -sub_" : "-";
  for (const char* type : {"ilu", "icc"}) {
    for (const char* ordering : {"natural", "rcm", "taskdag_rcm"}) {
      SCOPED_TRACE(words({type, ordering}));
      const OwnedMat aij = make_matrix(poisson());
      const OwnedMat kokkos = make_matrix(poisson(), MATAIJKOKKOS);
      const std::string method =
          "-ksp_type cg " + block + words({"pc_type", type}) + words({block + "pc_factor_mat_ordering_type", ordering});
      const Solve expected = solve(aij, method);
      const Solve found = solve(kokkos, method + block + "pc_factor_mat_solver_type taskdag");
      ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
      EXPECT_GT(expected.reason, 0);
      EXPECT_EQ(found.iterations, expected.iterations);
      expect_backend(found);
    }
  }
}

TEST_F(Kokkos, LeavesItsOwnFactorisationsTheDefault) {
  const OwnedMat a = make_local_matrix(convection(), MATSEQAIJKOKKOS);
  for (const char* type : {"ilu", "icc"}) {
    const OwnedPc pc = make_pc(a, words({"-pc_type", type}));
    MatSolverType package = nullptr;
    PETSC_OK(PCFactorGetMatSolverType(pc, &package));
    EXPECT_STRNE(package, MATSOLVERTASKDAG) << type;
  }
}

/// max |difference| of what the two make of the same vector, to the largest entry; their vectors may be of other types.
double difference_on_host(PC kokkos, Mat of_kokkos, PC aij, Mat of_aij) {
  const OwnedVec b = make_vector(of_kokkos);
  const OwnedVec x = make_vector(of_kokkos);
  const OwnedVec c = make_vector(of_aij);
  const OwnedVec y = make_vector(of_aij);
  const OwnedVec on_host = make_vector(of_aij);
  EXPECT_EQ(static_cast<int>(PCApply(kokkos, b, x)), 0);
  EXPECT_EQ(static_cast<int>(PCApply(aij, c, y)), 0);
  EXPECT_EQ(static_cast<int>(VecCopy(x, on_host)), 0);
  return relative_difference(on_host, y);
}

// By Kokkos where it works, and by MatSetValues() on the host: each side must see what the other one has made.
TEST_F(Kokkos, NewValuesAreTakenByANumericPhaseAlone) {
  for (const char* type : {"ilu", "icc", "jacobi", "sor", "dilu"}) {
    SCOPED_TRACE(type);
    const OwnedMat aij = make_matrix(poisson());
    const OwnedMat kokkos = make_matrix(poisson(), MATAIJKOKKOS);
    const OwnedPc reference = make_pc(aij, ours(type) + "-pc_taskdag_backend host");
    const OwnedPc pc = make_pc(kokkos, ours(type));
    EXPECT_LE(difference_on_host(pc, kokkos, reference, aij), 1e-12);
    const int symbolic = event_count("TaskDAGSymbolic");
    PetscInt first = 0;
    PetscInt end = 0;
    PETSC_OK(MatGetOwnershipRange(aij, &first, &end));
    for (int round = 0; round < 2; ++round) {
      for (const Mat a : {static_cast<Mat>(aij), static_cast<Mat>(kokkos)}) {
        PETSC_OK(MatScale(a, 4.0));
        PETSC_OK(MatShift(a, 0.5));
      }
      PETSC_OK(PCSetUp(reference));
      PETSC_OK(PCSetUp(pc));
      EXPECT_LE(difference_on_host(pc, kokkos, reference, aij), 1e-12) << "scaled";
      for (const Mat a : {static_cast<Mat>(aij), static_cast<Mat>(kokkos)}) {
        PETSC_OK(MatSetValue(a, first, first, 77.0 + round, INSERT_VALUES));
        PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
        PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
      }
      PETSC_OK(PCSetUp(reference));
      PETSC_OK(PCSetUp(pc));
      EXPECT_LE(difference_on_host(pc, kokkos, reference, aij), 1e-12) << "set";
    }
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
    const int numeric = event_count("TaskDAGNumeric");
    PETSC_OK(PCSetUp(pc));
    EXPECT_LE(difference_on_host(pc, kokkos, reference, aij), 1e-12);
    EXPECT_EQ(event_count("TaskDAGNumeric"), numeric) << "the values are the same";
  }
}

TEST_F(Kokkos, BackendsOfOtherMemoryGiveTheSame) {
  std::vector<std::string> backends = {"host"};
  if (probe_devices().devices > 0) backends.emplace_back("cuda");
  for (const char* type : {"ilu", "sor", "jacobi"}) {
    const OwnedMat a = make_matrix(convection(), MATAIJKOKKOS);
    const Solve expected = solve(a, "-ksp_type gmres " + ours(type));
    for (const std::string& backend : backends) {
      const Solve found = solve(a, "-ksp_type gmres " + ours(type) + "-pc_taskdag_backend " + backend);
      ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
      EXPECT_EQ(found.iterations, expected.iterations) << type << " " << backend;
    }
  }
}

// Each with vectors of the other's type.
TEST_F(Kokkos, MatricesAndVectorsAreTakenApart) {
  const CsrMatrix csr = convection();
  const OwnedMat aij = make_matrix(csr);
  const OwnedMat kokkos = make_matrix(csr, MATAIJKOKKOS);
  for (const char* type : {"ilu", "sor", "jacobi"}) {
    SCOPED_TRACE(type);
    const OwnedPc of_aij = make_pc(aij, ours(type));
    const OwnedPc of_kokkos = make_pc(kokkos, ours(type));
    EXPECT_LE(difference_of_applications(of_aij, of_kokkos, aij), 1e-12);
    EXPECT_LE(difference_of_applications(of_aij, of_kokkos, kokkos), 1e-12);
  }
}

TEST_F(Kokkos, TransposedAndSymmetricApplicationsAreThoseOfAij) {
  const CsrMatrix csr = poisson();
  const OwnedMat aij = make_matrix(csr);
  const OwnedMat kokkos = make_matrix(csr, MATAIJKOKKOS);
  using Application = PetscErrorCode (*)(PC, Vec, Vec);
  constexpr std::array<std::pair<const char*, Application>, 3> applications = {
      {{"ilu", PCApplyTranspose}, {"icc", PCApplySymmetricLeft}, {"icc", PCApplySymmetricRight}}};
  for (const auto& [type, apply] : applications) {
    const OwnedPc of_aij = make_pc(aij, ours(type) + "-pc_taskdag_backend host");
    const OwnedPc of_kokkos = make_pc(kokkos, ours(type));
    const OwnedVec b = make_vector(kokkos);
    const OwnedVec x = make_vector(kokkos);
    const OwnedVec c = make_vector(aij);
    const OwnedVec y = make_vector(aij);
    const OwnedVec on_host = make_vector(aij);
    PETSC_OK(apply(of_kokkos, b, x));
    PETSC_OK(apply(of_aij, c, y));
    PETSC_OK(VecCopy(x, on_host));
    EXPECT_LE(relative_difference(on_host, y), 1e-12) << type;
  }
}

TEST_F(Kokkos, ARankWithoutRowsIsTaken) {
  const CsrMatrix csr = poisson();
  for (const char* type : {"ilu", "icc", "sor", "jacobi"}) {
    SCOPED_TRACE(type);
    OwnedMat none;
    PETSC_OK(MatCreate(PETSC_COMM_SELF, none.out()));
    PETSC_OK(MatSetSizes(none, 0, 0, 0, 0));
    PETSC_OK(MatSetType(none, MATAIJKOKKOS));
    PETSC_OK(MatSetUp(none));
    PETSC_OK(MatAssemblyBegin(none, MAT_FINAL_ASSEMBLY));
    PETSC_OK(MatAssemblyEnd(none, MAT_FINAL_ASSEMBLY));
    const OwnedPc pc = make_pc(none, ours(type));
    const OwnedVec b = make_vector(none);
    const OwnedVec x = make_vector(none);
    PETSC_OK(PCApply(pc, b, x));
    const PetscInt rows = rank() == 0 ? csr.rows : 0;
    const Solve expected = solve(make_matrix(csr, MATAIJ, rows), "-ksp_type cg " + ours(type));
    const Solve found = solve(make_matrix(csr, MATAIJKOKKOS, rows), "-ksp_type cg " + ours(type));
    ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
    EXPECT_EQ(found.iterations, expected.iterations);
  }
}

// PETSc keeps other arrays of a matrix with many empty rows, in some types.
TEST_F(Kokkos, EmptyRowsAndZeroPivotsFailAsWithAij) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  CsrMatrix without_pivot = convection();
  without_pivot.values[0] = 0.0;  // the first row's diagonal comes first
  CsrMatrix empty_rows{100, 100, std::vector<Index>(101, 0), {}, {}};
  for (Index i = 0; i < 100; ++i) {
    if (i % 5 == 0) {
      empty_rows.col_indices.push_back(i);
      empty_rows.values.push_back(2.0);
    }
    empty_rows.row_offsets[static_cast<std::size_t>(i) + 1] = static_cast<Index>(empty_rows.col_indices.size());
  }
  for (const CsrMatrix* const csr : {&without_pivot, &empty_rows}) {
    for (const char* type : {"ilu", "sor", "jacobi"}) {
      SCOPED_TRACE(words({csr == &empty_rows ? "empty rows," : "zero pivot,", type}));
      const Solve expected = solve(make_local_matrix(*csr), "-ksp_type gmres -pc_taskdag_backend host " + ours(type));
      const Solve found = solve(make_local_matrix(*csr, MATSEQAIJKOKKOS), "-ksp_type gmres " + ours(type));
      EXPECT_EQ(static_cast<int>(found.code), static_cast<int>(expected.code)) << found.message;
      EXPECT_EQ(found.reason, expected.reason);
      EXPECT_EQ(found.failed, expected.failed);
    }
  }
}

#if defined(PETSC_HAVE_DEVICE)
/// Copies between host and device that PETSc has counted so far, for the totals of -log_view.
struct Copies {
  PetscLogDouble to_gpu = petsc_ctog_ct;
  PetscLogDouble to_cpu = petsc_gtoc_ct;
};

/// Without a GPU nothing is counted, and there is nothing to copy.
void expect_no_copies_since(const Copies& before) {
  const Copies now;
  EXPECT_EQ(now.to_gpu, before.to_gpu);
  EXPECT_EQ(now.to_cpu, before.to_cpu);
}

/// A matrix and two vectors whose values are where Kokkos works.
struct SystemOnDevice {
  OwnedMat a = make_matrix(poisson(), MATAIJKOKKOS);
  OwnedVec b = make_vector(a);
  OwnedVec x = make_vector(a);

  SystemOnDevice() { EXPECT_EQ(static_cast<int>(MatMult(a, b, x)), 0); }
};

// Or the tests below would count nothing.
TEST_F(Kokkos, CopiesAreCounted) {
#if defined(PETSC_HAVE_CUDA)
  const SystemOnDevice on;
  const Copies before;
  const PetscScalar* array = nullptr;
  PETSC_OK(VecGetArrayRead(on.x, &array));
  PETSC_OK(VecRestoreArrayRead(on.x, &array));
  EXPECT_GT(Copies().to_cpu, before.to_cpu);
#else
  GTEST_SKIP() << "this PETSc has no CUDA";
#endif
}

TEST_F(Kokkos, SetUpAndApplicationCopyNothing) {
  std::vector<std::string> types = {"ilu", "ilu -pc_factor_levels 1", "icc", "jacobi", "dilu", "dic"};
  // With several ranks these exchange values, or read what lies outside a rank's block on the host.
  if (ranks() == 1)
    for (const char* type : {"sor", "jacobi -pc_taskdag_jacobi_sweeps 3", "jacobi -pc_taskdag_jacobi_type rowl1"})
      types.emplace_back(type);
  for (const std::string& name : types) {
    SCOPED_TRACE(name);
    const SystemOnDevice on;
    const int numeric = event_count("TaskDAGNumeric");
    const Copies before;
    const OwnedPc pc = make_pc(on.a, ours(name));
    PETSC_OK(PCApply(pc, on.b, on.x));
    PETSC_OK(MatScale(on.a, 2.0));
    PETSC_OK(PCSetUp(pc));
    for (int k = 0; k < 5; ++k) PETSC_OK(PCApply(pc, on.b, on.x));
    expect_no_copies_since(before);
    EXPECT_GT(event_count("TaskDAGNumeric"), numeric);
  }
}

TEST_F(Kokkos, OrderedFactorisationsCopyNothing) {
  for (const char* ordering : {"auto", "taskdag_rcm", "taskdag_color", "taskdag_bmc"}) {
    SCOPED_TRACE(ordering);
    const SystemOnDevice on;
    const Copies before;
    const OwnedPc pc =
        make_pc(on.a, words({"-pc_type taskdag -taskdag_auto_min_rows 1000000 -pc_taskdag_ordering", ordering}));
    PETSC_OK(PCApply(pc, on.b, on.x));
    expect_no_copies_since(before);
  }
}

TEST_F(Kokkos, PackageCopiesNothing) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");  // bjacobi is not ours
  for (const char* type : {"ilu", "icc"}) {
    SCOPED_TRACE(type);
    const SystemOnDevice on;
    const Copies before;
    const OwnedPc pc = make_pc(on.a, words({"-pc_type", type, "-pc_factor_mat_solver_type taskdag"}));
    PETSC_OK(PCApply(pc, on.b, on.x));
    expect_no_copies_since(before);
  }
}

TEST_F(Kokkos, MatSorCopiesNothing) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");  // what ranks exchange may go by way of the host
  const SystemOnDevice on;
  PETSC_OK(MatTaskDAGSetSOR(on.a, PETSC_TRUE));
  const int sweeps = event_count("TaskDAGMatSOR");
  for (const int flag : {static_cast<int>(SOR_LOCAL_SYMMETRIC_SWEEP),
                         static_cast<int>(SOR_LOCAL_FORWARD_SWEEP) | static_cast<int>(SOR_ZERO_INITIAL_GUESS),
                         static_cast<int>(SOR_EISENSTAT)}) {
    SCOPED_TRACE(flag);
    const Copies before;
    PETSC_OK(MatSOR(on.a, on.b, 1.2, static_cast<MatSORType>(flag), 0.0, 1, 1, on.x));
    expect_no_copies_since(before);
  }
  EXPECT_EQ(event_count("TaskDAGMatSOR") - sweeps, 3);
}
#endif

}  // namespace
}  // namespace taskdag::test
