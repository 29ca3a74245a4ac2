// Eisenstat's trick: the norms and counts of PETSc's PCEISENSTAT, and those of the plain method in the natural norm.
#include "support.hpp"

namespace taskdag::test {
namespace {

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 9, .nz = 8}); }
CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .nz = 1, .wind = 1.5});
}
CsrMatrix block() {
  return make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 0.5});
}

/// Every test on both backends.
class Eisenstat : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, Eisenstat, testing::ValuesIn(backends()), name_of_backend);

std::string plain() {
  return "-pc_type taskdag " + OnBackend::option() + "-pc_taskdag_ordering natural -pc_taskdag_type ";
}
std::string ours(const std::string& type) { return "-pc_taskdag_eisenstat " + plain() + type + " "; }

struct History {
  std::vector<PetscReal> norms;
  OwnedVec x;
};

/// Solves from `guess` (nothing: 0), and keeps every norm that is reported.
History solve_with_norms(Mat a, const std::string& options, const Vec* guess = nullptr) {
  const ScopedOptions scope("-ksp_rtol 1e-9 " + options);
  History history;
  OwnedKsp ksp;
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec kept = make_vector(a, 1.0);
  *history.x.out() = nullptr;
  EXPECT_EQ(static_cast<int>(VecDuplicate(b, history.x.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE)), 0);
  if (guess != nullptr) {
    EXPECT_EQ(static_cast<int>(VecCopy(*guess, history.x)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE)), 0);
  }
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, history.x)), 0);
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const PetscReal* norms = nullptr;
  PetscInt count = 0;
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp, &reason)), 0);
  EXPECT_GT(reason, 0);
  EXPECT_EQ(static_cast<int>(KSPGetResidualHistory(ksp, &norms, &count)), 0);
  history.norms.assign(norms, norms + count);
  EXPECT_EQ(relative_difference(b, kept), 0.0) << "the right-hand side is the user's again";
  Mat now = nullptr;
  EXPECT_EQ(static_cast<int>(KSPGetOperators(ksp, &now, nullptr)), 0);
  EXPECT_EQ(now, a) << "and so is the operator";
  return history;
}

void expect_same(const History& found, const History& expected) {
  ASSERT_EQ(found.norms.size(), expected.norms.size());
  for (std::size_t k = 0; k < found.norms.size(); ++k) {
    const double digits = k < 10 ? 1e-9 : 1e-2;  // rounding grows from iteration to iteration
    EXPECT_NEAR(found.norms[k], expected.norms[k], digits * expected.norms[k]) << k;
  }
  EXPECT_LE(relative_difference(found.x, expected.x), 1e-6);
}

// On several ranks PETSc 3.18's fails with MATAIJ: it asks for an operation that the type does not have.
TEST_P(Eisenstat, NormsOfSsorAreThoseOfPetsc) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const ScopedOptions no_inode("-mat_no_inode");
  for (const CsrMatrix& matrix : {poisson(), convection(), block()}) {
    const OwnedMat a = make_matrix(matrix);
    const OwnedVec guess = make_vector(a, 2.0);
    const Vec start = guess;
    for (const std::string omega : {"0.9", "1", "1.4"}) {
      for (const std::string ksp : {"gmres", "bcgs"}) {
        SCOPED_TRACE(ksp + ", omega " + omega);
        const std::string method = "-mat_no_inode -ksp_type " + ksp + " ";
        const std::string theirs = method + "-pc_type eisenstat -pc_eisenstat_omega " + omega;
        const std::string mine = method + ours("sor") + "-pc_taskdag_sor_omega " + omega;
        if (ksp == "gmres") {
          expect_same(solve_with_norms(a, mine), solve_with_norms(a, theirs));
          expect_same(solve_with_norms(a, mine, &start), solve_with_norms(a, theirs, &start));
        } else {
          EXPECT_LE(relative_difference(solve_with_norms(a, mine).x, solve_with_norms(a, theirs).x), 1e-6);
        }
      }
    }
  }
}

