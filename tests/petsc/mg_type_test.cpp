// -pc_taskdag_type mg: PETSc's hierarchies with cycles of ours, as PETSc's own preconditioners of the same options.
#include <petscdmda.h>

#include <array>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "krylov_cases.hpp"
#include "mg_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

/// Options of PETSc's multigrid as those of a preconditioner of ours that has it inside, whose prefix is `outer`.
std::string moved_inside(const std::string& petscs, const std::string& outer = "-") {
  std::istringstream words(petscs);
  std::string ours = outer + "pc_type taskdag " + outer + "pc_taskdag_type mg";
  for (std::string word; words >> word;) {
    const bool of_pc = word.starts_with(outer + "pc_") || word.starts_with(outer + "mg_");
    ours += ' ' + (of_pc ? outer + "pc_taskdag_mg_" + word.substr(outer.size()) : word);
  }
  return ours + ' ';
}

const std::string kSmoothedByJacobi = "-mg_levels_pc_type jacobi ";
const std::string kSmoothedGamg = "-pc_type gamg " + kSmoothedByJacobi;

CsrMatrix square_grid(Index side = 33) {
  return make_stencil({.stencil = Stencil::five_point, .nx = side, .ny = side, .nz = 1});
}

PC multigrid_of(PC pc) {
  PC inner = nullptr;
  ok(PCTaskDAGGetMG(pc, &inner));
  return inner;
}

/// Matrices of this type.
class MultigridType : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
};
INSTANTIATE_TEST_SUITE_P(On, MultigridType, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

/// Solves with PETSc's preconditioner, and with ours in our loop and in PETSc's, after each of these steps.
void expect_same_after(const CsrMatrix& csr, MatType type, const std::string& method, const std::string& petscs,
                       const std::vector<Step>& steps) {
  SCOPED_TRACE(petscs);
  const std::string inside = method + moved_inside(petscs);
  const MakeCase make = [&](const std::string& options) { return make_case(csr, type, options); };
  expect_same_steps(
      {{make, make, make}, {method + petscs, "-taskdag_ksp auto " + inside, "-taskdag_ksp off " + inside}}, steps);
}

TEST_P(MultigridType, IsPetscsPreconditioner) {
  for (const char* const method : {"-ksp_type cg ", "-ksp_type gmres "}) {
    for (const std::string& petscs :
         {kSmoothedGamg, kSmoothedGamg + "-pc_gamg_threshold 0.05 -pc_mg_cycle_type w",
          std::string("-pc_type mg -mg_levels_0_pc_type jacobi -mg_levels_0_ksp_type richardson "
                      "-mg_levels_0_ksp_max_it 3 -pc_mg_multiplicative_cycles 2")})
      expect_same_after(square_grid(), type(), method, petscs, {nothing});
  }
}

TEST_P(MultigridType, FollowsTheMatrix) {
  const Step replace_matrix = replaced_by(square_grid());
  for (const char* const reuse : {"-pc_gamg_reuse_interpolation false ", "-pc_gamg_reuse_interpolation true "}) {
    expect_same_after(square_grid(), type(), "-ksp_type gmres ", kSmoothedGamg + reuse,
                      {nothing, change_values, replace_matrix, nothing, change_values});
    expect_same_after(square_grid(), type(), "-ksp_type gmres ", kSmoothedGamg + reuse,
                      {nothing, keep, change_values, renew, change_values, keep, replace_matrix, renew});
  }
}

/// GAMG of older releases keeps some of what it is to forget.
TEST_P(MultigridType, SetsUpAgainAfterAReset) {
  const std::string options =
      "-taskdag_ksp auto -ksp_type cg " + moved_inside("-pc_type mg -mg_levels_0_pc_type jacobi");
  Case with = make_case(square_grid(), type(), options);
  const Outcome first = solve_in(with, options);
  forget(with);
  ok(VecSet(with.x, 0.0));
  const Outcome again = solve_in(with, options);
  EXPECT_TRUE(is_ours(again)) << again.view;
  EXPECT_EQ(again.reason, first.reason);
  EXPECT_EQ(again.loops, 1);
  EXPECT_NEAR(static_cast<double>(again.iterations), static_cast<double>(first.iterations), 1.0);
  const CsrMatrix smaller = square_grid(21);
  OwnedMat other = make_matrix(smaller, type());
  ok(KSPReset(with.ksp));
  ok(KSPSetOperators(with.ksp, other, other));
  const OwnedVec b = make_vector(other);
  const OwnedVec x = make_vector(other);
  const ScopedOptions scope(options);
  ok(KSPSolve(with.ksp, b, x));
  KSPConvergedReason reason{};
  ok(KSPGetConvergedReason(with.ksp, &reason));
  EXPECT_GT(reason, 0);
}

TEST_P(MultigridType, AppliesTransposedAndToColumns) {
  const std::string petscs = "-pc_type mg -mg_levels_0_pc_type jacobi ";
  const OwnedMat a = make_matrix(square_grid(), type());
  const OwnedPc ours = make_pc(a, moved_inside(petscs));
  const OwnedPc theirs = make_pc(a, petscs);
  EXPECT_LE(difference_of_columns(ours, theirs, a), 1e-12);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  PETSC_OK(PCApplyTranspose(ours, b, x));
  PETSC_OK(PCApplyTranspose(theirs, b, y));
  EXPECT_LE(relative_difference(x, y), 1e-12);
}

TEST_P(MultigridType, SaysWhyACycleIsPetscs) {
  const std::string petscs = "-pc_type gamg -mg_levels_pc_type bjacobi ";
  const Outcome theirs = solve_of(square_grid(), type(), "-ksp_type cg " + petscs);
  const Outcome ours = solve_of(square_grid(), type(), "-taskdag_ksp auto -ksp_type cg " + moved_inside(petscs));
  EXPECT_NE(ours.view.find("cycle: by PETSc, not TaskDAG: level "), std::string::npos) << ours.view;
  EXPECT_EQ(ours.loops, 0);
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(theirs.iterations), 1.0);
}

