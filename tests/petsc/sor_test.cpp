// -pc_taskdag_type sor is PETSc's PCSOR: values, iteration counts, setters, failures.
#include <petscdmda.h>

#include <array>
#include <cmath>

#include "support.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::test {
namespace {

/// Every test on both backends.
class Sor : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, Sor, testing::ValuesIn(backends()), name_of_backend);

std::string ours_options() { return "-pc_type taskdag -pc_taskdag_type sor " + OnBackend::option(); }

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 9, .nz = 8}); }
CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .nz = 1, .wind = 1.5});
}

/// With equal rows of one column PETSc takes several of them at once ("inodes"): another method.
OwnedMat make_pointwise(const CsrMatrix& a) {
  const ScopedOptions no_inode("-mat_no_inode");
  return make_matrix(a);
}

/// Our options for PETSc's: -pc_sor_… → -pc_taskdag_sor_….
std::string ours_for(std::string options) {
  const std::string theirs = "pc_sor_";
  for (std::size_t at = 0; (at = options.find(theirs, at)) != std::string::npos; at += theirs.size() + 8)
    options.replace(at, theirs.size(), "pc_taskdag_sor_");
  return options;
}

struct Sweep {
  const char* option;
  bool one_rank_only;
};
constexpr std::array kSweeps = {Sweep{"", false},
                                Sweep{"-pc_sor_forward ", true},
                                Sweep{"-pc_sor_backward ", true},
                                Sweep{"-pc_sor_symmetric ", true},
                                Sweep{"-pc_sor_local_forward ", false},
                                Sweep{"-pc_sor_local_backward ", false},
                                Sweep{"-pc_sor_local_symmetric ", false}};

void expect_same_values(const CsrMatrix& matrix, const std::string& parameters) {
  const OwnedMat a = make_pointwise(matrix);
  for (const Sweep& sweep : kSweeps) {
    if (ranks() > 1 && sweep.one_rank_only) continue;
    const std::string options = sweep.option + parameters;
    SCOPED_TRACE(options);
    const OwnedPc theirs = make_pc(a, "-pc_type sor " + options);
    const OwnedPc ours = make_pc(a, ours_options() + ours_for(options));
    EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
  }
}

TEST_P(Sor, ValuesAreThoseOfPetsc) {
  for (const char* name : {"orsreg_1", "jpwh_991", "sherman1", "add32", "bcsstk16", "steam2"}) {
    SCOPED_TRACE(name);
    const CsrMatrix matrix = load(name);
    for (const char* its : {"1", "2", "5"}) {
      for (const char* omega : {"0.8", "1", "1.5"}) {
        expect_same_values(matrix, std::string("-pc_sor_its ") + its + " -pc_sor_omega " + omega);
      }
    }
  }
}

/// Every diagonal entry is there and not 0: PETSc refuses others.
bool has_inverse_diagonal(const CsrMatrix& a) {
  for (Index i = 0; i < a.rows; ++i) {
    double diagonal = 0.0;
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      if (a.col_indices[e] == i) diagonal = a.values[e];
    }
    if (diagonal == 0.0) return false;
  }
  return true;
}

double size_of_application(PC pc, Mat a) {
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  PetscReal size = 0.0;
  EXPECT_EQ(static_cast<int>(PCApply(pc, b, x)), 0);
  EXPECT_EQ(static_cast<int>(VecNorm(x, NORM_INFINITY, &size)), 0);
  return size;
}

