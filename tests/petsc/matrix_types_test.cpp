// Reading a matrix leaves it as it is, whatever its type: nothing is factored again without new values.
#include <petsc/private/petscimpl.h>

#include "support.hpp"

namespace taskdag::test {
namespace {

struct Way {
  const char* name;
  const char* options;
};

constexpr Way kWays[] = {{"PC", "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host"},
                         {"package", "-pc_type icc -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host"},
                         {"dic", "-pc_type taskdag -pc_taskdag_type dic -pc_taskdag_backend host"},
                         {"sor", "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_backend host"},
                         {"jacobi", "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host"}};

TEST(MatrixTypes, AreReadOnceForSeveralSolves) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix poisson = make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 5});
  for (const char* type : {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ}) {
    for (const Way& way : kWays) {
      SCOPED_TRACE(std::string(type) + ", " + way.name);
      OwnedMat a = make_local_matrix(poisson);
      PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
      PETSC_OK(MatConvert(a, type, MAT_INPLACE_MATRIX, a.out()));
      const ScopedOptions scope(std::string("-ksp_type cg -ksp_rtol 1e-8 ") + way.options);
      OwnedKsp ksp;
      const OwnedVec b = make_vector(a);
      const OwnedVec x = make_vector(a);
      PetscObjectState before = 0;
      PetscObjectState after = 0;
      PETSC_OK(KSPCreate(PETSC_COMM_SELF, ksp.out()));
      PETSC_OK(KSPSetOperators(ksp, a, a));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(PetscObjectStateGet(reinterpret_cast<PetscObject>(static_cast<Mat>(a)), &before));
      // The first set-up takes Jacobi's and SOR's values without an event of its own for them.
      PETSC_OK(KSPSetUp(ksp));
      const int numeric = event_count("TaskDAGNumeric");
      for (int solve = 0; solve < 3; ++solve) PETSC_OK(KSPSolve(ksp, b, x));
      EXPECT_EQ(event_count("TaskDAGNumeric"), numeric);
      PETSC_OK(PetscObjectStateGet(reinterpret_cast<PetscObject>(static_cast<Mat>(a)), &after));
      EXPECT_EQ(after, before);
      // New values are new values.
      PETSC_OK(MatScale(a, 2.0));
      PETSC_OK(KSPSolve(ksp, b, x));
      EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 1);
    }
  }
}

// PETSc 3.18 converts such a matrix wrongly into a copy that is there.
TEST(MatrixTypes, NewValuesOfSymmetricBlocksAreTaken) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_local_matrix(
      make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8, .nz = 1, .unknowns_per_node = 2}));
  OwnedMat blocks;
  PETSC_OK(MatSetBlockSize(a, 2));
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(a, MATSEQSBAIJ, MAT_INITIAL_MATRIX, blocks.out()));
  for (const std::string type :
       {"jacobi", "jacobi -pc_taskdag_jacobi_sweeps 2", "jacobi -pc_taskdag_jacobi_type rowmax",
        "jacobi -pc_taskdag_jacobi_type block", "sor", "icc", "ilu", "dilu", "icc -pc_taskdag_point_block off"}) {
    SCOPED_TRACE(type);
    const std::string options = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type " + type;
    const OwnedPc pc = make_pc(blocks, options);
    for (int change = 0; change < 2; ++change) {
      PETSC_OK(MatShift(blocks, 1.5));
      PETSC_OK(PCSetUp(pc));
      const OwnedPc fresh = make_pc(blocks, options);
      EXPECT_LE(difference_of_applications(pc, fresh, blocks), 1e-13);
    }
  }
}

/// A matrix without entries of its own.
enum class Virtual { shell, nest, transpose, normal, composite };

PetscErrorCode multiply(Mat shell, Vec x, Vec y) {
  Mat a = nullptr;
  PetscCall(MatShellGetContext(shell, &a));
  return MatMult(a, x, y);
}

