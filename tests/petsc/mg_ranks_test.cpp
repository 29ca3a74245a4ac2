// Multigrid of PETSc's with cycles of ours on several ranks: what PETSc's cycles give on the same ranks.
#include <petscdmda.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "deadline.hpp"
#include "krylov_cases.hpp"
#include "mg_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

const std::string kJacobi = "-mg_levels_pc_type jacobi ";
const std::string kGamg = "-pc_type gamg " + kJacobi;
const std::string kOnGrid = "-pc_type mg -pc_mg_galerkin both " + kJacobi + "-pc_mg_levels ";
/// All levels but the coarsest are dealt out.
const std::string kDealtOut = "-taskdag_mg_whole_rows 0 ";

/// The type mg of ours, around GAMG.
const std::string kAsAType =
    "-taskdag_ksp auto -pc_type taskdag -pc_taskdag_type mg -pc_taskdag_mg_mg_levels_pc_type jacobi ";

using OwnedDm = Owned<DM, DMDestroy>;

CsrMatrix plane(double wind = 0.0) {
  return make_stencil({.stencil = Stencil::five_point, .nx = 41, .ny = 37, .nz = 1, .wind = wind});
}
CsrMatrix space() { return make_stencil({.stencil = Stencil::seven_point, .nx = 14, .ny = 15, .nz = 16}); }

MakeCase of_matrix(const CsrMatrix& csr, MatType type, const std::string& split = "") {
  return [=](const std::string& options) {
    const PetscInt local = split.empty() ? PetscInt{PETSC_DECIDE} : local_rows(split, csr.rows);
    return make_case(make_matrix(csr, type, local), options);
  };
}