TEST_P(Sor, ValuesAreThoseOfPetscOnManyMatrices) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  constexpr Offset kMostEntries = 3000000;
  const std::vector<std::string> paths = listed_matrices();
  if (paths.empty()) GTEST_SKIP() << "TASKDAG_MATRIX_DIR is not set: no matrices to test with";
  int compared = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const CsrMatrix matrix = read_matrix_market(path);
    if (matrix.rows != matrix.cols || matrix.entries() > kMostEntries || !has_inverse_diagonal(matrix)) continue;
    const OwnedMat a = make_pointwise(matrix);
    const OwnedPc theirs = make_pc(a, "-pc_type sor");
    const OwnedPc ours = make_pc(a, ours_options());
    for (const double omega : {0.8, 1.0, 1.5}) {
      for (const PetscInt its : {1, 2, 5}) {
        for (const MatSORType sweep : {SOR_FORWARD_SWEEP, SOR_BACKWARD_SWEEP, SOR_SYMMETRIC_SWEEP}) {
          SCOPED_TRACE("omega " + std::to_string(omega) + ", its " + std::to_string(its) + ", sweep " +
                       std::to_string(sweep));
          for (const PC pc : {static_cast<PC>(theirs), static_cast<PC>(ours)}) {
            PETSC_OK(PCSORSetOmega(pc, omega));
            PETSC_OK(PCSORSetIterations(pc, its, 1));
            PETSC_OK(PCSORSetSymmetric(pc, sweep));
            PETSC_OK(PCSetUp(pc));
          }
          if (std::isfinite(size_of_application(theirs, a))) {
            EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
          } else {  // matrices of ones let SOR grow beyond all numbers
            EXPECT_FALSE(std::isfinite(size_of_application(ours, a)));
          }
        }
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_P(Sor, LocalIterationsAndShiftsAreThoseOfPetsc) {
  for (const CsrMatrix& matrix : {poisson(), convection()}) {
    expect_same_values(matrix, "-pc_sor_its 3 -pc_sor_lits 2 -pc_sor_omega 1.2");
    expect_same_values(matrix, "-pc_sor_lits 3");
    expect_same_values(matrix, "-pc_sor_diagonal_shift 0.5");
    expect_same_values(matrix, "-pc_sor_diagonal_shift 0.5 -pc_sor_its 2 -pc_sor_omega 1.3");
    expect_same_values(matrix, "-pc_sor_diagonal_shift -0.5");
    expect_same_values(matrix, "-pc_sor_diagonal_shift -0.5 -pc_sor_omega 0.9");
  }
}

struct Case {
  const char* name;
  CsrMatrix (*matrix)();
  const char* options;  ///< PETSc's; "pc_type sor" is replaced
  bool one_rank_only = false;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

CsrMatrix orsreg() { return load("orsreg_1"); }
CsrMatrix sherman() { return load("sherman1"); }

class SorIterations : public testing::TestWithParam<std::tuple<Case, std::string>> {
 protected:
  void SetUp() override { SKIP_WITHOUT_BACKEND(std::get<1>(GetParam())); }
};

TEST_P(SorIterations, AreThoseOfPetsc) {
  const Case& c = std::get<0>(GetParam());
  SKIP_UNLESS_RANKS(!c.one_rank_only || ranks() == 1, "1 rank");
  const ScopedOptions no_inode("-mat_no_inode");  // for the levels of multigrid, too
  const std::string theirs_text = std::string("-mat_no_inode ") + c.options;
  std::string ours_text = ours_for(theirs_text);
  const std::string type = "pc_type sor";
  std::size_t places = 0;
  for (std::size_t at = 0; (at = ours_text.find(type, at)) != std::string::npos; ++places) {
    const std::size_t dash = ours_text.rfind('-', at);
    const std::string prefix = ours_text.substr(dash, at - dash);
    const std::string with =
        "pc_type taskdag " + prefix + "pc_taskdag_type sor " + prefix + OnBackend::option().substr(1);
    ours_text.replace(at, type.size(), with);
    at += with.size();
  }
  ASSERT_GT(places, 0U);
  const OwnedMat a = make_pointwise(c.matrix());
  const Solve theirs = solve(a, theirs_text);
  const Solve ours = solve(a, ours_text);
  ASSERT_EQ(static_cast<int>(theirs.code), 0) << theirs.message;
  ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_GT(theirs.reason, 0) << "the case shows nothing unless it converges";
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_EQ(ours.iterations, theirs.iterations);
  EXPECT_NEAR(ours.residual, theirs.residual, 1e-2 * theirs.residual);
  if (rank() == 0) {  // which prints
    EXPECT_NE(ours.view.find("SOR: "), std::string::npos) << ours.view;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plugin, SorIterations,
    testing::Combine(
        testing::Values(
            Case{"richardson", poisson, "-ksp_type richardson -pc_type sor -ksp_max_it 2000"},
            Case{"richardson_forward", convection,
                 "-ksp_type richardson -pc_type sor -pc_sor_local_forward -ksp_max_it 4000"},
            Case{"richardson_with_norms", poisson,
                 "-ksp_type richardson -pc_type sor -ksp_monitor_cancel -ksp_norm_type unpreconditioned -ksp_max_it "
                 "2000"},
            Case{"cg_ssor", poisson, "-ksp_type cg -pc_type sor -pc_sor_omega 1.3"},
            Case{"cg_ssor_twice", poisson, "-ksp_type cg -pc_type sor -pc_sor_its 2"},
            Case{"gmres_forward", convection, "-ksp_type gmres -pc_type sor -pc_sor_local_forward"},
            Case{"gmres_backward_its", orsreg, "-ksp_type gmres -pc_type sor -pc_sor_local_backward -pc_sor_its 2"},
            Case{"gmres_global", sherman, "-ksp_type gmres -pc_type sor -pc_sor_symmetric -pc_sor_omega 0.9", true},
            Case{"chebyshev", poisson,
                 "-ksp_type chebyshev -pc_type sor -ksp_chebyshev_eigenvalues 0.05,1.8 -ksp_max_it 500"},
            Case{"gamg_richardson", poisson,
                 "-ksp_type cg -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type sor"},
            Case{"gamg_chebyshev", poisson,
                 "-ksp_type cg -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type sor"},
            Case{"gamg_two_steps", convection,
                 "-ksp_type gmres -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 2 "
                 "-mg_levels_pc_type "
                 "sor "
                 "-mg_levels_pc_sor_local_forward"}),
        testing::ValuesIn(backends())),
    [](const auto& test) { return std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param); });

/// PCMG on a grid of PETSc's, coarsened by Galerkin products.
int mg_iterations(const std::string& options) {
  const ScopedOptions all(
      "-mat_no_inode -ksp_rtol 1e-8 -ksp_type cg -pc_type mg -pc_mg_levels 3 -pc_mg_galerkin both " + options);
  DM grid = nullptr;
  Vec b = nullptr;
  OwnedKsp ksp;
  PetscInt iterations = -1;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  EXPECT_EQ(static_cast<int>(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33,
                                          33, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, &grid)),
            0);
  EXPECT_EQ(static_cast<int>(DMSetUp(grid)), 0);
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetDM(ksp, grid)), 0);
  const auto operators = [](KSP solver, Mat, Mat matrix, void*) -> PetscErrorCode {
    DM dm = nullptr;
    DMDALocalInfo info;
    PetscFunctionBegin;
    PetscCall(KSPGetDM(solver, &dm));
    PetscCall(DMDAGetLocalInfo(dm, &info));
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const double k = (i / 8 + j / 8) % 2 == 0 ? 1.0 : 100.0;  // jumping coefficients
        MatStencil row{};
        row.i = i;
        row.j = j;
        std::array<MatStencil, 5> columns{row, row, row, row, row};
        std::array<double, 5> values{4.0 * k + 1.0, 0, 0, 0, 0};
        int count = 1;
        const auto couple = [&](PetscInt x, PetscInt y) {
          if (x < 0 || y < 0 || x >= info.mx || y >= info.my) return;
          const double other = (x / 8 + y / 8) % 2 == 0 ? 1.0 : 100.0;
          columns[static_cast<std::size_t>(count)].i = x;
          columns[static_cast<std::size_t>(count)].j = y;
          values[static_cast<std::size_t>(count++)] = -2.0 * k * other / (k + other);
        };
        couple(i - 1, j);
        couple(i + 1, j);
        couple(i, j - 1);
        couple(i, j + 1);
        PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns.data(), values.data(), INSERT_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(static_cast<PetscErrorCode>(0));
  };
  const auto rhs = [](KSP, Vec vector, void*) -> PetscErrorCode { return VecSet(vector, 1.0); };
  EXPECT_EQ(static_cast<int>(KSPSetComputeOperators(ksp, operators, nullptr)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetComputeRHS(ksp, rhs, nullptr)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, nullptr, b)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &iterations)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp, &reason)), 0);
  EXPECT_GT(reason, 0);
  EXPECT_EQ(static_cast<int>(DMDestroy(&grid)), 0);
  return static_cast<int>(iterations);
}

