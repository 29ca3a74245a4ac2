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

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1}); }

/// Set from the options that are in force.
OwnedKsp make_ksp(Mat a) {
  OwnedKsp ksp;
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  return ksp;
}

PC pc_of(KSP ksp) {
  PC pc = nullptr;
  EXPECT_EQ(static_cast<int>(KSPGetPC(ksp, &pc)), 0);
  return pc;
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
  const OwnedMat a = make_matrix(grid());
  const OwnedKsp ksp = [&] {
    const ScopedOptions options(always + GetParam().before);
    OwnedKsp made = make_ksp(a);
    solve(made, a);
    return made;
  }();
  const ScopedOptions options(always + GetParam().after);
  PETSC_OK(GetParam().make(ksp, pc_of(ksp), a));
  const Result expected = solve(make_ksp(a), a);
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

/// A solve, a change, and a solve that PETSc refuses in words that hold `part`.
void expect_refused(const std::string& options, const std::function<PetscErrorCode(PC pc)>& change,
                    const std::string& part) {
  SCOPED_TRACE(options);
  const ScopedOptions scope("-ksp_type cg -pc_type taskdag -pc_taskdag_backend host " + options);
  const OwnedMat a = make_matrix(grid());
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec x = make_vector(a, 1.0);
  const OwnedKsp ksp = make_ksp(a);
  solve(ksp, a);
  PETSC_OK(change(pc_of(ksp)));
  const ErrorCapture errors;
  EXPECT_NE(static_cast<int>(KSPSolve(ksp, b, x)), 0);
  EXPECT_NE(errors.message().find(part), std::string::npos) << errors.message();
}

TEST(AfterAReset, ASolveIsAnErrorOfPetscs) {
  for (const std::string type : {"-pc_taskdag_type auto", "-pc_taskdag_type dic -pc_taskdag_eisenstat"})
    expect_refused(type, PCReset, "atrix must be set first: KSPSetOperators()");
}

// The sweeps of SOR are the application's alone, but for Eisenstat's trick, which is not for all of them.
TEST(EisenstatOfSor, OtherSweepsAreRefused) {
  const std::string trick = "-pc_taskdag_type sor -pc_taskdag_eisenstat";
  const std::string refusal = "sor with one symmetric iteration";
  expect_refused(
      trick, [](PC pc) { return PCSORSetSymmetric(pc, SOR_LOCAL_FORWARD_SWEEP); }, refusal);
  expect_refused(
      trick, [](PC pc) { return PCSORSetIterations(pc, 2, 1); }, refusal);
}

}  // namespace
}  // namespace taskdag::test
