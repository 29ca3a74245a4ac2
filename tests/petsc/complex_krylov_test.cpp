// PETSc with complex scalars: Krylov methods as loops of ours, which have PETSc's iterations, norms and reasons.
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "complex_matrices.hpp"
#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

/// Matrices of this type; "cuda": in host memory, solved for on a GPU.
class ComplexLoops : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Ranks of these tests share a GPU, where PETSc's loop stays.
    SKIP_UNLESS_RANKS(ranks() == 1 || GetParam() == MATAIJ, "1 rank");
    const std::string missing = what_is_missing_for(GetParam() == "cuda" ? MATAIJCUSPARSE : GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam() == "cuda" ? MATAIJ : GetParam().c_str(); }
  /// Of a preconditioner of ours: where it works.
  [[nodiscard]] static std::string place() {
    if (ranks() > 1) return " -pc_taskdag_backend host";
    return GetParam() == "cuda" ? " -pc_taskdag_backend cuda" : "";
  }
};
INSTANTIATE_TEST_SUITE_P(On, ComplexLoops, testing::Values(MATAIJ, MATAIJCUSPARSE, "cuda"),
                         [](const auto& test) { return test.param; });

/// On several ranks some are enough: what ranks exchange is the loop's.
std::vector<std::string> preconditioners(bool hermitian) {
  const std::string ours = "-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_type ";
  if (ranks() > 1) return {"-pc_type none", ours + "jacobi", ours + "ilu"};
  std::vector<std::string> list = {"-pc_type none", "-pc_type jacobi", ours + "ilu",
                                   ours + "dilu",   ours + "sor",      "-pc_type taskdag -pc_taskdag_type jacobi"};
  // Not conjugated where the matrix is: neither Hermitian nor positive, so dot products are complex.
  if (hermitian) list.push_back(ours + "icc");
  return list;
}

Case make_complex_case(OwnedMat a, const std::string& options) {
  Case made = make_case(std::move(a), options);
  const OwnedVec b = make_complex_vector(made.a);
  ok(VecCopy(b, made.b));
  return made;
}
Outcome solve_complex(OwnedMat a, const std::string& options) {
  return solve_in(make_complex_case(std::move(a), options), options);
}

TEST_P(ComplexLoops, AreThoseOfPetsc) {
  for (const Kind& kind : kinds()) {
    const CsrMatrix pattern = kind.symmetric ? poisson() : convection();
    const Nature nature = kind.symmetric ? Nature::hermitian : Nature::general;
    for (const std::string& pc : preconditioners(kind.symmetric)) {
      for (const std::string& norm : kind.norms) {
        if (pc.find("icc") != std::string::npos && kind.name == "minres") continue;  // is of Hermitian ones alone
        for (const char* const guess : {"", " -ksp_initial_guess_nonzero"}) {
          const std::string options = kind.chosen() + " " + pc + place() + " -ksp_norm_type " + norm +
                                      " -ksp_pc_side " + kind.sides.front() + guess;
          SCOPED_TRACE(options);
          const auto a = [&] { return make_complex(pattern, nature, type()); };
          const Outcome ours = solve_complex(a(), kOurs + options);
          if (!is_there(ours)) break;
          expect_same(ours, solve_complex(a(), options));
        }
      }
    }
  }
}

TEST_P(ComplexLoops, SolvesOfHelmholtzEquationsArePetscs) {
  for (const char* const ksp : {"gmres", "gmres -ksp_gmres_cgs_refinement_type refine_always",
                                "gmres -ksp_gmres_cgs_refinement_type refine_ifneeded", "gmres -ksp_pc_side right",
                                "fgmres", "bcgs", "bcgs -ksp_pc_side right"}) {
    // The sums of several ranks are rounded in another order, which changes the way of BiCGStab.
    if (ranks() > 1 && std::string(ksp).starts_with("bcgs")) continue;
    const std::string options = std::string("-ksp_type ") + ksp +
                                " -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_ordering natural" + place();
    SCOPED_TRACE(options);
    const auto a = [] {
      OwnedMat made = make_helmholtz(12, {0.5, 0.3});
      ok(MatConvert(made, type(), MAT_INPLACE_MATRIX, made.out()));
      return made;
    };
    const Outcome ours = solve_complex(a(), kOurs + options);
    EXPECT_GT(ours.reason, 0);
    expect_same(ours, solve_complex(a(), options));
  }
}