TEST_P(Sor, SmoothsMultigridAsPetscDoes) {
  const std::string ours = "pc_type taskdag -PREFIXpc_taskdag_type sor -PREFIX" + OnBackend::option().substr(1);
  const auto ours_on = [&](const std::string& prefix) {
    std::string text = "-" + prefix + ours;
    for (std::size_t at = 0; (at = text.find("PREFIX")) != std::string::npos;) text.replace(at, 6, prefix);
    return text;
  };
  const std::string steps = "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 2 ";
  EXPECT_EQ(mg_iterations(steps + ours_on("mg_levels_")), mg_iterations(steps + "-mg_levels_pc_type sor"));
  // Forward before, backward after: a symmetric cycle, for CG.
  const std::string split =
      "-pc_mg_distinct_smoothup -mg_levels_ksp_type richardson -mg_levels_up_ksp_type richardson ";
  const int theirs = mg_iterations(split +
                                   "-mg_levels_pc_type sor -mg_levels_pc_sor_local_forward "
                                   "-mg_levels_up_pc_type sor -mg_levels_up_pc_sor_local_backward");
  EXPECT_EQ(mg_iterations(split + ours_on("mg_levels_") + ours_on("mg_levels_up_") +
                          "-mg_levels_pc_taskdag_sor_local_forward -mg_levels_up_pc_taskdag_sor_local_backward"),
            theirs);
}

