// -pc_taskdag_icc_shift, and what is said of a factor's growth.
#include <cmath>
#include <map>

#include "blocks.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

const std::string icc = "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host -pc_taskdag_ordering natural ";
const std::string ilu = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host -pc_taskdag_ordering natural ";

/// A bending plate's stiffness, the square of a 5-point matrix: positive definite, but IC(0) meets bad pivots.
CsrMatrix plate() {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 24, .ny = 23, .nz = 1});
  CsrMatrix square{a.rows, a.cols, {0}, {}, {}};
  const auto entries = [&](Index row, const auto& visit) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(row)]; e < a.row_offsets[static_cast<std::size_t>(row) + 1];
         ++e)
      visit(a.col_indices[static_cast<std::size_t>(e)], a.values[static_cast<std::size_t>(e)]);
  };
  for (Index i = 0; i < a.rows; ++i) {
    std::map<Index, double> row;
    entries(i, [&](Index k, double left) { entries(k, [&](Index j, double right) { row[j] += left * right; }); });
    for (const auto& [column, value] : row) {
      square.col_indices.push_back(column);
      square.values.push_back(value);
    }
    square.row_offsets.push_back(static_cast<Offset>(square.col_indices.size()));
  }
  return square;
}

/// Displacements and rotations in different units: every third row and column is scaled by `scale`.
CsrMatrix badly_scaled(CsrMatrix a, double scale) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto entry = static_cast<std::size_t>(e);
      if (i % 3 == 0) a.values[entry] *= scale;
      if (a.col_indices[entry] % 3 == 0) a.values[entry] *= scale;
    }
  }
  return a;
}

CsrMatrix with_diagonal(CsrMatrix a, Index row, double value) {
  for (Offset e = a.row_offsets[static_cast<std::size_t>(row)]; e < a.row_offsets[static_cast<std::size_t>(row) + 1];
       ++e)
    if (a.col_indices[static_cast<std::size_t>(e)] == row) a.values[static_cast<std::size_t>(e)] = value;
  return a;
}

TEST(IccShift, ScaledSolvesABadlyScaledMatrixInFewIterations) {
  const OwnedMat a = make_matrix(badly_scaled(plate(), 4096));
  const std::string cg = "-ksp_type cg -ksp_norm_type natural -ksp_max_it 5000 ";
  const Solve scaled = solve(a, cg + icc);
  const Solve petsc = solve(a, cg + icc + "-pc_taskdag_icc_shift petsc");
  const Solve jacobi = solve(a, cg + "-pc_type jacobi");
  ASSERT_EQ(static_cast<int>(scaled.code), 0) << scaled.message;
  EXPECT_GT(scaled.reason, 0);
  EXPECT_LT(2 * scaled.iterations, jacobi.iterations) << scaled.view;
  // The blocks of several ranks need no shift.
  if (ranks() == 1) {
    EXPECT_LT(2 * scaled.iterations, petsc.iterations) << petsc.view;
  }
}

TEST(IccShift, ScaledDoesNotDependOnScaling) {
  // Less of the diagonal, so that the blocks of several ranks need a shift, too.
  CsrMatrix weak = plate();
  for (Index i = 0; i < weak.rows; ++i) weak = with_diagonal(std::move(weak), i, 17.0);
  const OwnedMat a = make_matrix(weak);
  const OwnedMat b = make_matrix(badly_scaled(weak, 4096));
  const auto shift_of = [](const Solve& result) {
    const std::size_t begin = result.view.find("shifted by");
    if (begin == std::string::npos) return std::string();
    return result.view.substr(begin, result.view.find('\n', begin) - begin);
  };
  const std::string shift = shift_of(solve(a, "-ksp_type cg -ksp_max_it 1 " + icc));
  EXPECT_EQ(shift, shift_of(solve(b, "-ksp_type cg -ksp_max_it 1 " + icc)));
  if (rank() != 0) return;  // the first one prints
  EXPECT_NE(shift.find(" times the diagonal, attempts: "), std::string::npos) << shift;
  EXPECT_EQ(shift.find("shifted by 0. times"), std::string::npos) << "nothing shows without a shift";
}

TEST(IccShift, ScaledFollowsTheSignOfANegativeDefiniteMatrix) {
  const OwnedMat a = make_matrix(load("sherman1"));
  const std::string cg = "-ksp_type cg -ksp_max_it 400 ";
  const Solve scaled = solve(a, cg + icc);
  EXPECT_GT(scaled.reason, 0);
  EXPECT_LT(scaled.iterations, 100);
  EXPECT_LT(solve(a, cg + icc + "-pc_taskdag_icc_shift petsc").reason, 0) << "nothing shows where this one converges";
}