TEST_P(ComplexLoops, TheSolutionSolvesTheSystem) {
  for (const char* const ksp : {"cg", "bcgs", "gmres", "fgmres"}) {
    const std::string options = std::string("-ksp_type ") + ksp + " -pc_type taskdag -pc_taskdag_type ilu" + place();
    SCOPED_TRACE(options);
    const Case made = make_complex_case(make_complex(poisson(), Nature::hermitian, type()), kOurs + options);
    EXPECT_EQ(solve_in(made, kOurs + options).loops, 1);
    const OwnedVec residual = make_complex_vector(made.a);
    PetscReal left = 0.0;
    PetscReal whole = 0.0;
    PETSC_OK(VecNorm(made.b, NORM_2, &whole));
    PETSC_OK(MatMult(made.a, made.x, residual));
    PETSC_OK(VecAXPY(residual, -1.0, made.b));
    PETSC_OK(VecNorm(residual, NORM_2, &left));
    EXPECT_LE(left, 1e-6 * whole);
  }
}

TEST_P(ComplexLoops, NewValuesAreTaken) {
  const std::string options = "-ksp_type bcgs -pc_type taskdag -pc_taskdag_type ilu" + place();
  const Case ours = make_complex_case(make_complex(convection(), Nature::general, type()), kOurs + options);
  const Case theirs = make_complex_case(make_complex(convection(), Nature::general, type()), options);
  expect_same(solve_in(ours, kOurs + options), solve_in(theirs, options));
  for (const Case* one : {&ours, &theirs}) {
    PETSC_OK(MatScale(one->a, PetscScalar(0.5, -2.0)));
    PETSC_OK(MatShift(one->a, PetscScalar(1.5, -6.0)));
  }
  expect_same(solve_in(ours, kOurs + options), solve_in(theirs, options));
}

TEST_P(ComplexLoops, NumbersThatAreNotFiniteEndSolves) {
  for (const char* const ksp : {"cg", "bcgs", "gmres", "fgmres", "richardson"}) {
    for (const PetscScalar bad : {PetscScalar(NAN, 0.0), PetscScalar(0.0, NAN), PetscScalar(0.0, INFINITY)}) {
      const std::string options = std::string("-ksp_type ") + ksp + " -pc_type taskdag -pc_taskdag_type ilu" + place();
      SCOPED_TRACE(options);
      const Case made = make_case(make_complex(convection(), Nature::general, type()), kOurs + options);
      PETSC_OK(VecSetValue(made.b, 5, bad, INSERT_VALUES));
      PETSC_OK(VecAssemblyBegin(made.b));
      PETSC_OK(VecAssemblyEnd(made.b));
      const Outcome outcome = solve_in(made, kOurs + options);
      EXPECT_EQ(static_cast<int>(outcome.code), 0);
      EXPECT_EQ(outcome.reason, KSP_DIVERGED_NANORINF);
      EXPECT_EQ(outcome.loops, 1);
    }
  }
}

TEST_P(ComplexLoops, WhatIsMissingIsSaid) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const std::pair<std::string, std::string> missing[] = {
      {"-ksp_type cg -ksp_cg_type symmetric", "it is CG for symmetric matrices"},
      {"-ksp_type gmres -ksp_view_eigenvalues ascii:/dev/null", "eigenvalues or singular values"}};
  for (const auto& [asked, why] : missing) {
    const std::string options = asked + " -pc_type taskdag -pc_taskdag_type ilu" + place();
    SCOPED_TRACE(options);
    const Outcome ours = solve_complex(make_complex(poisson(), Nature::symmetric, type()), kOurs + options);
    EXPECT_NE(ours.view.find(why), std::string::npos) << ours.view;
    EXPECT_EQ(ours.loops, 0);
  }
  const OwnedMat blocks = make_complex(poisson(), Nature::general, MATBAIJ, 2);
  const std::string options = "-taskdag_ksp on -ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu" + place();
  EXPECT_NE(solve(blocks, options).view.find("complex and stand in dense blocks"), std::string::npos);
}

TEST_P(ComplexLoops, MonitorsLookOnInEachIteration) {
  const std::string options = "-ksp_type bcgs -pc_type taskdag -pc_taskdag_type ilu" + place();
  const Case made = make_complex_case(make_complex(convection(), Nature::general, type()), kOurs + options);
  std::vector<double> seen;
  const auto look = [](KSP, PetscInt, PetscReal norm, void* to) -> PetscErrorCode {
    static_cast<std::vector<double>*>(to)->push_back(norm);
    return PetscErrorCode{};
  };
  PETSC_OK(KSPMonitorSet(made.ksp, look, &seen, nullptr));
  const Outcome outcome = solve_in(made, kOurs + options);
  EXPECT_EQ(outcome.loops, 1);
  EXPECT_EQ(seen, outcome.history);
}

}  // namespace
}  // namespace taskdag::test