TEST_P(Sor, GoesOnFromAGuess) {
  const OwnedMat a = make_pointwise(poisson());
  const std::string ksp = "-ksp_type richardson -ksp_max_it 7 -ksp_norm_type none -ksp_convergence_test skip ";
  const auto result = [&](const std::string& pc) {
    const ScopedOptions options(ksp + pc);
    OwnedKsp solver;
    OwnedVec x = make_vector(a, 3.0);
    const OwnedVec b = make_vector(a, 1.0);
    EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, solver.out())), 0);
    EXPECT_EQ(static_cast<int>(KSPSetOperators(solver, a, a)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetInitialGuessNonzero(solver, PETSC_TRUE)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetFromOptions(solver)), 0);
    EXPECT_EQ(static_cast<int>(KSPSolve(solver, b, x)), 0);
    return x;
  };
  for (const std::string sweep : {"local_symmetric", "local_forward", "local_backward"}) {
    SCOPED_TRACE(sweep);
    const OwnedVec theirs = result("-pc_type sor -pc_sor_omega 1.1 -pc_sor_" + sweep);
    const int applications = event_count("TaskDAGApply");
    const OwnedVec ours = result(ours_options() + "-pc_taskdag_sor_omega 1.1 -pc_taskdag_sor_" + sweep);
    EXPECT_LE(relative_difference(ours, theirs), 1e-12);
    // All seven steps in one call, without residuals; on several ranks one call each.
    EXPECT_EQ(event_count("TaskDAGApply") - applications, ranks() == 1 ? 1 : 7);
  }
}

TEST_P(Sor, EveryScheduleAndOrderWorks) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_pointwise(convection());
  const OwnedPc theirs = make_pc(a, "-pc_type sor -pc_sor_its 2");
  for (const SolveSchedule schedule : solve_schedules(OnBackend::backend())) {
    if (schedule == SolveSchedule::blocks) continue;
    SCOPED_TRACE(to_string(schedule));
    const OwnedPc ours =
        make_pc(a, ours_options() + "-pc_taskdag_sor_its 2 -pc_taskdag_schedule " + to_string(schedule));
    EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
  }
  // Another order of the rows is another preconditioner, and says so.
  const Solve natural = solve(a, ours_options());
  const Solve coloured = solve(a, ours_options() + "-pc_taskdag_ordering taskdag_bmc -pc_taskdag_schedule blocks");
  ASSERT_EQ(static_cast<int>(coloured.code), 0) << coloured.message;
  EXPECT_GT(coloured.reason, 0);
  EXPECT_NE(natural.view.find("matrix ordering: natural"), std::string::npos) << natural.view;
  EXPECT_NE(coloured.view.find("matrix ordering: taskdag_bmc: "), std::string::npos) << coloured.view;
  EXPECT_NE(coloured.view.find("forward blocks, backward blocks"), std::string::npos) << coloured.view;
}

TEST_P(Sor, AnOrderedSweepIsThatOfThePermutedMatrix) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_pointwise(load("orsreg_1"));
  OwnedIs row;
  OwnedIs col;
  OwnedMat permuted;
  PETSC_OK(MatGetOrdering(a, MATORDERINGRCM, row.out(), col.out()));
  PETSC_OK(MatPermute(a, row, col, permuted.out()));
  const OwnedPc theirs = make_pc(permuted, "-mat_no_inode -pc_type sor");
  const OwnedPc ours = make_pc(a, ours_options() + "-pc_taskdag_ordering rcm");
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  PETSC_OK(PCApply(ours, b, x));
  PETSC_OK(VecPermute(b, row, PETSC_FALSE));
  PETSC_OK(PCApply(theirs, b, y));
  PETSC_OK(VecPermute(x, row, PETSC_FALSE));
  EXPECT_LE(relative_difference(x, y), 1e-12);
}

