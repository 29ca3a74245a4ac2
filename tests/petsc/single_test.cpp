/// \file
/// PETSc in single precision: preconditioners, loops and cycles against PETSc's own. Ours compute with doubles, so
/// results are compared to what floats can tell, and counts may be lower where PETSc's suffer from rounding.
#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

constexpr double kRounding = 5e-5;  ///< of an application of PETSc's, relative to its largest element

class Single : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, Single, testing::ValuesIn(backends()), name_of_backend);

std::string own_pc(const std::string& type, const std::string& options = "") {
  const bool ordered = options.find("_ordering") != std::string::npos;
  return "-pc_type taskdag " + OnBackend::option() + (ordered ? "" : "-pc_taskdag_ordering natural ") +
         "-pc_taskdag_type " + type + " " + options + " ";
}
std::string on_blocks(const std::string& type, const std::string& options = "") {
  return ranks() == 1 ? "-pc_type " + type + " " + options + " "
                      : "-pc_type bjacobi -sub_pc_type " + type + " " + options + " ";
}

struct Named {
  std::string name;
  CsrMatrix a;
};
/// Those that PETSc's methods solve in single precision: with the blocks of several ranks fewer.
std::vector<Named> matrices() {
  std::vector<Named> all = {
      {"jpwh_991", load("jpwh_991")}, {"sherman1", load("sherman1")}, {"poisson", poisson()}, {"wind", convection()}};
  if (ranks() == 1) all.push_back({"orsreg_1", load("orsreg_1")});
  return all;
}

/// Counts are the same but for what the rounding of PETSc's sums changes.
void expect_like(PetscInt ours, PetscInt theirs) {
  EXPECT_LE(ours, theirs + std::max<PetscInt>(1, theirs / 10));
  EXPECT_GE(ours, theirs - std::max<PetscInt>(1, theirs / 10));
}
void expect_like(const Solve& ours, const Solve& theirs) {
  EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(static_cast<int>(theirs.code), 0) << theirs.message;
  EXPECT_EQ(ours.reason, theirs.reason);
  expect_like(ours.iterations, theirs.iterations);
}

const std::string kTolerance = " -ksp_rtol 1e-4 -ksp_max_it 500 ";

TEST_P(Single, FactorisationsArePetscs) {
  for (const Named& one : matrices()) {
    const OwnedMat a = make_matrix(one.a);
    for (const std::string type : {"ilu", "icc"}) {
      if (type == "icc" && !is_symmetric(one.a)) continue;
      if (type == "icc" && one.name == "sherman1") continue;  // negative definite
      SCOPED_TRACE(one.name + " " + type);
      const std::string ksp = "-taskdag_ksp off -ksp_type gmres" + kTolerance;
      const Solve theirs = solve(a, ksp + on_blocks(type));
      EXPECT_GT(theirs.reason, 0);
      expect_like(solve(a, ksp + own_pc(type)), theirs);
      expect_like(solve(a, ksp + own_pc(type) + "-pc_taskdag_precision single"), theirs);
      const OwnedPc mine = make_pc(a, own_pc(type));
      const OwnedPc petscs = make_pc(a, on_blocks(type));
      EXPECT_LE(difference_of_applications(mine, petscs, a), kRounding);
      if (ranks() > 1) continue;
      EXPECT_LE(difference_of_columns(mine, petscs, a), kRounding);
    }
  }
}

TEST_P(Single, ThePackageOfPetscsFactorisationsIsOurs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const Named& one : matrices()) {
    SCOPED_TRACE(one.name);
    const OwnedMat a = make_matrix(one.a);
    for (const std::string options : {"", "-pc_factor_levels 1", "-pc_factor_mat_ordering_type rcm"}) {
      const std::string package = " -pc_factor_mat_solver_type taskdag " + OnBackend::option();
      const std::string ksp = "-taskdag_ksp off -ksp_type gmres" + kTolerance;
      expect_like(solve(a, ksp + "-pc_type ilu " + options + package), solve(a, ksp + "-pc_type ilu " + options));
    }
  }
}

TEST_P(Single, SweepsArePetscs) {
  for (const Named& one : matrices()) {
    SCOPED_TRACE(one.name);
    const OwnedMat a = make_matrix(one.a);
    const std::string ksp = "-taskdag_ksp off -ksp_type gmres" + kTolerance;
    for (const std::string options : {"", "-pc_sor_omega 1.2", "-pc_sor_its 2 -pc_sor_lits 2"}) {
      expect_like(solve(a, ksp + own_pc("sor", options)), solve(a, ksp + "-pc_type sor " + options));
      const OwnedPc mine = make_pc(a, own_pc("sor", options));
      const OwnedPc petscs = make_pc(a, "-pc_type sor " + options);
      EXPECT_LE(difference_of_applications(mine, petscs, a), kRounding);
    }
    for (const std::string options : {"", "-pc_jacobi_type rowmax"}) {
      expect_like(solve(a, ksp + own_pc("jacobi", options)), solve(a, ksp + "-pc_type jacobi " + options));
    }
    if (ranks() == 1) expect_like(solve(a, ksp + "-pc_type sor -taskdag_mat_sor"), solve(a, ksp + "-pc_type sor"));
  }
}

