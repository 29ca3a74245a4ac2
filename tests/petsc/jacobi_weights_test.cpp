// -pc_taskdag_jacobi_weights chebyshev: sweeps that smooth, in Richardson's iteration without a residual.
#include "support.hpp"

namespace taskdag::test {
namespace {

class JacobiWeights : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, JacobiWeights, testing::ValuesIn(backends()), name_of_backend);

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11}); }

std::string jacobi(const std::string& weights, int sweeps, const std::string& prefix = "") {
  const std::string own = "-" + prefix + "pc_taskdag_";
  return "-" + prefix + "pc_type taskdag " + own + "type jacobi " + own + "jacobi_type rowl1 " + own +
         "jacobi_sweeps " + std::to_string(sweeps) + " " + own + "jacobi_weights " + weights + " -" + prefix +
         OnBackend::option().substr(1);
}

/// x after so many steps of x += M⁻¹ (b − A x), the steps made here.
OwnedVec step_by_step(Mat a, PC pc, Vec b, const OwnedVec& guess, int steps) {
  OwnedVec x;
  OwnedVec r;
  OwnedVec z;
  EXPECT_EQ(static_cast<int>(VecDuplicate(guess, x.out())), 0);
  EXPECT_EQ(static_cast<int>(VecDuplicate(guess, r.out())), 0);
  EXPECT_EQ(static_cast<int>(VecDuplicate(guess, z.out())), 0);
  EXPECT_EQ(static_cast<int>(VecCopy(guess, x)), 0);
  for (int k = 0; k < steps; ++k) {
    EXPECT_EQ(static_cast<int>(MatMult(a, x, r)), 0);
    EXPECT_EQ(static_cast<int>(VecAYPX(r, -1.0, b)), 0);
    EXPECT_EQ(static_cast<int>(PCApply(pc, r, z)), 0);
    EXPECT_EQ(static_cast<int>(VecAXPY(x, 1.0, z)), 0);
  }
  return x;
}

TEST_P(JacobiWeights, RichardsonGoesOnFromTheVectorThatIsThere) {
  const OwnedMat a = make_matrix(poisson());
  const OwnedVec b = make_vector(a, 1.0);
  for (const int sweeps : {2, 3}) {
    for (const bool from_zero : {true, false}) {
      SCOPED_TRACE(std::to_string(sweeps) + (from_zero ? " sweeps from 0" : " sweeps from a vector"));
      const std::string options = "-ksp_type richardson -ksp_max_it 3 -ksp_norm_type none -ksp_convergence_test skip " +
                                  jacobi("chebyshev", sweeps);
      const OwnedPc pc = make_pc(a, jacobi("chebyshev", sweeps));
      OwnedVec guess = make_vector(a, 3.0);
      if (from_zero) {
        PETSC_OK(VecSet(guess, 0.0));
      }
      const OwnedVec expected = step_by_step(a, pc, b, guess, 3);
      const ScopedOptions all(options);
      OwnedKsp ksp;
      PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
      PETSC_OK(KSPSetOperators(ksp, a, a));
      PETSC_OK(KSPSetInitialGuessNonzero(ksp, from_zero ? PETSC_FALSE : PETSC_TRUE));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(KSPSetUp(ksp));
      const int products = event_count("MatMult");
      PETSC_OK(KSPSolve(ksp, b, guess));
      EXPECT_EQ(event_count("MatMult"), products) << "no residual is computed";
      EXPECT_LE(relative_difference(guess, expected), 1e-12);
    }
  }
}

TEST_P(JacobiWeights, ConstantOnesStayWithTolerances) {
  const OwnedMat a = make_matrix(poisson());
  const Solve solved = solve(a, "-ksp_type richardson -ksp_max_it 5000 " + jacobi("constant", 3));
  ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
  EXPECT_EQ(solved.reason, KSP_CONVERGED_RTOL);
}

TEST_P(JacobiWeights, SmoothBetterThanConstantOnes) {
  const OwnedMat a = make_matrix(poisson());
  const auto iterations = [&](const std::string& weights) {
    const Solve solved = solve(a, "-ksp_type cg -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 " +
                                      jacobi(weights, 3, "mg_levels_"));
    EXPECT_EQ(static_cast<int>(solved.code), 0) << solved.message;
    EXPECT_GT(solved.reason, 0);
    if (rank() == 0) {
      EXPECT_EQ(solved.view.find("Chebyshev's weights") != std::string::npos, weights == "chebyshev") << solved.view;
    }
    return solved.iterations;
  };
  EXPECT_LT(iterations("chebyshev"), iterations("constant"));
}

TEST_P(JacobiWeights, AreForKernels) {
  const OwnedMat a = make_matrix(poisson());
  const ErrorCapture errors;
  const Solve solved = solve(a, jacobi("chebyshev", 2) + " -pc_taskdag_jacobi_form autonomous");
  EXPECT_NE(static_cast<int>(solved.code), 0);
  EXPECT_NE(solved.message.find("Chebyshev's weights have the forms kernels and turning"), std::string::npos)
      << solved.message;
}

}  // namespace
}  // namespace taskdag::test