// The unknowns of a point stay together, coupled: a colour's cells are points then.
TEST_P(Sor, ASweepByColoursOfNodesIsThatOfThePermutedMatrix) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a =
      make_matrix(make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .unknowns_per_node = 3}));
  for (const std::string order : {"taskdag_color", "taskdag_bmc"}) {
    OwnedIs row;
    OwnedIs col;
    OwnedMat permuted;
    PETSC_OK(MatGetOrdering(a, order.c_str(), row.out(), col.out()));
    {
      const ScopedOptions no_inode("-mat_no_inode");
      PETSC_OK(MatPermute(a, row, col, permuted.out()));
    }
    const OwnedPc theirs = make_pc(permuted, "-pc_type sor -pc_sor_symmetric");
    const OwnedVec b = make_vector(a);
    const OwnedVec permuted_b = make_vector(a);
    const OwnedVec y = make_vector(a);
    PETSC_OK(VecPermute(permuted_b, row, PETSC_FALSE));
    PETSC_OK(PCApply(theirs, permuted_b, y));
    for (const SolveSchedule schedule : solve_schedules(OnBackend::backend())) {
      SCOPED_TRACE(order + ", " + to_string(schedule));
      const OwnedPc ours = make_pc(a, ours_options() + "-pc_taskdag_sor_symmetric -pc_taskdag_ordering " + order +
                                          " -pc_taskdag_schedule " + to_string(schedule));
      const OwnedVec x = make_vector(a);
      PETSC_OK(PCApply(ours, b, x));
      PETSC_OK(VecPermute(x, row, PETSC_FALSE));
      EXPECT_LE(relative_difference(x, y), 1e-12);
    }
  }
}

TEST_P(Sor, PetscsSettersReachIt) {
  const OwnedMat a = make_pointwise(poisson());
  const OwnedPc theirs = make_pc(a, "-pc_type sor");
  const OwnedPc ours = make_pc(a, ours_options());
  for (const PC pc : {static_cast<PC>(theirs), static_cast<PC>(ours)}) {
    PETSC_OK(PCSORSetOmega(pc, 1.4));
    PETSC_OK(PCSORSetIterations(pc, 2, 3));
    PETSC_OK(PCSORSetSymmetric(pc, SOR_LOCAL_BACKWARD_SWEEP));
    PetscReal omega = 0.0;
    PetscInt its = 0;
    PetscInt lits = 0;
    MatSORType sweep = SOR_FORWARD_SWEEP;
    PETSC_OK(PCSORGetOmega(pc, &omega));
    PETSC_OK(PCSORGetIterations(pc, &its, &lits));
    PETSC_OK(PCSORGetSymmetric(pc, &sweep));
    EXPECT_EQ(omega, 1.4);
    EXPECT_EQ(its, 2);
    EXPECT_EQ(lits, 3);
    EXPECT_EQ(sweep, SOR_LOCAL_BACKWARD_SWEEP);
  }
  EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSORSetOmega(ours, 2.0)), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ(static_cast<int>(PCSORSetIterations(ours, 0, 1)), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ(static_cast<int>(PCSORSetSymmetric(ours, SOR_EISENSTAT)), PETSC_ERR_SUP);
}

TEST_P(Sor, NewValuesAndNewPatternsAreTaken) {
  const OwnedMat a = make_pointwise(convection());
  const OwnedPc theirs = make_pc(a, "-pc_type sor -pc_sor_its 2");
  const OwnedPc ours = make_pc(a, ours_options() + "-pc_taskdag_sor_its 2");
  EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
  const int analyses = event_count("TaskDAGSymbolic");
  PETSC_OK(MatScale(a, 3.0));
  PETSC_OK(MatShift(a, 0.5));
  EXPECT_LE(difference_of_applications(ours, theirs, a), 1e-12);
  EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses);
  const OwnedMat other = make_pointwise(poisson());
  for (const PC pc : {static_cast<PC>(theirs), static_cast<PC>(ours)}) {
    PETSC_OK(PCReset(pc));
    PETSC_OK(PCSetOperators(pc, other, other));
    PETSC_OK(PCSetUp(pc));
  }
  EXPECT_LE(difference_of_applications(ours, theirs, other), 1e-12);
}