/// Where there is a GPU, options may send a matrix in host memory there, as with the other types.
TEST_P(MultigridType, WorksWhereItsOptionsSay) {
  const std::string backend = type() == std::string(MATAIJ) ? "host" : "cuda";
  const std::string options = "-taskdag_ksp auto -ksp_type cg " + moved_inside(kSmoothedGamg) + "-pc_taskdag_backend " +
                              backend + " -pc_taskdag_threads 2 ";
  const Outcome ours = solve_of(square_grid(), MATAIJ, options);
  EXPECT_NE(ours.view.find("backend: " + backend), std::string::npos) << ours.view;
  EXPECT_EQ(ours.loops, 1);
  EXPECT_GT(ours.reason, 0);
}

/// PETSc's smoother meets a pivot that is zero.
TEST_P(MultigridType, FailsAsPetscs) {
  if (type() != std::string(MATAIJ)) GTEST_SKIP() << "PETSc factors it on the host";
  const std::string petscs = "-pc_type mg -mg_levels_0_ksp_type richardson -mg_levels_0_pc_type ilu ";
  CsrMatrix a = square_grid();
  const double pivot = std::exchange(a.values[0], 0.0);
  std::array<Outcome, 2> outcomes;
  std::array<KSPConvergedReason, 2> mended{};
  for (const std::size_t ours : {0U, 1U}) {
    const std::string options = "-ksp_type gmres " + (ours == 1 ? moved_inside(petscs) : petscs);
    const Case with = make_case(a, type(), options);
    outcomes[ours] = solve_in(with, options);
    PETSC_OK(MatSetValue(with.a, 0, 0, pivot, INSERT_VALUES));
    PETSC_OK(MatAssemblyBegin(with.a, MAT_FINAL_ASSEMBLY));
    PETSC_OK(MatAssemblyEnd(with.a, MAT_FINAL_ASSEMBLY));
    mended.at(ours) = solve_in(with, options).reason;
  }
  EXPECT_EQ(outcomes[0].reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
  EXPECT_EQ(mended[1], mended[0]);
}

TEST_P(MultigridType, TakesNoOtherPreconditionerInside) {
  const OwnedMat a = make_matrix(square_grid(), type());
  const OwnedPc pc = make_pc(a, moved_inside(kSmoothedGamg));
  PETSC_OK(PCSetType(multigrid_of(pc), PCJACOBI));
  PETSC_OK(MatShift(a, 0.1));
  ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_ARG_WRONG);
  EXPECT_NE(errors.message().find("not by one of type jacobi"), std::string::npos) << errors.message();
  PETSC_OK(PCSetType(multigrid_of(pc), PCGAMG));
  PETSC_OK(PCSetUp(pc));
}