TEST_P(Single, DiagonalFactorsAndEisenstatsTrickSolve) {
  const OwnedMat a = make_matrix(poisson());
  for (const std::string& pc : {own_pc("dilu"), own_pc("dic"), own_pc("sor", "-pc_sor_local_symmetric"),
                                own_pc("sor", "-pc_taskdag_eisenstat"), own_pc("jacobi", "-pc_taskdag_jacobi_its 3")}) {
    SCOPED_TRACE(pc);
    EXPECT_GT(solve(a, "-ksp_type gmres" + kTolerance + pc).reason, 0);
  }
}

TEST_P(Single, PointBlocksArePetscs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(poisson());
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  for (const char* const type : {MATSEQBAIJ, MATSEQSBAIJ}) {
    SCOPED_TRACE(type);
    OwnedMat blocks;
    PETSC_OK(MatConvert(a, type, MAT_INITIAL_MATRIX, blocks.out()));
    const std::string kind = std::string(type) == MATSEQBAIJ ? "ilu" : "icc";
    const std::string ksp = "-taskdag_ksp off -ksp_type gmres" + kTolerance;
    expect_like(solve(blocks, ksp + own_pc(kind)), solve(blocks, ksp + "-pc_type " + kind));
  }
}

/// Matrices of this type.
class SingleLoops : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
  [[nodiscard]] static std::string place() {
    return GetParam() == MATAIJ ? " -pc_taskdag_backend host" : " -pc_taskdag_backend cuda";
  }
};
INSTANTIATE_TEST_SUITE_P(On, SingleLoops, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

double relative_residual(const Case& made) {
  OwnedVec residual;
  PetscReal left = 0.0;
  PetscReal whole = 0.0;
  ok(VecDuplicate(made.b, residual.out()));
  ok(VecNorm(made.b, NORM_2, &whole));
  ok(MatMult(made.a, made.x, residual));
  ok(VecAYPX(residual, -1.0, made.b));
  ok(VecNorm(residual, NORM_2, &left));
  return static_cast<double>(left) / static_cast<double>(whole);
}

TEST_P(SingleLoops, AreThoseOfPetsc) {
  int compared = 0;
  for (const Kind& kind : kinds()) {
    const CsrMatrix csr = kind.symmetric ? poisson() : convection();
    const std::string ours = "-pc_type taskdag" + place() + " -pc_taskdag_ordering natural -pc_taskdag_type ";
    for (const std::string& pc : {std::string("-pc_type none"), std::string("-pc_type jacobi"),
                                  ours + (kind.symmetric ? "icc" : "ilu"), ours + "sor"}) {
      for (const char* const guess : {"", " -ksp_initial_guess_nonzero"}) {
        // Where Chebyshev's numbers overflow, PETSc's (3.26) ends with a work vector as the solution, and destroys it
        // twice.
        const std::string limit = kind.name == "chebyshev" ? "-ksp_max_it 100" : "";
        const std::string options = kind.chosen() + " " + pc + guess + kTolerance + limit;
        SCOPED_TRACE(options);
        const Case mine = make_case(csr, type(), kOurs + options);
        const Case petscs = make_case(csr, type(), options);
        const Outcome done = solve_in(mine, kOurs + options);
        if (done.loops == 0) continue;
        const Outcome theirs = solve_in(petscs, options);
        EXPECT_EQ(static_cast<int>(done.code), 0);
        if (theirs.reason <= 0) continue;  // floats overflow where doubles do not
        EXPECT_EQ(done.reason, theirs.reason);
        expect_like(done.iterations, theirs.iterations);
        ++compared;
        EXPECT_LE(relative_residual(mine), 2.0 * relative_residual(petscs) + 1e-4);
      }
    }
  }
  EXPECT_GE(compared, 20);
}

// The loop's copies of the matrix, of a diagonal and of vectors follow what the application changes.
TEST_P(SingleLoops, TakeNewValues) {
  for (const std::string& pc : {std::string("-pc_type jacobi"), "-pc_type taskdag -pc_taskdag_type sor" + place()}) {
    const std::string options = "-ksp_type gmres " + pc + kTolerance;
    SCOPED_TRACE(options);
    const Case made = make_case(convection(), type(), kOurs + options);
    EXPECT_EQ(solve_in(made, kOurs + options).loops, 1);
    EXPECT_LE(relative_residual(made), 1e-3);
    PETSC_OK(MatScale(made.a, 3.0));
    PETSC_OK(MatShift(made.a, 1.0));
    PETSC_OK(VecScale(made.b, -2.0));
    EXPECT_GT(solve_in(made, kOurs + options).reason, 0);
    EXPECT_LE(relative_residual(made), 1e-3);
  }
}

TEST_P(SingleLoops, ProjectANullSpace) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const std::string options = "-ksp_type cg -pc_type jacobi" + kTolerance;
  for (const bool constant : {true, false}) {
    const CsrMatrix grid = poisson();
    const std::vector<double> null = null_vector(grid.rows, constant);
    const auto solved = [&](const std::string& chosen) {
      const Case made = make_case(singular(grid, null), type(), chosen);
      attach(made, null, constant);
      return solve_in(made, chosen);
    };
    const Outcome ours = solved(kOurs + options);
    const Outcome theirs = solved(options);
    EXPECT_EQ(ours.loops, 1) << ours.view;
    EXPECT_EQ(ours.reason, theirs.reason);
    EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(theirs.iterations), 2.0);
  }
}