TEST_P(Sor, ColumnsOfADenseMatrixAreDoneOneByOne) {
  const OwnedMat a = make_pointwise(poisson());
  const OwnedPc theirs = make_pc(a, "-pc_type sor");
  const OwnedPc ours = make_pc(a, ours_options());
  EXPECT_LE(difference_of_columns(ours, theirs, a), 1e-12);
}

TEST_P(Sor, TransposedIsForSymmetricMatricesAndSweeps) {
  const OwnedMat a = make_pointwise(poisson());
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  const OwnedPc ours = make_pc(a, ours_options());
  {
    const ErrorCapture errors;
    EXPECT_EQ(static_cast<int>(PCApplyTranspose(ours, b, x)), PETSC_ERR_SUP);
    EXPECT_NE(errors.message().find("known to be symmetric"), std::string::npos) << errors.message();
  }
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  const OwnedPc told = make_pc(a, ours_options());
  PETSC_OK(PCApplyTranspose(told, b, x));
  PETSC_OK(PCApply(told, b, y));
  EXPECT_EQ(relative_difference(x, y), 0.0);
  PETSC_OK(PCSORSetSymmetric(told, SOR_LOCAL_FORWARD_SWEEP));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCApplyTranspose(told, b, x)), PETSC_ERR_SUP);
}

TEST_P(Sor, SweepsAcrossRanksAreRefusedAsInPetsc) {
  SKIP_UNLESS_RANKS(ranks() > 1, "2 or more ranks");
  const OwnedMat a = make_pointwise(poisson());
  for (const std::string sweep : {"forward", "backward", "symmetric"}) {
    const Solve theirs = solve(a, "-pc_type sor -pc_sor_" + sweep);
    const Solve ours = solve(a, ours_options() + "-pc_taskdag_sor_" + sweep);
    EXPECT_EQ(static_cast<int>(theirs.code), PETSC_ERR_SUP);
    EXPECT_EQ(static_cast<int>(ours.code), PETSC_ERR_SUP);
    EXPECT_NE(ours.message.find("-pc_taskdag_sor_local_" + sweep), std::string::npos) << ours.message;
  }
}

TEST_P(Sor, AZeroOnTheDiagonalIsAFailureOnAllRanks) {
  CsrMatrix matrix = convection();
  auto e = static_cast<std::size_t>(matrix.row_offsets[5]);
  while (matrix.col_indices[e] != 5) ++e;
  for (const double entry : {0.0, std::nan("")}) {
    matrix.values[e] = entry;
    const OwnedMat a = make_pointwise(matrix);
    const Solve result = solve(a, ours_options());
    EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
    const KSPConvergedReason reason = std::isnan(entry) ? KSP_DIVERGED_NANORINF : KSP_DIVERGED_PC_FAILED;
    EXPECT_EQ(result.reason, reason);
    EXPECT_EQ(result.failed, std::isnan(entry) ? PC_NOERROR : PC_FACTOR_NUMERIC_ZEROPIVOT);
    const Solve smoothed = solve(a, ours_options() + "-ksp_type richardson -ksp_max_it 5");
    EXPECT_EQ(smoothed.reason, reason);
    EXPECT_EQ(smoothed.iterations, 0);
    if (ranks() > 1) continue;
    const Solve strict = solve(a, ours_options() + "-ksp_error_if_not_converged");
    EXPECT_EQ(static_cast<int>(strict.code), std::isnan(entry) ? PETSC_ERR_FP : PETSC_ERR_MAT_LU_ZRPVT);
  }
}

TEST_P(Sor, AnotherTypeHasNoStepsOfItsOwn) {
  const OwnedMat a = make_pointwise(poisson());
  const OwnedPc pc = make_pc(a, ours_options());
  PetscBool exists = PETSC_FALSE;
  PETSC_OK(PCApplyRichardsonExists(pc, &exists));
  EXPECT_TRUE(exists);
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCApplyRichardsonExists(pc, &exists));
  EXPECT_FALSE(exists);
}

TEST_P(Sor, TheEngineIsShown) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_pointwise(poisson());
  const Solve result = solve(a, ours_options() + "-pc_taskdag_schedule engine");
  EXPECT_NE(result.view.find("engine: sweeps as a program"), std::string::npos) << result.view;
  EXPECT_NE(result.view.find("tasks \""), std::string::npos) << result.view;
}

}  // namespace
}  // namespace taskdag::test