/// A grid in the plane whose ranks have rectangles of it, and its 5-point stencil. PETSc interpolates by the grid.
Case make_on_grid(MatType type, PetscInt unknowns, const std::string& options) {
  OwnedDm grid;
  OwnedMat a;
  constexpr auto open = DM_BOUNDARY_NONE;
  constexpr PetscInt size = 33;
  ok(DMDACreate2d(PETSC_COMM_WORLD, open, open, DMDA_STENCIL_STAR, size, size, PETSC_DECIDE, PETSC_DECIDE, unknowns, 1,
                  nullptr, nullptr, grid.out()));
  ok(DMSetMatType(grid, type));
  ok(DMSetUp(grid));
  ok(DMCreateMatrix(grid, a.out()));
  DMDALocalInfo mine;
  ok(DMDAGetLocalInfo(grid, &mine));
  for (PetscInt j = mine.ys; j < mine.ys + mine.ym; ++j) {
    for (PetscInt i = mine.xs; i < mine.xs + mine.xm; ++i) {
      for (PetscInt c = 0; c < unknowns; ++c) {
        const MatStencil row{0, j, i, c};
        for (const auto& [dj, di] : {std::pair{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
          const MatStencil column{0, j + dj, i + di, c};
          const bool inside = column.j >= 0 && column.j < size && column.i >= 0 && column.i < size;
          const PetscScalar value = dj == 0 && di == 0 ? 4.1 : -1.0;
          if (inside) ok(MatSetValuesStencil(a, 1, &row, 1, &column, &value, INSERT_VALUES));
        }
      }
    }
  }
  ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  Case made = make_case(std::move(a), options);
  give_grid(made, grid);
  return made;
}
MakeCase of_grid(MatType type, PetscInt unknowns = 1) {
  return [=](const std::string& options) { return make_on_grid(type, unknowns, options); };
}

/// Matrices of this type.
class MultigridOnRanks : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_RANKS(ranks() > 1, "several ranks");
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
    const Outcome any = solve_of(plane(), type(), kInLoop + "-ksp_type cg " + kGamg);
    if (says(any, "share a GPU")) GTEST_SKIP() << said_by(any);
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
  [[nodiscard]] static bool on_host() { return GetParam() == MATAIJ; }
  /// In device memory PETSc's cycle on a grid's hierarchy is wrong, as on one rank (mg_test.cpp).
  static void expect_same_on_grid(const std::string& options) {
    expect_same_cycles(of_grid(type()), of_grid(MATAIJ), options);
  }

 private:
  Deadline deadline_;
};
INSTANTIATE_TEST_SUITE_P(On, MultigridOnRanks, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

TEST_P(MultigridOnRanks, TakesTheHierarchyOfGamg) {
  for (const std::string method : {"cg", "gmres", "bcgs -ksp_rtol 1e-6", "fgmres"})
    expect_same_cycles(of_matrix(plane(), type()), "-ksp_type " + method + " " + kGamg + kDealtOut);
  for (const std::string& levels : {kDealtOut, std::string("-taskdag_mg_whole_rows 200 "), std::string()})
    expect_same_cycles(of_matrix(space(), type()), "-ksp_type cg -pc_gamg_agg_nsmooths 0 " + kGamg + levels);
  expect_same_cycles(of_matrix(plane(0.8), type()), "-ksp_type gmres " + kGamg);
}

TEST_P(MultigridOnRanks, TakesSmoothersOfPetsc) {
  for (const std::string smoother :
       {"pc_type none", "pc_type jacobi -mg_levels_pc_jacobi_type rowmax", "pc_type pbjacobi",
        "ksp_type richardson -mg_levels_ksp_richardson_scale 0.6 -mg_levels_ksp_max_it 3", "ksp_max_it 4"}) {
    for (const std::string& levels : {kDealtOut, std::string()})
      expect_same_cycles(of_matrix(plane(), type()),
                         "-ksp_type gmres " + kGamg + "-mg_levels_" + smoother + " " + levels);
  }
}

/// Those of each rank's own rows, which a level is dealt out for.
TEST_P(MultigridOnRanks, TakesBlocksOfPetscs) {
  const MakeCase make = of_blocks(type(), {.size = 3, .symmetric = true, .nx = 12});
  expect_same_cycles(make, "-ksp_type gmres -pc_type gamg -mg_levels_pc_type pbjacobi ");
}

/// PETSc's sweeps are those of each rank's own rows, which a level is dealt out for.
TEST_P(MultigridOnRanks, TakesSweepsOfPetsc) {
  const ScopedOptions rows("-mat_no_inode");
  for (const std::string settings :
       {"", "-mg_levels_pc_sor_lits 2",
        "-mg_levels_ksp_type richardson -mg_levels_pc_sor_local_forward -mg_levels_pc_sor_omega 1.2",
        "-mg_levels_ksp_type richardson", "-mg_levels_pc_sor_diagonal_shift 0.1"}) {
    const std::string options = "-ksp_type gmres -mat_no_inode -pc_type gamg -mg_levels_pc_type sor " + settings + " ";
    expect_same_cycles(of_matrix(plane(), type()), options);
  }
  const std::string options = "-ksp_type gmres -mat_no_inode -pc_type gamg -mg_levels_pc_type sor ";
  for (const std::string split : {"first", "last", "one alone"})
    expect_same_cycles(of_matrix(plane(), type(), split), options);
}

/// Each rank's own preconditioner of ours is applied where a level is dealt out.
TEST_P(MultigridOnRanks, TakesSmoothersOfOurs) {
  for (const std::string smoother : {"ilu", "sor", "jacobi", "jacobi -mg_levels_pc_taskdag_jacobi_sweeps 2"})
    expect_same_cycles(of_matrix(plane(), type()),
                       "-ksp_type gmres -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type taskdag "
                       "-mg_levels_pc_taskdag_type " +
                           smoother + " ");
}

TEST_P(MultigridOnRanks, HasAllFormsOfCycles) {
  for (const std::string form :
       {"-pc_mg_type multiplicative", "-pc_mg_cycle_type w", "-pc_mg_type additive", "-pc_mg_type full",
        "-pc_mg_type full -pc_mg_cycle_type w", "-pc_mg_type kaskade", "-pc_mg_multiplicative_cycles 2",
        "-pc_mg_distinct_smoothup -mg_levels_up_pc_type jacobi -mg_levels_up_ksp_chebyshev_eigenvalues 0.2,2.1"}) {
    for (const std::string& levels : {kDealtOut, std::string("-taskdag_mg_whole_rows 90 "), std::string()})
      expect_same_on_grid(kOnGrid + "4 -ksp_type fgmres " + form + " " + kBounds + levels);
  }
}

TEST_P(MultigridOnRanks, TakesTheHierarchyOfAGrid) {
  for (const std::string& levels : {kDealtOut, std::string()}) {
    if (on_host()) expect_same_cycles(of_grid(type()), kOnGrid + "3 -ksp_type cg " + levels);
    expect_same_on_grid(kOnGrid + "3 -ksp_type cg " + kBounds + levels);
    if (on_host()) expect_same_cycles(of_grid(type(), 2), kOnGrid + "3 -ksp_type cg " + levels);
  }
}

TEST_P(MultigridOnRanks, WorksWithAnyNumbersOfRows) {
  for (const std::string split : {"unequal", "first", "last", "one alone"}) {
    SCOPED_TRACE(split);
    for (const std::string& levels : {kDealtOut, std::string()})
      expect_same_cycles(of_matrix(plane(), type(), split), "-ksp_type cg " + kGamg + levels);
  }
}

/// What a hierarchy has that is not ours, and what is said of it.
struct Refusal {
  std::string options;
  std::string reason;
  bool inside = false;  ///< there are loops of ours on a level
};

TEST_P(MultigridOnRanks, IsPetscsWhereALevelIsNotOurs) {
  const std::vector<Refusal> refusals = {
      {kGamg + "-mg_levels_1_ksp_type gmres", "level 1's smoother is gmres"},
      {"-pc_type gamg -mg_levels_pc_type sor -mg_levels_pc_sor_its 2", "PETSc's sor with several iterations"},
      {"-pc_type gamg -mg_levels_pc_type bjacobi", "preconditioner is PETSc's bjacobi"},
      {"-pc_type mg -mg_levels_0_pc_type jacobi", "it has one level, on several ranks"},
      {kGamg + "-mg_coarse_ksp_type richardson -mg_coarse_ksp_richardson_scale 0.9 -mg_coarse_pc_type taskdag",
       "level 0's solver has a preconditioner that is no diagonal", true},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.options);
    const std::string options = "-ksp_type fgmres -mat_no_inode " + refusal.options + " ";
    const Outcome theirs = solve_of(plane(), type(), options);
    const Outcome ours = solve_of(plane(), type(), kInLoop + options);
    EXPECT_TRUE(says(ours, "cycle: by PETSc, not TaskDAG: ")) << said_by(ours);
    EXPECT_TRUE(says(ours, refusal.reason)) << said_by(ours);
    if (!refusal.inside) {
      EXPECT_EQ(ours.loops, 0);
    }
    EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(theirs.iterations), on_host() ? 0.0 : 1.0);
  }
}