/// Vectors that GAMG is to interpolate well, from the matrix and from coordinates: aggregates are others by them.
TEST_P(MultigridType, PassesModesOn) {
  OwnedMat a = make_matrix(square_grid(32), type());
  ok(MatSetBlockSize(a, 2));
  PetscInt rows = 0;
  ok(MatGetSize(a, &rows, nullptr));
  std::vector<PetscReal> coordinates(static_cast<std::size_t>(rows));
  for (PetscInt i = 0; i < rows; ++i)
    coordinates[static_cast<std::size_t>(i)] = static_cast<double>(i % 2 == 0 ? i / 2 % 16 : i / 32);
  std::array<OwnedPc, 3> pcs;
  for (const std::size_t k : {0U, 1U, 2U}) {
    const ScopedOptions scope(k == 1 ? moved_inside(kSmoothedGamg) : kSmoothedGamg);
    ok(PCCreate(PETSC_COMM_WORLD, pcs.at(k).out()));
    ok(PCSetOperators(pcs.at(k), a, a));
    ok(PCSetFromOptions(pcs.at(k)));
    if (k < 2) ok(PCSetCoordinates(pcs.at(k), 2, rows / 2, coordinates.data()));
    ok(PCSetUp(pcs.at(k)));
  }
  EXPECT_LE(difference_of_applications(pcs[1], pcs[0], a), 1e-11);
  EXPECT_GT(difference_of_applications(pcs[2], pcs[0], a), 1e-3);
  OwnedNullSpace modes;
  const OwnedVec mode = make_vector(a, 3.0);
  Vec vector = mode;
  ok(VecNormalize(vector, nullptr));
  ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &vector, modes.out()));
  ok(MatSetNearNullSpace(a, modes));
  const OwnedPc with = make_pc(a, moved_inside(kSmoothedGamg));
  const OwnedPc theirs = make_pc(a, kSmoothedGamg);
  EXPECT_LE(difference_of_applications(with, theirs, a), 1e-11);
  EXPECT_GT(difference_of_applications(with, pcs[2], a), 1e-3);
}

/// A PCMG with levels of the application, on a grid or not.
OwnedPc applications_multigrid(Mat fine) {
  OwnedPc mg;
  OwnedMat interpolation;
  PetscInt rows = 0;
  ok(MatGetSize(fine, &rows, nullptr));
  ok(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, (rows + 1) / 2, 2, nullptr, interpolation.out()));
  for (PetscInt i = 0; i < rows; ++i) ok(MatSetValue(interpolation, i, i / 2, 1.0, INSERT_VALUES));
  ok(MatAssemblyBegin(interpolation, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(interpolation, MAT_FINAL_ASSEMBLY));
  ok(PCCreate(PETSC_COMM_SELF, mg.out()));
  ok(PCSetType(mg, PCMG));
  ok(PCMGSetLevels(mg, 2, nullptr));
  ok(PCMGSetGalerkin(mg, PC_MG_GALERKIN_BOTH));
  ok(PCMGSetInterpolation(mg, 1, interpolation));
  ok(PCSetOptionsPrefix(mg, "own_"));
  const ScopedOptions options("-own_mg_levels_pc_type jacobi -own_mg_coarse_pc_type lu");
  ok(PCSetFromOptions(mg));
  ok(PCSetOperators(mg, fine, fine));
  ok(PCSetUp(mg));
  return mg;
}

TEST_P(MultigridType, TakesTheMultigridOfAnApplication) {
  if (type() != std::string(MATAIJ)) GTEST_SKIP() << "levels in host memory";
  const std::string method = "-ksp_type cg -taskdag_ksp ";
  const std::string petscs = method + "off -pc_type none";
  const Case with = make_case(square_grid(), type(), method + "auto -pc_type taskdag -pc_taskdag_type mg");
  const Case alone = make_case(square_grid(), type(), petscs);
  const OwnedPc inside = applications_multigrid(with.a);
  const OwnedPc their = applications_multigrid(alone.a);
  PETSC_OK(PCTaskDAGSetMG(pc_of(with), inside));
  EXPECT_EQ(multigrid_of(pc_of(with)), static_cast<PC>(inside));
  ok(KSPSetPC(alone.ksp, their));
  const Outcome theirs = solve_in(alone, petscs);
  const Outcome ours = solve_in(with, method + "auto");
  EXPECT_TRUE(is_ours(ours)) << ours.view;
  EXPECT_NE(ours.view.find("(own_)"), std::string::npos) << ours.view;
  expect_same(ours, theirs);
  // The interpolation is the application's, and is not lost.
  PETSC_OK(PCReset(pc_of(with)));
  ok(KSPSetOperators(with.ksp, with.a, with.a));
  ok(VecSet(with.x, 0.0));
  expect_same(solve_in(with, method + "auto"), theirs);
  PETSC_OK(PCTaskDAGSetMG(pc_of(with), nullptr));
  EXPECT_NE(multigrid_of(pc_of(with)), static_cast<PC>(inside));
  ok(VecSet(with.x, 0.0));
  const Outcome own = solve_in(with, method + "auto");
  EXPECT_NE(own.view.find("type: gamg"), std::string::npos) << own.view;
  EXPECT_GT(own.reason, 0);
  PETSC_OK(PCSetType(pc_of(with), PCJACOBI));
  EXPECT_EQ(static_cast<int>(PCTaskDAGSetMG(pc_of(with), inside)), 0);
  const QuietErrors errors;
  PC none = nullptr;
  EXPECT_EQ(static_cast<int>(PCTaskDAGGetMG(pc_of(with), &none)), PETSC_ERR_ARG_WRONG);
}

