// -pc_taskdag_type auto: a factorisation or Jacobi, by the matrix and by what solves took.
#include <algorithm>
#include <cmath>

#include "support.hpp"

namespace taskdag::test {
namespace {

class AutoType : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, AutoType, testing::ValuesIn(backends()), name_of_backend);

const std::string taskdag_auto = "-pc_type taskdag -pc_taskdag_type auto ";

CsrMatrix plane(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n}); }
CsrMatrix windy_plane(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = 0.1}); }
CsrMatrix cube(Index n) { return make_stencil({.stencil = Stencil::seven_point, .nx = n, .ny = n, .nz = n}); }

OwnedMat symmetric(const CsrMatrix& a) {
  OwnedMat matrix = make_matrix(a);
  EXPECT_EQ(static_cast<int>(MatSetOption(matrix, MAT_SYMMETRIC, PETSC_TRUE)), 0);
  return matrix;
}

/// A KSP that solves again and again.
class Repeated {
 public:
  Repeated(Mat a, const std::string& options) : a_(a), options_(options + " -ksp_rtol 1e-8"), b_(make_vector(a)) {
    EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp_.out())), 0);
    EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp_, a, a)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp_)), 0);
    EXPECT_EQ(static_cast<int>(VecDuplicate(b_, x_.out())), 0);
  }
  /// @returns iterations, below 0 where it did not converge
  PetscInt operator()() {
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    EXPECT_EQ(static_cast<int>(KSPSolve(ksp_, b_, x_)), 0);
    EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp_, &iterations)), 0);
    EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp_, &reason)), 0);
    return reason > 0 ? iterations : -1 - iterations;
  }
  /// New values, on the same pattern.
  void scale(double factor) { EXPECT_EQ(static_cast<int>(MatScale(a_, factor)), 0); }
  [[nodiscard]] std::string view() const { return view_text(ksp_); }

 private:
  Mat a_;
  ScopedOptions options_;
  OwnedVec b_;
  OwnedVec x_;
  OwnedKsp ksp_;
};

/// Whether the first rank has it, which alone has the text; on all ranks.
bool shows(const Repeated& solves, const std::string& text) {
  int found = solves.view().find(text) != std::string::npos ? 1 : 0;
  EXPECT_EQ(MPI_Bcast(&found, 1, MPI_INT, 0, PETSC_COMM_WORLD), MPI_SUCCESS);
  return found == 1;
}

/// On the first rank, which alone has the text.
void expect_in_view(const std::string& view, const std::string& text) {
  if (rank() != 0) return;
  EXPECT_NE(view.find(text), std::string::npos) << text << " in\n" << view;
}

PetscInt iterations_with(Mat a, const std::string& options) {
  const Solve solved = solve(a, options + " -ksp_rtol 1e-8");
  EXPECT_GT(solved.reason, 0) << solved.message;
  return solved.iterations;
}

// On 4 ranks, too, not few rows. Of these alone a plane that is symmetric has many levels, whether PETSc knows or not.
TEST_P(AutoType, TakesWhatItSays) {
  for (const auto& [matrix, known] :
       {std::pair{plane(112), true}, {plane(112), false}, {windy_plane(112), false}, {cube(24), true}}) {
    const OwnedMat a = known ? symmetric(matrix) : make_matrix(matrix);
    const bool is_symmetric = matrix.values != windy_plane(112).values;
    const bool jacobi = backend() == Backend::cuda && (!is_symmetric || matrix.rows == 24 * 24 * 24);
    const std::string type = jacobi ? "jacobi" : is_symmetric ? "icc" : "ilu";
    const std::string method = std::string("-ksp_type ") + (is_symmetric ? "cg " : "gmres ");
    const Solve solved = solve(a, method + taskdag_auto + option());
    ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
    expect_in_view(solved.view, "type: auto");
    expect_in_view(solved.view, "auto: " + type + " now");
    EXPECT_EQ(solved.iterations,
              iterations_with(a, method + "-pc_type taskdag -pc_taskdag_type " + type + " " + option()));
  }
}

TEST_P(AutoType, IsWhatCountsWithoutAType) {
  const OwnedMat a = symmetric(cube(24));
  const Solve given = solve(a, "-ksp_type cg " + taskdag_auto + option());
  const Solve none = solve(a, "-ksp_type cg -pc_type taskdag " + option());
  const Solve factor = solve(a, "-ksp_type cg -pc_type taskdag -pc_taskdag_ordering natural " + option());
  expect_in_view(given.view, "type: auto\n");
  expect_in_view(none.view, "type: auto (none was given)\n");
  expect_in_view(none.view, backend() == Backend::cuda ? "auto: jacobi now" : "auto: icc now");
  expect_in_view(factor.view, "type: ilu (none was given)\n");
  EXPECT_EQ(none.iterations, given.iterations);
  EXPECT_EQ(factor.iterations, iterations_with(a,
                                               "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu "
                                               "-pc_taskdag_ordering natural " +
                                                   option()));
}