TEST(IccShift, APetscShiftThatIsChosenCounts) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(plate());
  for (const char* shift : {"nonzero", "positive_definite"}) {
    const std::string options = std::string(" -pc_factor_shift_type ") + shift;
    const OwnedPc ours = make_pc(a, icc + options);
    const OwnedPc theirs = make_pc(a, "-pc_type icc" + options);
    EXPECT_LT(difference_of_applications(ours, theirs, a), 1e-10) << shift;
  }
  const OwnedPc ours = make_pc(a, icc);
  PETSC_OK(PCFactorSetShiftType(ours, MAT_SHIFT_POSITIVE_DEFINITE));
  PETSC_OK(PCSetUp(ours));
  const OwnedPc theirs = make_pc(a, "-pc_type icc");
  EXPECT_LT(difference_of_applications(ours, theirs, a), 1e-10);
}

TEST(IccShift, ThePackageKeepsPetscsMathematics) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(plate());
  const OwnedPc ours = make_pc(a, "-pc_type icc -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
  const OwnedPc theirs = make_pc(a, "-pc_type icc");
  EXPECT_LT(difference_of_applications(ours, theirs, a), 1e-10);
}

TEST(IccShift, IluHasNothingToDoWithIt) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(plate());
  const std::string shift = "-pc_factor_shift_type nonzero ";
  const OwnedPc with = make_pc(a, ilu + shift + "-pc_taskdag_icc_shift scaled");
  const OwnedPc without = make_pc(a, ilu + shift);
  EXPECT_EQ(difference_of_applications(with, without, a), 0.0);
}

TEST(IccShift, ChangedChoiceTakesEffectAfterASetup) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(plate());
  const OwnedPc pc = make_pc(a, icc);
  const OwnedPc theirs = make_pc(a, "-pc_type icc");
  EXPECT_GT(difference_of_applications(pc, theirs, a), 1e-3);
  const ScopedOptions options(icc + "-pc_taskdag_icc_shift petsc");
  PETSC_OK(PCSetFromOptions(pc));
  PETSC_OK(PCSetUp(pc));
  EXPECT_LT(difference_of_applications(pc, theirs, a), 1e-10);
}

TEST(IccShift, MatrixThatIsNotDefiniteFailsOnAllRanks) {
  // The last row, on the last rank.
  const CsrMatrix good = plate();
  for (const double value : {0.0, -1.0}) {
    const OwnedMat a = make_matrix(with_diagonal(good, good.rows - 1, value));
    const Solve result = solve(a, "-ksp_type cg " + icc);
    ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED);
    EXPECT_EQ(result.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
  }
}

TEST(IccShift, MatrixThatIsNotDefiniteIsAnErrorWhereFailuresAreErrors) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_diagonal(plate(), 7, 0.0));
  const Solve result = solve(a, "-ksp_type cg -ksp_error_if_not_converged " + icc);
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_MAT_CH_ZRPVT);
  EXPECT_EQ(result.message.find("The matrix is not definite: the diagonal entry of row 7"), 0U) << result.message;
}

/// Rows 1, 1; −3, 1; …: an application of its ILU(0) grows threefold from row to row.
CsrMatrix unstable(Index rows) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    if (i > 0) {
      a.col_indices.push_back(i - 1);
      a.values.push_back(-3.0);
    }
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

/// What the view says; 0 if nothing.
double growth_in(const std::string& view) {
  const std::string text = "growth of the factor, scaled to a unit diagonal: ";
  const std::size_t begin = view.find(text);
  return begin == std::string::npos ? 0.0 : std::stod(view.substr(begin + text.size()));
}

TEST(Growth, BeyondReasonIsWarnedOfOnce) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(unstable(60));
  testing::internal::CaptureStderr();
  const OwnedPc pc = make_pc(a, ilu);
  PETSC_OK(MatScale(a, 2.0));
  PETSC_OK(PCSetOperators(pc, a, a));
  PETSC_OK(PCSetUp(pc));
  const std::string text = testing::internal::GetCapturedStderr();
  const std::size_t first = text.find("TaskDAG: warning: the ILU factor is unstable");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("unstable", first + 50), std::string::npos) << text;
}

