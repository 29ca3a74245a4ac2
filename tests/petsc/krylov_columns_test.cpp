// KSPMatSolve() by loops of ours: what solves of one column after the other give, leave and say.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

using OwnedDense = Owned<Mat, MatDestroy>;

class KrylovColumns : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
  [[nodiscard]] static bool on_host() { return GetParam() == MATAIJ; }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovColumns, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

/// Vectors for the matrix, side by side, in its memory.
OwnedDense make_columns(const Case& with, PetscInt columns, PetscScalar value) {
  OwnedDense dense;
  PetscInt rows = 0;
  PetscBool host = PETSC_FALSE;
  ok(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(static_cast<Mat>(with.a)), MATSEQAIJ, &host));
  ok(MatGetSize(with.a, &rows, nullptr));
  ok(MatCreate(PETSC_COMM_SELF, dense.out()));
  ok(MatSetSizes(dense, rows, columns, rows, columns));
  ok(MatSetType(dense, host ? MATDENSE : MATDENSECUDA));
  ok(MatSetUp(dense));
  for (PetscInt k = 0; k < columns; ++k) {
    for (PetscInt i = 0; i < rows; ++i)
      ok(MatSetValue(dense, i, k, value * std::cos(0.37 * static_cast<double>((i + 5 * k) % 29)), INSERT_VALUES));
  }
  ok(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
  return dense;
}
void set_column(Mat dense, PetscInt k, double value) {
  Vec v = nullptr;
  ok(MatDenseGetColumnVec(dense, k, &v));
  ok(VecSet(v, value));
  ok(MatDenseRestoreColumnVec(dense, k, &v));
}

/// What is left after a solve, or after those of all columns.
struct Left {
  std::vector<std::vector<double>> columns;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscInt all_iterations = 0;
  PetscReal norm = 0.0;
  std::vector<double> history;
  std::string view;
  int loops = 0;
  PetscErrorCode code{};
};
void note_columns(Mat x, Left* left) {
  const PetscScalar* array = nullptr;
  PetscInt rows = 0;
  PetscInt columns = 0;
  PetscInt lda = 0;
  ok(MatGetSize(x, &rows, &columns));
  ok(MatDenseGetLDA(x, &lda));
  ok(MatDenseGetArrayRead(x, &array));
  for (PetscInt k = 0; k < columns; ++k)
    left->columns.emplace_back(array + static_cast<std::ptrdiff_t>(k) * lda,
                               array + static_cast<std::ptrdiff_t>(k) * lda + rows);
  ok(MatDenseRestoreArrayRead(x, &array));
}
void note_ksp(KSP ksp, Left* left) {
  const PetscReal* history = nullptr;
  PetscInt count = 0;
  ok(KSPGetConvergedReason(ksp, &left->reason));
  ok(KSPGetIterationNumber(ksp, &left->iterations));
  ok(KSPGetTotalIterations(ksp, &left->all_iterations));
  ok(KSPGetResidualNorm(ksp, &left->norm));
  ok(KSPGetResidualHistory(ksp, &history, &count));
  left->history.assign(history, history + count);
  left->view = view_text(ksp);
}

/// Changes b before the solves.
using Prepare = void (*)(Mat b);
void as_it_is(Mat /*b*/) {}