TEST_P(Eisenstat, NormsOfSsorInCgAreThoseOfPetsc) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(poisson());
  const OwnedVec guess = make_vector(a, 2.0);
  const Vec start = guess;
  for (const std::string omega : {"1", "1.4"}) {
    const std::string theirs = "-ksp_type cg -pc_type eisenstat -pc_eisenstat_omega " + omega;
    const std::string mine = "-ksp_type cg " + ours("sor") + "-pc_taskdag_sor_omega " + omega;
    expect_same(solve_with_norms(a, mine), solve_with_norms(a, theirs));
    expect_same(solve_with_norms(a, mine, &start), solve_with_norms(a, theirs, &start));
  }
}

TEST_P(Eisenstat, IsThePlainMethodInTheNaturalNorm) {
  const OwnedMat a = make_matrix(poisson());
  const std::string cg = "-ksp_type cg -ksp_norm_type natural ";
  for (const std::string type : {"dic", "icc", "dilu", "ilu", "sor"}) {
    SCOPED_TRACE(type);
    expect_same(solve_with_norms(a, cg + ours(type)), solve_with_norms(a, cg + plain() + type));
  }
  for (const std::string order : {"rcm", "taskdag_bmc"}) {
    SCOPED_TRACE(order);
    const std::string by = " -pc_taskdag_ordering " + order;
    expect_same(solve_with_norms(a, cg + ours("dic") + by), solve_with_norms(a, cg + plain() + "dic" + by));
  }
}

TEST_P(Eisenstat, SymmetricScalingChangesNothingInTheNaturalNorm) {
  const OwnedMat a = make_matrix(poisson());
  const OwnedVec guess = make_vector(a, 2.0);
  const Vec start = guess;
  const std::string cg = "-ksp_type cg -ksp_norm_type natural ";
  const std::string scaled = " -pc_taskdag_eisenstat_scaling symmetric";
  for (const std::string type : {"dic", "icc", "dilu", "ilu"}) {
    SCOPED_TRACE(type);
    expect_same(solve_with_norms(a, cg + ours(type) + scaled), solve_with_norms(a, cg + plain() + type));
    expect_same(solve_with_norms(a, cg + ours(type) + scaled, &start),
                solve_with_norms(a, cg + plain() + type, &start));
  }
  for (const std::string order : {"rcm", "taskdag_bmc"}) {
    SCOPED_TRACE(order);
    const std::string by = " -pc_taskdag_ordering " + order;
    expect_same(solve_with_norms(a, cg + ours("dic") + by + scaled), solve_with_norms(a, cg + plain() + "dic" + by));
  }
}

TEST_P(Eisenstat, SymmetricScalingIsRefusedInOtherNormsAndForSor) {
  const OwnedMat a = make_matrix(poisson());
  const std::string scaled = " -pc_taskdag_eisenstat_scaling symmetric ";
  for (const std::string ksp : {"-ksp_type cg", "-ksp_type cg -ksp_norm_type unpreconditioned", "-ksp_type gmres"}) {
    const Solve result = solve(a, ours("dic") + scaled + ksp);
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_SUP) << ksp;
    EXPECT_NE(result.message.find("-ksp_norm_type natural"), std::string::npos) << result.message;
  }
  const Solve result = solve(a, ours("sor") + scaled + "-ksp_type cg -ksp_norm_type natural");
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_ARG_INCOMP);
  EXPECT_NE(result.message.find("not for sor"), std::string::npos) << result.message;
}

TEST_P(Eisenstat, SymmetricScalingNeedsPositivePivots) {
  const OwnedMat a = make_matrix(poisson());
  PETSC_OK(MatScale(a, -1.0));
  const std::string options =
      ours("dilu") + "-pc_taskdag_eisenstat_scaling symmetric -ksp_type cg -ksp_norm_type natural ";
  const Solve quiet = solve(a, options);
  EXPECT_EQ(static_cast<int>(quiet.code), 0) << quiet.message;
  EXPECT_EQ(quiet.reason, KSP_DIVERGED_PC_FAILED);
  const Solve loud = solve(a, options + "-ksp_error_if_not_converged");
  EXPECT_NE(static_cast<int>(loud.code), 0);
  EXPECT_NE(loud.message.find("needs pivots above 0; that of row "), std::string::npos) << loud.message;
}