/// What a monitor of the application's has seen: how often the solution was another one than before.
struct Seen {
  int calls = 0;
  Vec last = nullptr;
  int changes = 0;
};
PetscErrorCode look(KSP ksp, PetscInt /*iteration*/, PetscReal /*norm*/, void* context) {
  auto& seen = *static_cast<Seen*>(context);
  Vec now = nullptr;
  PetscBool same = PETSC_FALSE;
  PetscCall(KSPBuildSolution(ksp, nullptr, &now));
  PetscCall(VecEqual(now, seen.last, &same));
  PetscCall(VecCopy(now, seen.last));
  ++seen.calls;
  if (!same) ++seen.changes;
  return PETSC_SUCCESS;
}

TEST_P(SingleLoops, AMonitorSeesTheSolutionsOfAllIterations) {
  const std::string options = "-ksp_type cg -pc_type jacobi" + kTolerance;
  const Case made = make_case(poisson(), type(), kOurs + options);
  Seen seen;
  OwnedVec last;
  PETSC_OK(VecDuplicate(made.x, last.out()));
  PETSC_OK(VecSet(last, 0.0));
  seen.last = last;
  PETSC_OK(KSPMonitorSet(made.ksp, look, &seen, nullptr));
  const Outcome done = solve_in(made, kOurs + options);
  EXPECT_GT(done.reason, 0);
  EXPECT_EQ(done.loops, 1);
  EXPECT_EQ(seen.calls, done.iterations + 1);
  EXPECT_EQ(seen.changes, done.iterations);
  EXPECT_LE(relative_residual(made), 1e-3);
}

// Infinities of floats are doubles of no special kind to what comes after: the reason has to be PETSc's, all the same.
TEST_P(SingleLoops, NumbersThatAreNotFiniteEndSolves) {
  for (const PetscScalar bad : {PetscScalar(NAN), PetscScalar(INFINITY)}) {
    const std::string options = "-ksp_type cg -pc_type jacobi" + kTolerance;
    const Case made = make_case(poisson(), type(), kOurs + options);
    PETSC_OK(VecSetValue(made.b, 0, bad, INSERT_VALUES));
    PETSC_OK(VecAssemblyBegin(made.b));
    PETSC_OK(VecAssemblyEnd(made.b));
    EXPECT_EQ(solve_in(made, kOurs + options).reason, KSP_DIVERGED_NANORINF);
  }
}

TEST_P(SingleLoops, CyclesAreThoseOfPetsc) {
  for (const std::string& mg : {std::string("-pc_type gamg"), std::string("-pc_type gamg -mg_levels_pc_type sor")}) {
    const std::string options = "-ksp_type cg " + mg + kTolerance;
    SCOPED_TRACE(options);
    const Case mine = make_case(poisson(), type(), kOurs + "-taskdag_mg " + options);
    const Case petscs = make_case(poisson(), type(), options);
    const Outcome ours = solve_in(mine, kOurs + "-taskdag_mg " + options);
    const Outcome theirs = solve_in(petscs, options);
    EXPECT_GT(theirs.reason, 0);
    EXPECT_EQ(ours.reason, theirs.reason);
    EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(theirs.iterations), 1.0);
    EXPECT_LE(relative_residual(mine), 2.0 * relative_residual(petscs) + 1e-4);
  }
}

// One preconditioner over all ranks is that of one rank with the whole matrix.
TEST_P(Single, AcrossRanksItIsThatOfOneRank) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 14, .nz = 1});
  const OwnedMat a = make_matrix(grid);
  const OwnedMat whole = make_local_matrix(grid);
  if (backend() == Backend::cuda) GTEST_SKIP() << "a wave of the natural order is done by one thread";
  for (const std::string type : {"ilu", "icc", "dilu", "sor"}) {
    SCOPED_TRACE(type);
    const std::string ksp = "-taskdag_ksp off -ksp_type gmres" + kTolerance;
    const Solve all = solve(a, ksp + own_pc(type, "-pc_taskdag_across on"));
    EXPECT_EQ(static_cast<int>(all.code), 0) << all.message;
    expect_like(all, solve(whole, ksp + own_pc(type)));
  }
}

}  // namespace
}  // namespace taskdag::test
