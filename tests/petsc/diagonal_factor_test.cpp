// -pc_taskdag_type dilu and dic against a preconditioner written from OpenFOAM's recurrences.
#include <algorithm>
#include <array>
#include <cmath>

#include "support.hpp"
#include "support/openfoam.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::test {
namespace {

const std::string kOurs = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering natural -pc_taskdag_type ";

PetscErrorCode apply_faces(PC pc, Vec b, Vec x) {
  void* context = nullptr;
  PetscInt rows = 0;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &context));
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  const std::vector<double> result =
      static_cast<const FacePreconditioner*>(context)->apply(std::vector<double>(from, from + rows));
  std::copy(result.begin(), result.end(), to);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// A solve with the reference: what solve() does, by a shell.
Solve solve_with_faces(Mat a, FacePreconditioner& faces, const std::string& options) {
  const ScopedOptions scope("-ksp_rtol 1e-8 " + options);
  Solve result;
  OwnedKsp ksp;
  PC pc = nullptr;
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetPC(ksp, &pc)), 0);
  EXPECT_EQ(static_cast<int>(PCSetType(pc, PCSHELL)), 0);
  EXPECT_EQ(static_cast<int>(PCShellSetContext(pc, &faces)), 0);
  EXPECT_EQ(static_cast<int>(PCShellSetApply(pc, apply_faces)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, x)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &result.iterations)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp, &result.reason)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetResidualNorm(ksp, &result.residual)), 0);
  return result;
}

/// How far the reference's count moves by rounding alone: BiCGStab's does after some dozens of iterations.
std::array<PetscInt, 2> range_of_counts(const CsrMatrix& matrix, bool dic, const std::string& ksp, PetscInt count) {
  std::array<PetscInt, 2> range{count, count};
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const CsrMatrix moved = nudged(matrix, seed);
    FacePreconditioner faces(moved, dic);
    const OwnedMat a = make_matrix(moved);
    const PetscInt other = solve_with_faces(a, faces, ksp).iterations;
    range = {std::min(range[0], other), std::max(range[1], other)};
  }
  return range;
}

/// @returns whether the reference converges, so that counts say something
bool compare(const CsrMatrix& matrix, bool dic) {
  FacePreconditioner faces(matrix, dic);
  for (const double value : faces.reciprocal) {
    if (!std::isfinite(value) || (dic && value <= 0.0)) return false;
  }
  const OwnedMat a = make_matrix(matrix);
  const std::string ksp = std::string("-ksp_max_it 500 -ksp_type ") + (dic ? "cg " : "bcgs ");
  const Solve theirs = solve_with_faces(a, faces, ksp);
  if (theirs.reason <= 0) return false;
  const Solve ours = solve(a, ksp + kOurs + (dic ? "dic" : "dilu"));
  EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(ours.reason, theirs.reason);
  if (ours.iterations != theirs.iterations) {
    const std::array<PetscInt, 2> range = range_of_counts(matrix, dic, ksp, theirs.iterations);
    const PetscInt width = range[1] - range[0];  // of a few samples: others lie somewhat beyond
    EXPECT_GT(width, 0);
    EXPECT_GE(ours.iterations, range[0] - width);
    EXPECT_LE(ours.iterations, range[1] + width);
  }
  EXPECT_NE(ours.view.find(dic ? "factor: DIC, " : "factor: DILU, "), std::string::npos) << ours.view;
  return true;
}

TEST(Diagonal, IterationsAreThoseOfOpenFoamsRecurrence) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  EXPECT_TRUE(compare(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7}), true));
  EXPECT_TRUE(
      compare(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 1.0}), false));
  EXPECT_TRUE(compare(make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7}), true));
  for (const char* name : {"orsreg_1", "jpwh_991", "sherman1", "add32"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(compare(load(name), false));
  }
}

TEST(Diagonal, IterationsOnManyMatrices) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  constexpr Offset kMostEntries = 1000000;
  const std::vector<std::string> paths = listed_matrices();
  if (paths.empty()) GTEST_SKIP() << "TASKDAG_MATRIX_DIR is not set: no matrices to test with";
  int compared = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const CsrMatrix matrix = read_matrix_market(path);
    if (matrix.rows != matrix.cols || matrix.entries() > kMostEntries) continue;
    if (is_symmetric(matrix)) {
      compared += compare(matrix, true) ? 1 : 0;
    } else {
      compared += compare(matrix, false) ? 1 : 0;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no matrix of TASKDAG_MATRIX_DIR is small enough and has such a factor";
}

TEST(Diagonal, IluAndIccSayWhereTheyAreTheSame) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat grid = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 9, .nz = 1}));
  const OwnedMat block = make_matrix(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4}));
  EXPECT_NE(solve(grid, kOurs + "ilu").view.find("this is DILU"), std::string::npos);
  EXPECT_NE(solve(grid, kOurs + "icc").view.find("this is DIC"), std::string::npos);
  EXPECT_EQ(solve(block, kOurs + "ilu").view.find("this is "), std::string::npos);
  EXPECT_EQ(solve(grid, kOurs + "ilu").iterations, solve(grid, kOurs + "dilu").iterations);
}

TEST(Diagonal, WorksOnEachRanksBlock) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7}));
  // On a 7-point grid without wind the factors are those of IC(0).
  const Solve icc = solve(a, "-ksp_type cg " + kOurs + "icc");
  const Solve dic = solve(a, "-ksp_type cg " + kOurs + "dic");
  EXPECT_GT(dic.reason, 0);
  EXPECT_EQ(dic.iterations, icc.iterations);
}

TEST(Diagonal, HasNoLevelsOfFill) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 5, .nz = 1}));
  const Solve result = solve(a, kOurs + "dilu -pc_factor_levels 1");
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_ARG_INCOMP);
  EXPECT_NE(result.message.find("dilu has no levels of fill"), std::string::npos) << result.message;
}

}  // namespace
}  // namespace taskdag::test