TEST_P(Eisenstat, SolvesWhereDiluIsNotIlu) {
  const OwnedMat a = make_matrix(block());
  const History trick = solve_with_norms(a, "-ksp_type gmres " + ours("dilu"));
  const History direct = solve_with_norms(a, "-ksp_type gmres " + plain() + "dilu");
  EXPECT_LE(relative_difference(trick.x, direct.x), 1e-6);
  EXPECT_NEAR(static_cast<double>(trick.norms.size()), static_cast<double>(direct.norms.size()), 3.0);
}

TEST_P(Eisenstat, MakesNoProductWithTheMatrix) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");  // on several, the couplings between them are products
  const OwnedMat a = make_matrix(poisson());
  const int products = event_count("MatMult");
  const int applications = event_count("TaskDAGApply");
  const History history = solve_with_norms(a, "-ksp_type cg " + ours("dic"));
  const auto iterations = static_cast<int>(history.norms.size()) - 1;
  // The shell's own products are counted as such: one an iteration and one before, each of two halves.
  EXPECT_LE(event_count("MatMult") - products, iterations + 1);
  EXPECT_LE(event_count("TaskDAGApply") - applications, 2 * (iterations + 1) + 2);
}

TEST_P(Eisenstat, IsRefusedWhereThereAreNoHalves) {
  const OwnedMat a = make_matrix(block());
  for (const std::string type : {"jacobi", "ilu", "icc", "ilu -pc_factor_levels 1", "sor -pc_taskdag_sor_local_forward",
                                 "sor -pc_taskdag_sor_its 2", "sor -pc_taskdag_sor_lits 2"}) {
    SCOPED_TRACE(type);
    const Solve result = solve(a, ours(type));
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_SUP);
    EXPECT_NE(result.message.find("-pc_taskdag_eisenstat is for"), std::string::npos) << result.message;
  }
  const Solve symmetric = solve(make_matrix(poisson()), ours("dic") + "-ksp_type cg -ksp_pc_side symmetric");
  EXPECT_NE(static_cast<int>(symmetric.code), 0);
}

TEST_P(Eisenstat, SaysWhatItDoes) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(poisson());
  EXPECT_NE(solve(a, ours("dic")).view.find("Eisenstat's trick"), std::string::npos);
}

TEST_P(Eisenstat, AFailureOfTheNumbersIsOneOfTheSolve) {
  CsrMatrix matrix = convection();
  std::size_t e = 0;  // of the first row: no elimination makes it another number
  while (matrix.col_indices[e] != 0) ++e;
  matrix.values[e] = 0.0;
  const OwnedMat a = make_matrix(matrix);
  for (const std::string type : {"sor", "dilu"}) {
    SCOPED_TRACE(type);
    const Solve result = solve(a, ours(type));
    EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED);
  }
}

TEST_P(Eisenstat, NewValuesAreTaken) {
  const OwnedMat a = make_matrix(poisson());
  for (const std::string scaling : {"none", "symmetric"}) {
    SCOPED_TRACE(scaling);
    const ScopedOptions scope("-ksp_rtol 1e-9 -ksp_type cg -ksp_norm_type natural " + ours("dic") +
                              "-pc_taskdag_eisenstat_scaling " + scaling);
    OwnedKsp ksp;
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, a, a));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(MatScale(a, 4.0));
    PETSC_OK(KSPSetOperators(ksp, a, a));
    PETSC_OK(KSPSolve(ksp, b, y));
    PETSC_OK(VecScale(y, 4.0));
    EXPECT_LE(relative_difference(y, x), 1e-7);
  }
}

}  // namespace
}  // namespace taskdag::test