TEST(Growth, WithinReasonIsShownAndNotWarnedOf) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  testing::internal::CaptureStderr();
  // (3^14 − 1) / 2 by (1, …, 1), so half of that at least
  const Solve result = solve(make_matrix(unstable(14)), "-ksp_type gmres " + ilu);
  const double growth = growth_in(result.view);
  EXPECT_GT(growth, 1195742.0);
  EXPECT_LE(growth, 2391484.0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// A grid with a row that is 0 but for what is right of its diagonal, or with two rows whose block is (1 1; 1 1).
CsrMatrix without_pivot(bool two_rows) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 14, .ny = 14});
  constexpr Index kRow = 77;
  for (Index i = kRow; i <= kRow + (two_rows ? 1 : 0); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const Index j = a.col_indices[e];
      if (j < kRow || (!two_rows && j == kRow)) a.values[e] = 0.0;
      if (two_rows && (j == kRow || j == kRow + 1)) a.values[e] = 1.0;
    }
  }
  return a;
}

void solve_by_gmres(Mat a, const std::string& options, double* residual, std::string* said) {
  const ScopedOptions scope("-ksp_type gmres " + options);
  OwnedKsp ksp;
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec r = make_vector(a);
  testing::internal::CaptureStderr();
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(KSPSolve(ksp, b, x));
  *said = testing::internal::GetCapturedStderr();
  PETSC_OK(MatMult(a, x, r));
  PETSC_OK(VecAYPX(r, -1.0, b));
  PetscReal norm = 0.0;
  PetscReal size = 0.0;
  PETSC_OK(VecNorm(r, NORM_2, &norm));
  PETSC_OK(VecNorm(b, NORM_2, &size));
  *residual = norm / size;
}

class GrowthOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, GrowthOn, testing::ValuesIn(backends()), name_of_backend);

// A pivot that is nothing but PETSc's shift: GMRES stops at once, far from the solution, and it is said why.
TEST_P(GrowthOn, OfShiftedPivotsIsWarnedOf) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const bool two_rows : {false, true}) {
    const OwnedMat a = make_matrix(without_pivot(two_rows));
    for (const char* kind : {"ilu", "icc"}) {
      for (const std::string shift : {"nonzero", "inblocks", "positive_definite"}) {
        SCOPED_TRACE(std::string(kind) + ", " + shift + (two_rows ? ", two rows" : ", one row"));
        std::string said;
        double residual = 1.0;
        const std::string ours = words({"-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_type", kind,
                                        "-pc_factor_shift_type", shift}) +
                                 OnBackend::option();
        solve_by_gmres(a, ours, &residual, &said);
        const bool warned = said.find("factor is unstable") != std::string::npos;
        EXPECT_TRUE(warned || residual < 1e-3) << residual;
        if (std::string(kind) == "ilu") {
          EXPECT_EQ(warned, shift != "positive_definite") << said;
        }
      }
    }
  }
}

TEST_P(GrowthOn, OfAShiftedBlockIsWarnedOf) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const PetscInt size : {2, 3, 5, 9}) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size, .singular = 11, .zeros = Zeros::first}));
    const std::string options = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_point_block on " +
                                OnBackend::option() + "-pc_factor_shift_type inblocks ";
    testing::internal::CaptureStderr();
    const OwnedPc tiny = make_pc(a, options);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("factor is unstable"), std::string::npos) << size;
    testing::internal::CaptureStderr();
    const OwnedPc large = make_pc(a, options + "-pc_factor_shift_amount 1 ");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << size;
  }
}

TEST(Growth, IsBoundedWhereManyRowsAreDominant) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const Index n : {99, 100}) {
    const int measured = event_count("TaskDAGGrowth");
    const Solve result = solve(make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n})),
                               "-ksp_type cg -pc_type taskdag -pc_taskdag_backend host");
    const bool many = n == 100;
    EXPECT_EQ(event_count("TaskDAGGrowth"), measured + (many ? 0 : 1));
    EXPECT_NE(result.view.find(many ? "growth of the factor, by its rows: at most "
                                    : "growth of the factor, scaled to a unit diagonal: "),
              std::string::npos)
        << result.view;
  }
}

TEST(Growth, IsNotMeasuredByThePackage) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  testing::internal::CaptureStderr();
  const Solve result =
      solve(make_matrix(unstable(60)),
            "-ksp_type gmres -pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
  EXPECT_EQ(result.view.find("growth"), std::string::npos) << result.view;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace taskdag::test
