// A setting or values that change between two solves, where the KSP is not told of a matrix again: the next solve is
// that of a new KSP. PETSc sets up late there, in the middle of the solve if nobody asks before.
#include <functional>

#include "support.hpp"

namespace taskdag::test {
namespace {

struct Change {
  std::string name;
  std::string before;  ///< options of the first solve
  std::string after;   ///< those that a new KSP has for the second one
  std::function<PetscErrorCode(KSP ksp, PC pc, Mat a)> make;
};

/// The options of a new KSP, read again.
PetscErrorCode read_again(KSP ksp, PC /*pc*/, Mat /*a*/) { return KSPSetFromOptions(ksp); }

PetscErrorCode change_values(KSP /*ksp*/, PC /*pc*/, Mat a) {
  PetscCall(MatScale(a, 2.0));
  return MatShift(a, 3.0);
}

std::vector<Change> changes() {
  const auto levels = [](KSP, PC pc, Mat) { return PCFactorSetLevels(pc, 1); };
  const auto order = [](KSP, PC pc, Mat) { return PCFactorSetMatOrderingType(pc, "rcm"); };
  const auto omega = [](KSP, PC pc, Mat) { return PCSORSetOmega(pc, 1.2); };
  const auto another_type = [](KSP ksp, PC pc, Mat) {
    PetscCall(PCSetType(pc, PCNONE));
    PetscCall(PCSetType(pc, PCTASKDAG));
    return KSPSetFromOptions(ksp);
  };
  const std::string automatic = "-pc_taskdag_type auto ";
  const std::string sor = "-pc_taskdag_type sor ";
  const std::string dic = "-pc_taskdag_type dic ";
  const std::string trick = "-pc_taskdag_eisenstat ";
  return {{"auto_levels", automatic, automatic + "-pc_factor_levels 1 ", levels},
          {"auto_order", automatic, automatic + "-pc_factor_mat_ordering_type rcm ", order},
          {"auto_threads", automatic, automatic + "-pc_taskdag_threads 2 ", read_again},
          {"auto_values", automatic, automatic, change_values},
          {"eisenstat_omega", trick + sor, trick + sor + "-pc_taskdag_sor_omega 1.2 ", omega},
          {"eisenstat_order", trick + dic, trick + dic + "-pc_factor_mat_ordering_type rcm ", order},
          {"eisenstat_off", trick + dic, "-pc_taskdag_eisenstat false " + dic, read_again},
          {"eisenstat_on", dic, trick + dic, read_again},
          {"eisenstat_in_a_new_type", dic, trick + dic, another_type},
          {"eisenstat_values", trick + sor, trick + sor, change_values},
          {"eisenstat_values_of_a_factor", trick + dic, trick + dic, change_values}};
}

struct Result {
  PetscInt iterations = -1;
  OwnedVec x;
};

Result solve(KSP ksp, Mat a) {
  Result result;
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec kept = make_vector(a, 1.0);
  EXPECT_EQ(static_cast<int>(VecDuplicate(b, result.x.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, result.x)), 0);
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Mat now = nullptr;
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp, &reason)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &result.iterations)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetOperators(ksp, &now, nullptr)), 0);
  EXPECT_GT(reason, 0);
  EXPECT_EQ(now, a) << "the operator is the user's again";
  EXPECT_EQ(relative_difference(b, kept), 0.0) << "and so is the right-hand side";
  return result;
}

class BetweenSolves : public testing::TestWithParam<Change> {};

INSTANTIATE_TEST_SUITE_P(All, BetweenSolves, testing::ValuesIn(changes()),
                         [](const auto& parameter) { return parameter.param.name; });

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

TEST_P(BetweenSolves, TheNextOneIsThatOfANewKsp) {
  const std::string always = "-ksp_type cg -ksp_rtol 1e-9 -pc_type taskdag -pc_taskdag_backend host ";
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1}));
  OwnedKsp ksp;
  PC pc = nullptr;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPGetPC(ksp, &pc));
  {
    const ScopedOptions options(always + GetParam().before);
    PETSC_OK(KSPSetFromOptions(ksp));
    solve(ksp, a);
  }
  const ScopedOptions options(always + GetParam().after);
  PETSC_OK(GetParam().make(ksp, pc, a));
  OwnedKsp fresh;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, fresh.out()));
  PETSC_OK(KSPSetOperators(fresh, a, a));
  PETSC_OK(KSPSetFromOptions(fresh));
  const Result expected = solve(fresh, a);
  for (const bool told : {false, true}) {
    SCOPED_TRACE(told);
    if (told) {
      PETSC_OK(KSPSetOperators(ksp, a, a));
    }
    const Result found = solve(ksp, a);
    EXPECT_EQ(found.iterations, expected.iterations);
    EXPECT_LE(relative_difference(found.x, expected.x), 1e-7);
  }
}

TEST(AfterAReset, ASolveIsAnErrorOfPetscs) {
  for (const std::string type : {"-pc_taskdag_type auto", "-pc_taskdag_type dic -pc_taskdag_eisenstat"}) {
    SCOPED_TRACE(type);
    const ScopedOptions options("-ksp_type cg -pc_type taskdag -pc_taskdag_backend host " + type);
    const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1}));
    const OwnedVec b = make_vector(a, 1.0);
    OwnedKsp ksp;
    PC pc = nullptr;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, a, a));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPGetPC(ksp, &pc));
    solve(ksp, a);
    PETSC_OK(PCReset(pc));
    OwnedVec x;
    PETSC_OK(VecDuplicate(b, x.out()));
    const ErrorCapture errors;
    EXPECT_NE(static_cast<int>(KSPSolve(ksp, b, x)), 0);
    EXPECT_NE(errors.message().find("atrix must be set first: KSPSetOperators()"), std::string::npos)
        << errors.message();
  }
}

// The sweeps of SOR are the application's alone, but for Eisenstat's trick, which is not for all of them.
TEST(EisenstatOfSor, OtherSweepsAreRefused) {
  const auto forward = [](PC pc) { return PCSORSetSymmetric(pc, SOR_LOCAL_FORWARD_SWEEP); };
  const auto twice = [](PC pc) { return PCSORSetIterations(pc, 2, 1); };
  for (const std::function<PetscErrorCode(PC)>& change : {std::function<PetscErrorCode(PC)>(forward), {twice}}) {
    const ScopedOptions options(
        "-ksp_type cg -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type sor -pc_taskdag_eisenstat");
    const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1}));
    const OwnedVec b = make_vector(a, 1.0);
    OwnedVec x;
    OwnedKsp ksp;
    PC pc = nullptr;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, a, a));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPGetPC(ksp, &pc));
    solve(ksp, a);
    PETSC_OK(change(pc));
    PETSC_OK(VecDuplicate(b, x.out()));
    const ErrorCapture errors;
    EXPECT_NE(static_cast<int>(KSPSolve(ksp, b, x)), 0);
    EXPECT_NE(errors.message().find("sor with one symmetric iteration"), std::string::npos) << errors.message();
  }
}

}  // namespace
}  // namespace taskdag::test