/// GAMG's coarse operator is singular, too. With PETSc's LU, shifted, what it adds of the null space is chance.
TEST_P(MultigridOnRanks, RemovesNullSpaces) {
  for (const bool constant : {true, false}) {
    const std::vector<double> null = null_vector(plane().rows, constant);
    for (const std::string& options : {"-ksp_type cg " + kGamg, "-ksp_type gmres " + kGamg + kDealtOut,
                                       "-ksp_type cg -mg_coarse_pc_type svd " + kGamg + kDealtOut}) {
      SCOPED_TRACE(options + (constant ? "constant" : "another vector"));
      std::array<Outcome, 2> outcomes;
      for (const std::size_t ours : {0U, 1U}) {
        const std::string all = (ours == 1 ? kInLoop : "") + options;
        const Case with = make_case(singular(plane(), null), type(), all);
        attach(with, null, constant);
        outcomes[ours] = solve_in(with, all);
      }
      EXPECT_TRUE(is_ours(outcomes[1])) << said_by(outcomes[1]);
      EXPECT_GT(outcomes[1].reason, 0);
      EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
      EXPECT_NEAR(static_cast<double>(outcomes[1].iterations), static_cast<double>(outcomes[0].iterations), 1.0);
    }
  }
}

const std::string kReused = "-ksp_type gmres -pc_gamg_reuse_interpolation true " + kGamg;
/// Another matrix on the same pattern.
const Step replace_matrix = replaced_by(plane());
const std::string kMadeAnew = "-ksp_type gmres -pc_gamg_reuse_interpolation false " + kGamg;

TEST_P(MultigridOnRanks, FollowsTheMatrix) {
  const MakeCase make = of_matrix(plane(), type());
  expect_same_steps(make, kMadeAnew + kDealtOut, {nothing, change_values, replace_matrix, change_values});
  expect_same_steps(make, kReused, {nothing, nothing, change_values, replace_matrix});
}

TEST_P(MultigridOnRanks, IsKeptWhereThePreconditionerIs) {
  const MakeCase make = of_matrix(plane(), type());
  expect_same_steps(make, kReused + kDealtOut, {nothing, keep, change_values, renew, change_values});
  expect_same_steps(make, kMadeAnew, {keep, change_values, replace_matrix});
}

/// Where the interpolation has changed in device memory PETSc's triple product of several ranks goes on with what host
/// memory has, which is what it was for PETSc's cycle and what it is for ours, which has brought it there.
TEST_P(MultigridOnRanks, FollowsTheLevels) {
  const MakeCase make = of_matrix(plane(), type());
  for (const std::string& levels : {kDealtOut, std::string()}) {
    expect_same_steps(make, kReused + levels, {nothing, change_interpolation, smooth_more});
    expect_same_steps(make, kReused + levels, {nothing, smooth_more, change_values});
    if (on_host())
      expect_same_steps(make, kReused + levels, {nothing, change_interpolation, smooth_more, change_values});
  }
}