PetscErrorCode make_virtual(Virtual kind, Mat a, Mat* made) {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscInt rows = 0;
  Mat parts[4] = {a, nullptr, nullptr, a};
  Mat sum[2] = {a, a};
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  switch (kind) {
    case Virtual::shell:
      PetscCall(MatCreateShell(comm, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, a, made));
      return MatShellSetOperation(*made, MATOP_MULT, reinterpret_cast<void (*)()>(multiply));
    case Virtual::nest:
      return MatCreateNest(comm, 2, nullptr, 2, nullptr, parts, made);
    case Virtual::transpose:
      return MatCreateTranspose(a, made);
    case Virtual::normal:
      return MatCreateNormal(a, made);
    case Virtual::composite:
      PetscCall(MatCreateComposite(comm, 2, sum, made));
      PetscCall(MatAssemblyBegin(*made, MAT_FINAL_ASSEMBLY));
      return MatAssemblyEnd(*made, MAT_FINAL_ASSEMBLY);
  }
  return PETSC_ERR_ARG_OUTOFRANGE;
}

// PETSc would make the entries of a shell by a product for each row, and say nothing.
TEST(MatrixTypes, WithoutEntriesAreRefusedByName) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5, .nz = 1}));
  for (const Virtual kind : {Virtual::shell, Virtual::nest, Virtual::transpose, Virtual::normal, Virtual::composite}) {
    OwnedMat made;
    PETSC_OK(make_virtual(kind, a, made.out()));
    MatType name = nullptr;
    PETSC_OK(MatGetType(made, &name));
    for (const char* type : {"ilu", "sor", "jacobi"}) {
      const Solve result = solve(made, words({"-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type", type}));
      EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_SUP) << name << ", " << type;
      EXPECT_NE(result.message.find("TaskDAG needs the entries of the matrix, and one of type " + std::string(name)),
                std::string::npos)
          << result.message;
    }
  }
}

// The second matrix of KSPSetOperators() is the one that counts.
TEST(MatrixTypes, AShellBesideAMatrixWithEntriesIsTaken) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 16, .ny = 15, .nz = 1}));
  OwnedMat shell;
  PETSC_OK(make_virtual(Virtual::shell, a, shell.out()));
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  PetscInt with[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    const ScopedOptions scope("-ksp_rtol 1e-8 -pc_type taskdag -pc_taskdag_backend host");
    OwnedKsp ksp;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, k == 0 ? a : shell, a));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPGetIterationNumber(ksp, &with[k]));
  }
  EXPECT_GT(with[0], 0);
  EXPECT_EQ(with[0], with[1]);
}

TEST(MatrixTypes, SubdomainMatricesAreTaken) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 16, .ny = 15, .nz = 1}));
  OwnedMat is;
  PETSC_OK(MatConvert(a, MATIS, MAT_INITIAL_MATRIX, is.out()));
  for (const char* type : {"ilu", "sor", "jacobi"}) {
    const std::string options = words({"-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type", type});
    const Solve of_is = solve(is, options);
    const Solve of_aij = solve(a, options);
    EXPECT_EQ(static_cast<int>(of_is.code), 0) << of_is.message;
    EXPECT_EQ(of_is.iterations, of_aij.iterations) << type;
  }
}

TEST(MatrixTypes, BlocksOfANestAreTakenByFieldsplit) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 16, .ny = 15, .nz = 1}));
  OwnedMat nest;
  PETSC_OK(make_virtual(Virtual::nest, a, nest.out()));
  const std::string split = "-pc_type fieldsplit -fieldsplit_0_pc_type bjacobi -fieldsplit_1_pc_type ";
  const OwnedVec b = make_vector(nest);
  const OwnedVec x = make_vector(nest);
  PetscInt with[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    const ScopedOptions scope("-ksp_rtol 1e-8 " + split + (k == 0 ? "bjacobi" : "taskdag"));
    OwnedKsp ksp;
    IS fields[2] = {nullptr, nullptr};
    PC inner = nullptr;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, nest, nest));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPGetPC(ksp, &inner));
    PETSC_OK(MatNestGetISs(nest, fields, nullptr));
    PETSC_OK(PCFieldSplitSetIS(inner, "0", fields[0]));
    PETSC_OK(PCFieldSplitSetIS(inner, "1", fields[1]));
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPGetIterationNumber(ksp, &with[k]));
  }
  EXPECT_GT(with[0], 0);
  EXPECT_EQ(with[0], with[1]);
}

}  // namespace
}  // namespace taskdag::test