TEST_P(AutoType, TakesAFactorForFewRows) {
  const OwnedMat a = symmetric(plane(30));
  const Solve solved = solve(a, "-ksp_type cg " + taskdag_auto + option());
  expect_in_view(solved.view, "auto: icc now");
  EXPECT_EQ(solved.iterations, iterations_with(a, "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc " + option()));
}

TEST_P(AutoType, TakesAFactorWhereTheDiagonalIsSmall) {
  // Nearly biharmonic on a line: 1 -4 6 -4.01 1, 10 beside 6; not symmetric.
  const Index rows = 5000;
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = std::max(i - 2, 0); j <= std::min(i + 2, rows - 1); ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(j == i ? 6.01 : j == i - 1 ? -4.0 : j == i + 1 ? -4.01 : 1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  const OwnedMat matrix = make_matrix(a);
  const Solve solved = solve(matrix, "-ksp_type gmres " + taskdag_auto + option());
  expect_in_view(solved.view, "auto: ilu now");
  expect_in_view(solved.view, "rows have a small diagonal");
  EXPECT_EQ(solved.iterations,
            iterations_with(matrix, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu " + option()));
}

/// The large entries of every other row lead to rows that lead nowhere: Jacobi needs a handful of iterations.
TEST_P(AutoType, TakesJacobiWhereItsSweepsSettle) {
  const Index rows = 16000;
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(1.0 + 0.1 * (i % 7));
    if (i % 2 == 0) {
      a.col_indices.push_back(i + 1);
      a.values.push_back(1e3);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  const OwnedMat matrix = make_matrix(a);
  const std::string type = backend() == Backend::cuda ? "jacobi" : "ilu";
  const Solve solved = solve(matrix, "-ksp_type gmres " + taskdag_auto + option());
  ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
  expect_in_view(solved.view, "auto: " + type + " now");
  EXPECT_EQ(solved.iterations,
            iterations_with(matrix, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type " + type + " " + option()));
}

TEST_P(AutoType, TriesBothWhenAskedAndKeepsOne) {
  const OwnedMat a = symmetric(plane(60));
  const std::string with = "-ksp_type cg -pc_type taskdag " + option() + " -pc_taskdag_type ";
  const PetscInt icc = iterations_with(a, with + "icc");
  const PetscInt jacobi = iterations_with(a, with + "jacobi");
  ASSERT_NE(icc, jacobi);
  Repeated solves(a, "-ksp_type cg -pc_taskdag_tune " + taskdag_auto + option());
  std::vector<PetscInt> counts;
  for (int k = 0; k < 7; ++k) counts.push_back(solves());
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_TRUE(counts[0] == icc || counts[0] == jacobi) << counts[0];
  EXPECT_EQ(counts[2], counts[0] == icc ? jacobi : icc);
  EXPECT_EQ(counts[3], counts[2]);
  EXPECT_EQ(counts[4], counts[5]);
  EXPECT_EQ(counts[5], counts[6]);
  EXPECT_TRUE(counts[6] == icc || counts[6] == jacobi) << counts[6];
  expect_in_view(solves.view(), "solves with jacobi: ");
  expect_in_view(solves.view(), "solves with icc: ");
}

TEST_P(AutoType, NewValuesReachWhatIsInUse) {
  const OwnedMat a = symmetric(plane(60));
  Repeated solves(a, "-ksp_type cg -pc_taskdag_tune " + taskdag_auto + option());
  std::vector<PetscInt> counts;
  for (int k = 0; k < 6; ++k) {
    counts.push_back(solves());
    solves.scale(k % 2 == 0 ? 3.0 : 0.25);
  }
  // Scaled by a number the same system takes as many iterations.
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[2], counts[3]);
  EXPECT_NE(counts[0], counts[2]);
  EXPECT_EQ(counts[4], counts[5]);
}

/// Rows that are nearly the identity, and three among them whose ILU(0) has a pivot of 0.
CsrMatrix with_zero_pivot(Index rows) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  const auto add = [&](Index column, double value) {
    a.col_indices.push_back(column);
    a.values.push_back(value);
  };
  for (Index i = 0; i < rows; ++i) {
    if (i == 0 || i == 1) add(0, 1.0);
    if (i < 3) add(1, 1.0);
    if (i == 1 || i == 2) add(2, 1.0);
    if (i > 2) {
      add(i - 1, 0.1);
      add(i, 1.0 + 0.001 * i);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

TEST_P(AutoType, TakesJacobiWhereTheFactorFails) {
  if (backend() == Backend::cuda) GTEST_SKIP() << "takes Jacobi at once there";
  const OwnedMat a = make_matrix(with_zero_pivot(1000));
  const Solve factor = solve(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu " + option());
  EXPECT_LT(factor.reason, 0);
  const Solve solved = solve(a, "-ksp_type gmres " + taskdag_auto + option());
  EXPECT_GT(solved.reason, 0);
  expect_in_view(solved.view, "auto: jacobi now");
  expect_in_view(solved.view, "has failed");
  EXPECT_EQ(solved.iterations, iterations_with(a, "-ksp_type gmres -pc_type jacobi"));
  const Solve none = solve(a, "-ksp_type gmres -pc_type taskdag " + option());
  EXPECT_EQ(none.iterations, solved.iterations);
  expect_in_view(none.view, "auto: jacobi now");
}

/// Kershaw's matrix of four rows, again and again with a growing diagonal: positive definite, but the last pivot of its
/// ILU(0) is below 0. One entry differs from its mirror in the last bit, so it is not symmetric and gets no ICC, whose
/// shift would help.
CsrMatrix with_negative_pivots(Index copies) {
  constexpr double kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  CsrMatrix a{4 * copies, 4 * copies, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const double value = kershaw[i % 4][j];
      if (value == 0.0) continue;
      a.col_indices.push_back(i - i % 4 + j);
      a.values.push_back(j == i % 4 ? value + 0.2 * i / a.rows : value);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.values[1] = std::nextafter(a.values[1], -3.0);
  return a;
}

TEST_P(AutoType, JacobiEndsTheSolveThatAFactorCannot) {
  const OwnedMat a = make_matrix(with_negative_pivots(200));
  const Solve named = solve(a, "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu " + option());
  EXPECT_EQ(named.reason, KSP_DIVERGED_INDEFINITE_PC) << "a type that somebody names keeps its errors";
  for (const std::string& type : {std::string("-pc_type taskdag "), taskdag_auto}) {
    Repeated solves(a, "-ksp_type cg " + type + option());
    const PetscInt jacobi = iterations_with(a, "-ksp_type cg -pc_type jacobi");
    EXPECT_EQ(solves(), jacobi);
    expect_in_view(solves.view(), "auto: jacobi now");
    expect_in_view(solves.view(), "ilu has failed");
    EXPECT_EQ(solves(), jacobi);
  }
}

TEST_P(AutoType, ASolveThatIsBegunAgainStartsFromItsGuess) {
  const OwnedMat a = make_matrix(with_negative_pivots(200));
  const OwnedVec b = make_vector(a);
  const OwnedVec exact = make_vector(a, 2.0);
  ASSERT_EQ(static_cast<int>(MatMult(a, exact, b)), 0);
  const auto from_guess = [&](const std::string& options) {
    const ScopedOptions scoped("-ksp_type cg -ksp_rtol 1e-8 -ksp_initial_guess_nonzero " + options);
    OwnedKsp ksp;
    OwnedVec x;
    PetscInt iterations = 0;
    EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
    EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
    EXPECT_EQ(static_cast<int>(VecDuplicate(exact, x.out())), 0);
    EXPECT_EQ(static_cast<int>(VecCopy(exact, x)), 0);
    EXPECT_EQ(static_cast<int>(VecShift(x, 1e-3)), 0);
    EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, x)), 0);
    EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &iterations)), 0);
    EXPECT_LT(relative_difference(x, exact), 1e-6);
    return iterations;
  };
  EXPECT_EQ(from_guess("-pc_type taskdag " + option()), from_guess("-pc_type jacobi"));
}

TEST_P(AutoType, NewValuesMayEndASymmetry) {
  const CsrMatrix before = plane(40);
  CsrMatrix after = before;
  for (Offset e = 0; e < after.row_offsets[1]; ++e) after.values[static_cast<std::size_t>(e)] *= 1.5;
  const OwnedMat a = make_matrix(before);
  Repeated solves(a, "-ksp_type gmres " + taskdag_auto + option());
  solves();
  expect_in_view(solves.view(), "auto: icc now");
  PetscInt first = 0;
  ASSERT_EQ(static_cast<int>(MatGetOwnershipRange(a, &first, nullptr)), 0);
  if (first == 0) {
    for (Offset e = 0; e < after.row_offsets[1]; ++e) {
      const auto place = static_cast<std::size_t>(e);
      ASSERT_EQ(static_cast<int>(MatSetValue(a, 0, after.col_indices[place], after.values[place], INSERT_VALUES)), 0);
    }
  }
  ASSERT_EQ(static_cast<int>(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), 0);
  ASSERT_EQ(static_cast<int>(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY)), 0);
  const PetscInt counted = solves();
  expect_in_view(solves.view(), "auto: ilu now");
  EXPECT_EQ(counted, iterations_with(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu " + option()));
}

TEST_P(AutoType, TakesJacobiWhereADiagonalEntryIsMissing) {
  CsrMatrix a{4000, 4000, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    // The last two rows are each other's.
    a.col_indices.push_back(i < a.rows - 2 ? i : 2 * a.rows - 3 - i);
    a.values.push_back(i < a.rows - 2 ? 2.0 + 0.001 * i : 1.0);
    a.row_offsets.push_back(i + 1);
  }
  const OwnedMat matrix = make_matrix(a);
  const Solve solved = solve(matrix, "-ksp_type gmres -ksp_rtol 1e-6 " + taskdag_auto + option());
  EXPECT_GT(solved.reason, 0) << solved.message;
  expect_in_view(solved.view, "auto: jacobi now");
  expect_in_view(solved.view, "have no diagonal entry, which a factor needs");
  for (const std::string tune : {"", "-pc_taskdag_tune "}) {
    const Solve none = solve(matrix, "-ksp_type gmres -ksp_rtol 1e-6 -pc_type taskdag " + tune + option());
    EXPECT_EQ(none.iterations, solved.iterations) << none.message;
    expect_in_view(none.view, "auto: jacobi now");
  }
}

TEST_P(AutoType, StaysTheSameInsideAnotherPreconditioner) {
  if (ranks() != 1) GTEST_SKIP() << "blocks of a rank";
  const OwnedMat a = symmetric(plane(60));
  Repeated solves(a,
                  "-ksp_type cg -pc_type bjacobi -sub_pc_taskdag_tune -sub_pc_type taskdag -sub_pc_taskdag_type auto "
                  "-sub_" +
                      option().substr(1));
  const PetscInt first = solves();
  EXPECT_GT(first, 0);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(solves(), first);
}

TEST_P(AutoType, RefusesWhatItDoesNotHave) {
  const OwnedMat a = make_matrix(plane(10));
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"-pc_taskdag_eisenstat ", "-pc_taskdag_eisenstat needs a type that has halves"},
      {"-pc_taskdag_consolidate auto ", "not for auto"},
      {"-pc_taskdag_jacobi_weights chebyshev -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_form tiles ",
       "weights have the forms kernels and turning, not tiles"}};
  for (const auto& [asked, answer] : refused) {
    const Solve solved = solve(a, taskdag_auto + asked + option());
    EXPECT_NE(static_cast<int>(solved.code), 0);
    EXPECT_NE(solved.message.find(answer), std::string::npos) << solved.message;
  }
}

/// On a GPU the first solve in space is by Jacobi; when such solves have taken longer than a set-up, the factor is
/// tried.
TEST_P(AutoType, JacobiIsLeftWhenAFactorWouldHavePaid) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "takes a factor at once there";
  const OwnedMat a = symmetric(cube(30));
  const PetscInt icc = iterations_with(a, "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc " + option());
  Repeated solves(a, "-ksp_type cg " + taskdag_auto + option());
  const PetscInt first = solves();
  EXPECT_GT(first, icc);
  bool tried = false;
  for (int k = 0; k < 300 && !tried; ++k) tried = solves() == icc;
  EXPECT_TRUE(tried);
  expect_in_view(solves.view(), "set-up of icc: expected ");
  expect_in_view(solves.view(), ", took ");
}

/// Of a plane of which PETSc's loop, too, would need many iterations. New values end it.
TEST_P(AutoType, MultigridIsTakenForManySolvesWithOneMatrix) {
  if (ranks() > 1 && backend() == Backend::cuda) GTEST_SKIP() << "ranks may share a GPU, which no loop of ours does";
  const OwnedMat a = symmetric(plane(300));
  const std::string options = "-ksp_type cg " + taskdag_auto + option();
  Repeated solves(a, options);
  ASSERT_GT(solves(), 60);
  PetscInt last = 0;
  for (int k = 0; k < 300 && !shows(solves, "auto: mg now"); ++k) last = solves();
  EXPECT_LT(last, 20);
  EXPECT_GT(last, 0);
  expect_in_view(solves.view(), "auto: mg now");
  expect_in_view(solves.view(), "multigrid for many solves: set-up expected ");
  expect_in_view(solves.view(), "cycle: by TaskDAG");
  solves.scale(2.0);
  EXPECT_GT(solves(), 60);
  EXPECT_FALSE(shows(solves, "auto: mg now"));
}

TEST_P(AutoType, MultigridIsNotTakenInALoopOfPetscs) {
  const OwnedMat a = symmetric(plane(160));
  Repeated solves(a, "-ksp_type cg -taskdag_ksp off " + taskdag_auto + option());
  for (int k = 0; k < 3; ++k) EXPECT_GT(solves(), 30);
  EXPECT_FALSE(shows(solves, "multigrid for many solves"));
}

}  // namespace
}  // namespace taskdag::test