/// What a program sets of the preconditioner inside counts, and options more.
TEST_P(MultigridType, IsSetUpByAProgram) {
  const OwnedMat a = make_matrix(square_grid(), type());
  OwnedPc pc;
  ok(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ok(PCSetType(pc, PCTASKDAG));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_MG));
  ok(PCSetOperators(pc, a, a));
  PC inner = multigrid_of(pc);
  PETSC_OK(PCGAMGSetNlevels(inner, 2));
  PetscInt levels = 0;
  ok(PCSetUp(pc));
  ok(PCMGGetLevels(inner, &levels));
  EXPECT_EQ(levels, 2);
  {
    const ScopedOptions options("-pc_taskdag_mg_pc_type mg -pc_taskdag_mg_mg_levels_0_pc_type jacobi");
    ok(PCSetFromOptions(pc));
    ok(PCSetUp(pc));
  }
  PetscBool is_mg = PETSC_FALSE;
  ok(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(multigrid_of(pc)), PCMG, &is_mg));
  EXPECT_EQ(is_mg, PETSC_TRUE);
  PETSC_OK(PCTaskDAGSetMGPCType(pc, "gamg"));
  ok(PCSetUp(pc));
  ok(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(multigrid_of(pc)), PCGAMG, &is_mg));
  EXPECT_EQ(is_mg, PETSC_TRUE);
}

/// With a grid, PETSc makes the levels of it.
TEST(MultigridTypeOnRanks, TakesAGrid) {
  const std::string petscs =
      "-pc_type mg -pc_mg_levels 3 -pc_mg_galerkin both " + kSmoothedByJacobi + "-mg_coarse_pc_type redundant ";
  std::array<Outcome, 2> outcomes;
  for (const std::size_t ours : {0U, 1U}) {
    const std::string options = "-ksp_type cg -taskdag_ksp auto " + (ours == 1 ? moved_inside(petscs) : petscs);
    Owned<DM, DMDestroy> grid;
    ok(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 33, PETSC_DECIDE,
                    PETSC_DECIDE, 1, 1, nullptr, nullptr, grid.out()));
    ok(DMSetUp(grid));
    OwnedMat a;
    ok(DMCreateMatrix(grid, a.out()));
    PetscInt first = 0;
    PetscInt end = 0;
    ok(MatGetOwnershipRange(a, &first, &end));
    for (PetscInt i = first; i < end; ++i)
      ok(MatSetValue(a, i, i, 2.0 + 0.01 * static_cast<double>(i % 7), ADD_VALUES));
    ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    Case with = make_case(std::move(a), options);
    ok(KSPSetDM(with.ksp, grid));
#if PETSC_VERSION_GE(3, 25, 0)
    ok(KSPSetDMActive(with.ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#else
    ok(KSPSetDMActive(with.ksp, PETSC_FALSE));
#endif
    outcomes.at(ours) = solve_in(with, options);
  }
  EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
  EXPECT_NEAR(static_cast<double>(outcomes[1].iterations), static_cast<double>(outcomes[0].iterations), 1.0);
  EXPECT_NE(outcomes[1].view.find("levels=3"), std::string::npos) << outcomes[1].view;
}

/// The whole on all ranks, and as each rank's block.
TEST(MultigridTypeOnRanks, IsPetscsPreconditioner) {
  const auto iterations = [](const Outcome& outcome) { return static_cast<double>(outcome.iterations); };
  const Outcome theirs = solve_of(square_grid(), MATAIJ, "-ksp_type gmres " + kSmoothedGamg);
  const Outcome ours =
      solve_of(square_grid(), MATAIJ, "-taskdag_ksp auto -ksp_type gmres " + moved_inside(kSmoothedGamg));
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_NEAR(iterations(ours), iterations(theirs), 1.0);
  EXPECT_NE(ours.view.find("cycle: by "), std::string::npos) << ours.view;
  const std::string of_blocks = "-ksp_type gmres -pc_type bjacobi ";
  const std::string petscs = "-sub_pc_type gamg -sub_mg_levels_pc_type jacobi ";
  const Outcome by_blocks = solve_of(square_grid(), MATAIJ, of_blocks + petscs);
  const Outcome our_blocks = solve_of(square_grid(), MATAIJ, of_blocks + moved_inside(petscs, "-sub_"));
  EXPECT_EQ(our_blocks.reason, by_blocks.reason);
  EXPECT_NEAR(iterations(our_blocks), iterations(by_blocks), 1.0);
  EXPECT_NE(our_blocks.view.find("cycle: by TaskDAG"), std::string::npos) << our_blocks.view;
}

}  // namespace
}  // namespace taskdag::test