TEST_P(MultigridOnRanks, RepeatedHasTheSameBits) {
  const std::string options = kInLoop + "-ksp_type cg " + kGamg + kDealtOut;
  const Case with = make_case(plane(), type(), options);
  const Outcome first = solve_in(with, options);
  ASSERT_TRUE(is_ours(first)) << said_by(first);
  for (int again = 0; again < 3; ++again) {
    ok(VecSet(with.x, 0.0));
    EXPECT_EQ(solve_in(with, options).history, first.history);
  }
}

TEST_P(MultigridOnRanks, SendsNoMessagesInASolve) {
  const std::string options = kInLoop + "-ksp_type cg -ksp_rtol 1e-14 " + kGamg + kDealtOut;
  expect_no_messages(make_case(plane(), type(), options), options, {2, 2, 8});
}

TEST_P(MultigridOnRanks, MeetsNumbersThatAreNotFiniteOnOneRank) {
  for (const std::string& loop : {kInLoop, kInPetscs}) {
    const std::string options = "-ksp_type cg " + kGamg;
    std::array<Outcome, 2> outcomes;
    for (const std::size_t ours : {0U, 1U}) {
      const std::string all = (ours == 1 ? loop : "") + options;
      const Case with = make_case(plane(), type(), all);
      EXPECT_GT(solve_in(with, all).reason, 0);
      PetscInt first = 0;
      PETSC_OK(VecGetOwnershipRange(with.b, &first, nullptr));
      if (rank() == ranks() - 1)
        ok(VecSetValue(with.b, first + 1, std::numeric_limits<double>::quiet_NaN(), INSERT_VALUES));
      PETSC_OK(VecAssemblyBegin(with.b));
      PETSC_OK(VecAssemblyEnd(with.b));
      outcomes[ours] = solve_in(with, all);
    }
    EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
    EXPECT_LT(outcomes[1].reason, 0);
  }
}

/// Fails in the third iteration where it is to.
PetscErrorCode fail(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, void* context) {
  return static_cast<PetscErrorCode>(iteration == 3 && *static_cast<bool*>(context) ? PETSC_ERR_USER : 0);
}

/// The others wait for that rank in the next iteration, and not for ever; afterwards all can solve again.
TEST_P(MultigridOnRanks, EndsByAMonitorThatFailsOnOneRank) {
  for (const std::string& preconditioner : {kInLoop + kGamg, kAsAType}) {
    const std::string options = preconditioner + "-ksp_type cg -ksp_rtol 1e-10 " + kDealtOut;
    bool fails = rank() == ranks() - 1;
    const Case with = make_case(plane(), type(), options);
    PETSC_OK(KSPMonitorSet(with.ksp, fail, &fails, nullptr));
    {
      const QuietErrors quiet;
      EXPECT_NE(static_cast<int>(solve_in(with, options).code), 0);
    }
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    fails = false;
    ok(VecSet(with.x, 0.0));
    const Outcome again = solve_in(with, options);
    EXPECT_EQ(static_cast<int>(again.code), 0);
    EXPECT_GT(again.reason, 0);
    EXPECT_TRUE(is_ours(again)) << said_by(again);
  }
}

/// Kills the process in the third iteration where it is to be.
PetscErrorCode be_killed(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, void* context) {
  if (iteration == 3 && *static_cast<bool*>(context)) (void)kill(getpid(), SIGKILL);
  return static_cast<PetscErrorCode>(0);
}

/// Run by rank_dies.sh, which lets the others live: they wait in the next cycle. MPI is not to be asked any more then,
/// as it would be by PETSc's loop.
void lose_a_rank(const std::string& by_ours) {
  const std::string options = by_ours + "-ksp_type cg -ksp_rtol 1e-10 " + kDealtOut;
  bool dies = rank() == ranks() - 1;
  const Case with = make_case(plane(), MATAIJ, options);
  const Outcome before = solve_in(with, options);
  ASSERT_TRUE(is_ours(before)) << said_by(before);
  ASSERT_EQ(before.loops, 1);
  PETSC_OK(KSPMonitorSet(with.ksp, be_killed, &dies, nullptr));
  ok(VecSet(with.x, 0.0));
  const ErrorCapture errors;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_NE(static_cast<int>(solve_in(with, options).code), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_NE(errors.message().find("has ended or does not answer"), std::string::npos) << errors.message();
  if (!testing::Test::HasFailure()) std::puts("noticed the end of another rank");
  (void)std::fflush(stdout);
  _exit(0);
}
TEST(MultigridLosesARank, DISABLED_InLoop) { lose_a_rank(kInLoop + kGamg); }
TEST(MultigridLosesARank, DISABLED_AsAType) { lose_a_rank(kAsAType); }

}  // namespace
}  // namespace taskdag::test