/// By KSPMatSolve(), or by KSPSolve() for each column.
Left solve_columns(const CsrMatrix& csr, MatType type, const std::string& options, PetscInt columns, bool at_once,
                   Prepare prepare = as_it_is) {
  const std::string all = petscs_unless_said(options);
  const ScopedOptions scope(all);
  const Case with = make_case(csr, type, all);
  const OwnedDense b = make_columns(with, columns, 1.0);
  OwnedDense x = make_columns(with, columns, 0.1);
  prepare(b);
  Left left;
  const int loops = event_count("TaskDAGKrylov");
  ok(KSPSetResidualHistory(with.ksp, nullptr, 20000, PETSC_TRUE));
  if (at_once) {
    left.code = KSPMatSolve(with.ksp, b, x);
  } else {
    for (PetscInt k = 0; k < columns; ++k) {
      Vec from = nullptr;
      Vec to = nullptr;
      ok(MatDenseGetColumnVecRead(b, k, &from));
      ok(MatDenseGetColumnVec(x, k, &to));
      ok(KSPSolve(with.ksp, from, to));
      ok(MatDenseRestoreColumnVec(x, k, &to));
      ok(MatDenseRestoreColumnVecRead(b, k, &from));
    }
  }
  left.loops = event_count("TaskDAGKrylov") - loops;
  if (static_cast<int>(left.code) == 0) note_columns(x, &left);
  note_ksp(with.ksp, &left);
  return left;
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double most = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}
/// bits: not only but for rounding.
void expect_same_left(const Left& one, const Left& other, bool bits) {
  ASSERT_EQ(one.columns.size(), other.columns.size());
  for (std::size_t k = 0; k < one.columns.size(); ++k) {
    SCOPED_TRACE("column " + std::to_string(k));
    if (bits)
      EXPECT_TRUE(std::ranges::equal(one.columns[k], other.columns[k],
                                     [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
    else
      EXPECT_LE(largest_difference(one.columns[k], other.columns[k]), 1e-5);
  }
  EXPECT_EQ(one.reason, other.reason);
  const auto expect_near = [bits](PetscInt mine, PetscInt theirs, PetscInt apart) {
    EXPECT_LE(std::abs(mine - theirs), bits ? 0 : apart + theirs / 50);
  };
  expect_near(one.iterations, other.iterations, 1);
  expect_near(one.all_iterations, other.all_iterations, static_cast<PetscInt>(other.columns.size()));
  if (bits) {
    EXPECT_EQ(one.history, other.history);
    EXPECT_EQ(one.norm, other.norm);
  }
}

/// Whether KSPMatSolve() of this method is ours.
bool goes_together(const Kind& method) { return method.name == KSPCG || method.name == KSPBCGS; }

TEST_P(KrylovColumns, AreSolvedTogether) {
  constexpr PetscInt columns = 3;
  for (const Kind& method : kinds()) {
    const CsrMatrix csr = method.symmetric ? poisson() : convection();
    for (const char* const pc :
         {"-pc_type none ", "-pc_type jacobi ", "-pc_type taskdag -pc_taskdag_type ilu ",
          "-pc_type taskdag -pc_taskdag_type sor ", "-pc_type taskdag -pc_taskdag_type jacobi "}) {
      for (const char* const more : {"", "-ksp_initial_guess_nonzero "}) {
        const std::string options = method.chosen() + " " + pc + more + "-ksp_pc_side " + method.sides[0] +
                                    " -ksp_norm_type " + method.norms[0];
        SCOPED_TRACE(options);
        const Left ours = solve_columns(csr, type(), kOurs + options, columns, true);
        if (ours.view.find("of this release of PETSc is another one") != std::string::npos) continue;
        const Left alone = solve_columns(csr, type(), kOurs + options, columns, false);
        const Left theirs = solve_columns(csr, type(), options, columns, false);
        EXPECT_EQ(theirs.loops, 0);
        EXPECT_EQ(alone.loops, columns);
        if (method.name == KSPRICHARDSON) continue;  // PETSc's, where it has one
        EXPECT_EQ(ours.loops, goes_together(method) ? 1 : columns) << ours.view;
        EXPECT_EQ(ours.view.find("for 3 right-hand sides") != std::string::npos, goes_together(method)) << ours.view;
        const bool applied_at_once = std::string(pc).find("ilu") != std::string::npos && !on_host();
        expect_same_left(ours, alone, !applied_at_once);
        expect_same_left(ours, theirs, false);
      }
    }
  }
}

TEST_P(KrylovColumns, EndByThemselves) {
  const auto prepare = [](Mat b) {
    set_column(b, 0, 0.0);
    set_column(b, 2, std::numeric_limits<double>::quiet_NaN());
    set_column(b, 3, 1e-60);
  };
  for (const char* const method : {"-ksp_type cg ", "-ksp_type bcgs "}) {
    for (const char* const limit : {"", "-ksp_max_it 5 "}) {
      const std::string options = std::string(method) + limit + "-pc_type jacobi";
      SCOPED_TRACE(options);
      const Left ours = solve_columns(poisson(), type(), kOurs + options, 5, true, prepare);
      EXPECT_EQ(ours.loops, 1) << ours.view;
      expect_same_left(ours, solve_columns(poisson(), type(), kOurs + options, 5, false, prepare), true);
      const Left theirs = solve_columns(poisson(), type(), options, 5, false, prepare);
      EXPECT_EQ(ours.reason, theirs.reason);
      EXPECT_TRUE(std::isnan(ours.columns[2][0]) || std::abs(ours.columns[2][0]) < 1e30);
      for (const std::size_t k : {0U, 1U, 3U, 4U})
        EXPECT_LE(largest_difference(ours.columns[k], theirs.columns[k]), 1e-5) << k;
    }
  }
}

TEST_P(KrylovColumns, InBatchesAndMoreThanGoTogether) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi ";
  const Left alone = solve_columns(poisson(), type(), options, 37, false);
  for (const auto& [batch, loops] :
       {std::pair{"", 1}, std::pair{"-ksp_matsolve_batch_size 5 ", 8}, std::pair{"-ksp_matsolve_batch_size 36 ", 2}}) {
    SCOPED_TRACE(batch);
    const Left ours = solve_columns(poisson(), type(), options + batch, 37, true);
    EXPECT_EQ(ours.loops, loops);
    expect_same_left(ours, alone, true);
  }
}

/// The type auto learns from solves: it is shown the first column's.
TEST_P(KrylovColumns, OfAPreconditionerThatLooksAtSolves) {
  const std::string options = "-taskdag_ksp auto -ksp_type cg -pc_type taskdag ";
  const Left ours = solve_columns(poisson(), type(), options, 4, true);
  EXPECT_EQ(ours.loops, 2) << ours.view;
  const Left theirs = solve_columns(poisson(), type(), "-ksp_type cg -pc_type jacobi", 4, false);
  for (std::size_t k = 0; k < ours.columns.size(); ++k)
    EXPECT_LE(largest_difference(ours.columns[k], theirs.columns[k]), 1e-5) << k;
}

/// Newer releases do not.
template <class Ksp>
constexpr bool has_diagonal_scale = requires(Ksp ksp) {
  KSPSetDiagonalScale(ksp, PETSC_TRUE);
};

TEST_P(KrylovColumns, GoOneByOneWhereTheyMust) {
  const std::string cg = kOurs + "-ksp_type cg -pc_type jacobi ";
  struct Where {
    std::string options;
    const char* why;
  };
  const std::string trace = testing::TempDir() + "columns_trace_" + GetParam() + ".json";
  for (const Where& where :
       {Where{"-ksp_monitor_singular_value ascii:/dev/null ", "a monitor or a test has its turn"},
        Where{"-ksp_guess_type fischer ", "a guess is made for each"}, Where{"-ksp_knoll ", "a guess is made for each"},
        Where{"-ksp_diagonal_scale ", "before or after each solve"},
        Where{"-taskdag_ksp_trace " + trace + " ", "an iteration is recorded"},
        Where{"-ksp_view_singularvalues ascii:/dev/null ", "singular values are asked for"}}) {
    SCOPED_TRACE(where.options);
    if (where.options == "-ksp_diagonal_scale " && !has_diagonal_scale<KSP>) continue;
    const Left ours = solve_columns(poisson(), type(), cg + where.options, 3, true);
    EXPECT_NE(ours.view.find("one after the other: "), std::string::npos) << ours.view;
    EXPECT_NE(ours.view.find(where.why), std::string::npos) << ours.view;
    expect_same_left(ours, solve_columns(poisson(), type(), cg + where.options, 3, false), true);
  }
  const Left theirs = solve_columns(poisson(), type(), kOurs + "-ksp_type cg -pc_type sor ", 3, true);
  EXPECT_NE(theirs.view.find("one after the other: the preconditioner is PETSc's sor"), std::string::npos)
      << theirs.view;
  EXPECT_GT(theirs.reason, 0);
  EXPECT_EQ(solve_columns(poisson(), type(), "-ksp_type cg -pc_type jacobi", 3, true).loops, 0);
}

TEST_P(KrylovColumns, MonitorsSeeOneAfterTheOther) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi -ksp_monitor -ksp_converged_reason ";
  testing::internal::CaptureStdout();
  const Left ours = solve_columns(poisson(), type(), options, 3, true);
  const std::string together = testing::internal::GetCapturedStdout();
  testing::internal::CaptureStdout();
  static_cast<void>(solve_columns(poisson(), type(), options, 3, false));
  EXPECT_EQ(together, testing::internal::GetCapturedStdout());
  EXPECT_EQ(ours.loops, 1);
  EXPECT_NE(together.find("CONVERGED_RTOL"), std::string::npos);
}

TEST_P(KrylovColumns, AnEarlierOneThatDoesNotConvergeIsAnError) {
  const QuietErrors errors;
  const auto prepare = [](Mat b) { set_column(b, 3, 0.0); };
  for (const char* const pc : {"-pc_type jacobi ", "-pc_type sor "}) {
    const std::string options = kOurs + "-ksp_type cg -ksp_max_it 4 -ksp_error_if_not_converged " + std::string(pc);
    EXPECT_EQ(static_cast<int>(solve_columns(poisson(), type(), options, 4, true, prepare).code),
              static_cast<int>(PETSC_ERR_NOT_CONVERGED))
        << pc;
  }
}

TEST_P(KrylovColumns, OfNewValuesAndOtherNumbers) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc ";
  const ScopedOptions scope(options);
  const Case with = make_case(poisson(), type(), options);
  for (const PetscInt columns : {4, 3, 2, 9, 1, 4}) {
    SCOPED_TRACE(columns);
    const OwnedDense b = make_columns(with, columns, 1.0);
    OwnedDense x = make_columns(with, columns, 0.0);
    ok(MatScale(with.a, 1.5));
    PETSC_OK(KSPMatSolve(with.ksp, b, x));
    Left ours;
    Left residual;
    note_columns(x, &ours);
    OwnedDense rest;
    PETSC_OK(MatMatMult(with.a, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, rest.out()));
    PETSC_OK(MatAXPY(rest, -1.0, b, SAME_NONZERO_PATTERN));
    PetscReal norm = 0.0;
    PETSC_OK(MatNorm(rest, NORM_FROBENIUS, &norm));
    EXPECT_LE(norm, 1e-5);
  }
}

/// The transposed system, which runs PETSc's loop, and a hierarchy's blocks, which are solved by KSPMatSolve().
TEST_P(KrylovColumns, TransposedAndInsideBlocks) {
  const std::string blocks =
      "-ksp_type preonly -pc_type bjacobi -pc_bjacobi_blocks 2 -sub_ksp_type cg -sub_ksp_rtol 1e-10 -sub_pc_type none";
  const Left ours = solve_columns(poisson(), type(), kOurs + blocks, 3, true);
  const Left theirs = solve_columns(poisson(), type(), blocks, 3, true);
  for (std::size_t k = 0; k < ours.columns.size(); ++k)
    EXPECT_LE(largest_difference(ours.columns[k], theirs.columns[k]), 1e-5) << k;
}

}  // namespace
}  // namespace taskdag::test
