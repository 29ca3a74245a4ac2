// What goes wrong, and how it is told.
#include <cmath>
#include <limits>

#include "support.hpp"
#include "support/without_diagonal.hpp"

namespace taskdag::test {
namespace {

constexpr const char* ours = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host ";
constexpr const char* package_ilu = "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host ";

/// Tridiagonal, elimination meets an exact zero in rows 1 and 4 (and only there).
CsrMatrix with_zero_pivots() {
  CsrMatrix a;
  a.rows = a.cols = 6;
  const double diagonal[] = {1, 1, 2, 1, 1, 2};
  const double lower[] = {0, 1, 0, 0, 1, 0};
  const double upper[] = {1, 0, 0, 1, 0, 0};
  for (Index i = 0; i < a.rows; ++i) {
    if (i > 0) {
      a.col_indices.push_back(i - 1);
      a.values.push_back(lower[i]);
    }
    a.col_indices.push_back(i);
    a.values.push_back(diagonal[i]);
    if (i + 1 < a.rows) {
      a.col_indices.push_back(i + 1);
      a.values.push_back(upper[i]);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

CsrMatrix with_value(double value, Index row) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 8, .ny = 8, .nz = 1});
  for (Offset k = a.row_offsets[static_cast<std::size_t>(row)]; k < a.row_offsets[static_cast<std::size_t>(row) + 1];
       ++k)
    if (a.col_indices[static_cast<std::size_t>(k)] == row) a.values[static_cast<std::size_t>(k)] = value;
  return a;
}

struct ZeroPivot {
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscReal value = -1;
  PetscInt row = -1;
};

ZeroPivot zero_pivot(Mat a, const std::string& options) {
  const OwnedPc pc = make_pc(a, options);
  ZeroPivot result;
  Mat factor = nullptr;
  EXPECT_EQ(static_cast<int>(PCFactorGetMatrix(pc, &factor)), 0);
  EXPECT_EQ(static_cast<int>(MatFactorGetError(factor, &result.error)), 0);
  EXPECT_EQ(static_cast<int>(MatFactorGetErrorZeroPivot(factor, &result.value, &result.row)), 0);
  return result;
}

TEST(ZeroPivot, RowAndValueAreThoseOfPetsc) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_zero_pivots());
  for (const char* ordering : {"", "-pc_factor_mat_ordering_type rcm"}) {
    // PETSc's factorisation that joins identical rows looks at pivots in another way.
    const ZeroPivot theirs = zero_pivot(a, std::string("-pc_type ilu -mat_no_inode ") + ordering);
    const ZeroPivot found = zero_pivot(a, std::string(package_ilu) + ordering);
    EXPECT_EQ(theirs.error, MAT_FACTOR_NUMERIC_ZEROPIVOT) << "the case shows nothing unless PETSc finds a zero pivot";
    EXPECT_EQ(found.error, theirs.error);
    EXPECT_EQ(found.row, theirs.row);
    EXPECT_EQ(found.value, theirs.value);
  }
}

TEST(ZeroPivot, StopsTheSolveWithItsReason) {
  const OwnedMat a = make_matrix(with_zero_pivots());
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const std::string& options : {std::string(ours), std::string(package_ilu)}) {
    const Solve result = solve(a, "-ksp_type gmres " + options);
    ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED);
    EXPECT_EQ(result.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
  }
}

TEST(ZeroPivot, IsAnErrorWhereFailuresAreErrors) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_zero_pivots());
  for (const std::string& options : {std::string(ours), std::string(package_ilu)}) {
    const Solve result = solve(a, "-ksp_type gmres -ksp_error_if_not_converged " + options);
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_MAT_LU_ZRPVT);
    EXPECT_EQ(result.message.find("Zero pivot row 1"), 0U) << result.message;
  }
}

TEST(ZeroPivot, ToleranceDecides) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_value(1e-3, 0));
  EXPECT_EQ(solve(a, std::string("-ksp_type gmres ") + ours).failed, PC_NOERROR);
  EXPECT_EQ(solve(a, std::string("-ksp_type gmres -pc_factor_zeropivot 1e-2 ") + ours).failed,
            PC_FACTOR_NUMERIC_ZEROPIVOT);
}

TEST(ZeroPivot, ReasonReachesAllRanks) {
  // The bad row is the first one, on the first rank; a diagonal of zero with no earlier row to change it.
  const OwnedMat a = make_matrix(with_value(0.0, 0));
  for (const char* ksp : {"gmres", "cg", "bcgs"}) {
    const Solve result = solve(a, std::string("-ksp_type ") + ksp + " -pc_factor_shift_type none " + ours);
    ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED) << ksp;
    EXPECT_EQ(result.failed, PC_FACTOR_NUMERIC_ZEROPIVOT) << ksp;
  }
}

TEST(ZeroPivot, AFailedPreconditionerPoisonsWhatItIsAppliedTo) {
  const OwnedMat a = make_matrix(with_value(0.0, 0));
  const OwnedPc pc = make_pc(a, ours);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  PetscReal norm = 0.0;
  PETSC_OK(PCApply(pc, b, x));
  PETSC_OK(VecNorm(x, NORM_2, &norm));
  EXPECT_FALSE(std::isfinite(norm));
}

TEST(ZeroPivot, GoodValuesHealAFailedPreconditioner) {
  const OwnedMat a = make_matrix(with_value(0.0, 0));
  for (const char* options : {ours, "-pc_type taskdag -pc_taskdag_type icc -pc_factor_shift_type none"}) {
    const OwnedPc pc = make_pc(a, options);
    PCFailedReason reason = PC_NOERROR;
    PETSC_OK(PCGetFailedReason(pc, &reason));
    EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
    OwnedMat good;
    PETSC_OK(MatDuplicate(a, MAT_COPY_VALUES, good.out()));
    PETSC_OK(MatShift(good, 5.0));
    PETSC_OK(PCSetOperators(pc, good, good));
    PETSC_OK(PCSetUp(pc));
    PETSC_OK(PCGetFailedReason(pc, &reason));
    EXPECT_EQ(reason, PC_NOERROR);
  }
}

TEST(NotFinite, StopsTheSolveOnAllRanksAsWithPetscsOwn) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const OwnedMat a = make_matrix(with_value(value, 3));
    for (const char* type :
         {"-pc_taskdag_type ilu", "-pc_taskdag_type icc", "-pc_taskdag_type sor", "-pc_taskdag_type dilu",
          "-pc_taskdag_type dic", "-pc_taskdag_type dilu -pc_taskdag_eisenstat", "-pc_taskdag_consolidate on",
          "-pc_taskdag_type jacobi -pc_taskdag_jacobi_type block",
          "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag",
          "-pc_type bjacobi -sub_pc_type taskdag -sub_pc_taskdag_type ilu"}) {
      const Solve result = solve(a, std::string("-ksp_type gmres ") + ours + type);
      ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
      EXPECT_EQ(result.reason, KSP_DIVERGED_NANORINF) << type << ", " << value;
      EXPECT_EQ(result.failed, PC_NOERROR) << type << ", " << value;
    }
  }
  const OwnedMat a = make_matrix(with_value(std::numeric_limits<double>::quiet_NaN(), 3));
  for (const char* type : {"", "-pc_taskdag_type jacobi", "-pc_taskdag_type auto"})
    EXPECT_EQ(solve(a, std::string("-ksp_type gmres ") + ours + type).reason, KSP_DIVERGED_NANORINF) << type;
}

/// With new values a reason goes, whether the KSP is told of a matrix or not.
TEST(ZeroPivot, ReasonGoesWithTheValues) {
  for (const char* type : {"-pc_taskdag_type ilu", "-pc_taskdag_type sor", "-pc_taskdag_type ilu -pc_taskdag_eisenstat",
                           "-pc_taskdag_consolidate on"}) {
    for (const char* method : {"-ksp_type gmres ", "-ksp_type cg "}) {
      const ScopedOptions options(std::string(method) + ours + type);
      const OwnedMat a = make_matrix(with_value(0.0, 0));
      const OwnedVec b = make_vector(a);
      const OwnedVec x = make_vector(a);
      OwnedKsp ksp;
      KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
      PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
      PETSC_OK(KSPSetOperators(ksp, a, a));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(KSPSolve(ksp, b, x));
      PETSC_OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << method << type;
      PETSC_OK(MatShift(a, 5.0));
      PETSC_OK(KSPSolve(ksp, b, x));
      PETSC_OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_GT(reason, 0) << method << type;
    }
  }
}

TEST(NotFinite, IsReportedByThePackage) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(with_value(std::numeric_limits<double>::infinity(), 3));
  EXPECT_EQ(zero_pivot(a, package_ilu).error, MAT_FACTOR_NOERROR);
  EXPECT_EQ(solve(a, std::string("-ksp_type gmres ") + package_ilu).reason, KSP_DIVERGED_NANORINF);
  const Solve result = solve(a, std::string("-ksp_type gmres -ksp_error_if_not_converged ") + package_ilu);
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_FP);
  EXPECT_NE(result.message.find("row 3"), std::string::npos) << result.message;
}

TEST(MissingDiagonal, IsAnErrorThatNamesTheRow) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix csr = load("adder_dcop_05");
  Index first = -1;
  for (Index i = csr.rows - 1; i >= 0; --i) {
    bool diagonal = false;
    for (Offset k = csr.row_offsets[static_cast<std::size_t>(i)]; k < csr.row_offsets[static_cast<std::size_t>(i) + 1];
         ++k)
      diagonal = diagonal || csr.col_indices[static_cast<std::size_t>(k)] == i;
    if (!diagonal) first = i;
  }
  const OwnedMat a = make_matrix(csr);
  for (const std::string& options : {std::string(ours), std::string(package_ilu)}) {
    const Solve result = solve(a, "-ksp_type gmres " + options);
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_ARG_WRONGSTATE);
    EXPECT_NE(result.message.find("row " + std::to_string(first) + " has no diagonal entry"), std::string::npos)
        << result.message;
  }
}

TEST(MissingDiagonal, IsNamedByTheMatrixRowInAnyOrder) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 8, .ny = 8, .nz = 1});
  const OwnedMat a = make_matrix(without_diagonal(grid, 17));
  for (const char* ordering : {"rcm", "taskdag_rcm", "taskdag_color", "taskdag_bmc"}) {
    for (const char* type : {ours, package_ilu, "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host ",
                             "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_backend host "}) {
      const Solve result =
          solve(a, std::string("-ksp_type gmres ") + type + "-pc_factor_mat_ordering_type " + ordering);
      EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_ARG_WRONGSTATE) << type << ordering;
      EXPECT_EQ(result.message, "TaskDAG: row 17 has no diagonal entry") << type << ordering;
    }
  }
}

/// -ksp_pc_side symmetric takes a factor apart, which one of blocks is not.
TEST(PointBlocks, AreNotAppliedSymmetricallyAndSayWhatIs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  OwnedMat a = make_matrix(
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 3, .ny = 3, .nz = 3, .unknowns_per_node = 3}));
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatSetBlockSize(a, 3));
  PETSC_OK(MatConvert(a, MATSBAIJ, MAT_INPLACE_MATRIX, a.out()));
  for (const char* type :
       {"-pc_type taskdag -pc_taskdag_type icc ", "-pc_type icc -pc_factor_mat_solver_type taskdag "}) {
    const std::string options = std::string("-ksp_type gmres -ksp_pc_side symmetric -pc_taskdag_backend host ") + type;
    const Solve refused = solve(a, options);
    EXPECT_EQ(static_cast<int>(refused.code), PETSC_ERR_SUP) << type;
    EXPECT_NE(refused.message.find("one by rows has: -pc_taskdag_point_block off"), std::string::npos)
        << refused.message;
    EXPECT_GT(solve(a, options + "-pc_taskdag_point_block off").reason, 0) << type;
  }
}

/// PETSc takes such arrays as they are.
TEST(Columns, ThatDoNotAscendAreAnErrorWithARemedy) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  std::vector<PetscInt> offsets = {0, 2, 4};
  std::vector<PetscInt> columns = {1, 0, 0, 1};
  std::vector<PetscScalar> values = {1.0, 4.0, 1.0, 4.0};
  OwnedMat a;
  PETSC_OK(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, offsets.data(), columns.data(), values.data(), a.out()));
  const Solve refused = solve(a, std::string("-pc_taskdag_type ilu ") + ours);
  EXPECT_EQ(static_cast<int>(refused.code), PETSC_ERR_ARG_WRONG);
  EXPECT_NE(refused.message.find("row 0 has column 0 after 1, not ascending: sort the entries of each row"),
            std::string::npos)
      << refused.message;
}

struct WrongOption {
  const char* name;
  const char* options;
  int code;
  const char* message;
};

std::ostream& operator<<(std::ostream& out, const WrongOption& w) { return out << w.name; }

class WrongOptions : public testing::TestWithParam<WrongOption> {};

TEST_P(WrongOptions, AreRefusedWithASentence) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 4, .ny = 4, .nz = 1}));
  const Solve result = solve(a, GetParam().options);
  EXPECT_EQ(static_cast<int>(result.code), GetParam().code) << result.message;
  EXPECT_NE(result.message.find(GetParam().message), std::string::npos) << result.message;
}

INSTANTIATE_TEST_SUITE_P(
    Plugin, WrongOptions,
    testing::Values(
        WrongOption{"drop_tolerance", "-pc_type taskdag -pc_factor_drop_tolerance 1e-3,0.1,5", PETSC_ERR_SUP,
                    "-pc_type taskdag does not have -pc_factor_drop_tolerance"},
        WrongOption{"in_place", "-pc_type taskdag -pc_factor_in_place", PETSC_ERR_SUP,
                    "-pc_type taskdag does not have -pc_factor_in_place"},
        WrongOption{"nonzero_diagonal", "-pc_type taskdag -pc_factor_nonzeros_along_diagonal", PETSC_ERR_SUP,
                    "-pc_type taskdag does not have -pc_factor_nonzeros_along_diagonal"},
        WrongOption{"no_pivoting_in_blocks", "-pc_type taskdag -pc_factor_pivot_in_blocks false", PETSC_ERR_SUP,
                    "there is no -pc_factor_pivot_in_blocks false"},
        WrongOption{"package_zeropivot",
                    "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_factor_zeropivot -1",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_factor_zeropivot must be 0 or more, not -1"},
        WrongOption{"package_symmetric_ilu",
                    "-ksp_type gmres -ksp_pc_side symmetric -pc_type ilu -pc_factor_mat_solver_type taskdag "
                    "-pc_taskdag_backend host",
                    PETSC_ERR_SUP, "(-ksp_pc_side symmetric) with -pc_type icc only"},
        WrongOption{"sor_omega", "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_sor_omega 2",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_sor_omega must be more than 0, less than 2, not 2"},
        WrongOption{"sor_its", "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_sor_its 0", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_sor_its must be 1 or more, not 0"},
        WrongOption{"unknown_type", "-pc_type taskdag -pc_taskdag_type lu", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_type must be ilu, icc, jacobi, sor, dilu, dic, auto"},
        WrongOption{"no_type", "-pc_type taskdag -pc_taskdag_type", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_type must be ilu, icc, jacobi, sor, dilu, dic, auto"},
        WrongOption{"unknown_backend", "-pc_type taskdag -pc_taskdag_backend gpu", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_backend must be auto, cuda, host, not \"gpu\""},
        WrongOption{"no_backend", "-pc_type taskdag -pc_taskdag_backend", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_backend must be auto, cuda, host, not \"\""},
        WrongOption{"threads_in_words", "-pc_type taskdag -pc_taskdag_threads many", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_threads must be 0 or more, not \"many\""},
        WrongOption{"half_a_thread", "-pc_type taskdag -pc_taskdag_threads 1.5", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_threads must be 0 or more, not \"1.5\""},
        WrongOption{"no_threads", "-pc_type taskdag -pc_taskdag_threads", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_threads must be 0 or more, not \"\""},
        WrongOption{"threads_above_the_range", "-pc_type taskdag -pc_taskdag_threads 99999999999",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_threads must be 0 or more"},
        WrongOption{"unknown_colours", "-pc_type taskdag -taskdag_color_form random", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_color_form must be auto, hashed, speculative, not \"random\""},
        WrongOption{
            "unknown_form", "-pc_type taskdag -pc_taskdag_jacobi_form asynchronous", PETSC_ERR_ARG_OUTOFRANGE,
            "-pc_taskdag_jacobi_form must be auto, kernels, turning, stages-phases, stages, checkpoints, autonomous, "
            "tiles, resident, not \"asynchronous\""},
        WrongOption{"parts_of_nothing", "-pc_type taskdag -pc_taskdag_jacobi_part_entries 0", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_part_entries must be 1 or more, not 0"},
        WrongOption{"trace_of_kernels", "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_trace nowhere.json",
                    PETSC_ERR_ARG_INCOMP, "-pc_taskdag_jacobi_form that is a program"},
        WrongOption{"sweeps_that_are_no_number", "-pc_type taskdag -pc_taskdag_jacobi_sweeps nan",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_jacobi_sweeps must be 1 or more, not \"nan\""},
        WrongOption{"damping_that_is_no_number", "-pc_type taskdag -pc_taskdag_jacobi_damping nan",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_jacobi_damping must be finite, not 0"},
        WrongOption{"damping_above_the_range", "-pc_type taskdag -pc_taskdag_jacobi_damping 1e999",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_jacobi_damping must be finite, not 0"},
        WrongOption{"damping_in_words", "-pc_type taskdag -pc_taskdag_jacobi_damping strong", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_damping must be finite, not 0, not \"strong\""},
        WrongOption{"empty_damping", "-pc_type taskdag -pc_taskdag_jacobi_damping", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_damping must be finite, not 0, not \"\""},
        WrongOption{"unknown_diagonal", "-pc_type taskdag -pc_taskdag_jacobi_type column", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_type must be diagonal, rowmax, rowsum, rowl1, block, not \"column\""},
        WrongOption{"no_diagonal", "-pc_type taskdag -pc_taskdag_jacobi_type", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_type must be diagonal, rowmax, rowsum, rowl1, block, not \"\""},
        WrongOption{"neither_true_nor_false", "-pc_type taskdag -pc_taskdag_jacobi_abs maybe", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_abs must be true, false, not \"maybe\""},
        WrongOption{"tuned_or_not", "-pc_type taskdag -pc_taskdag_tune 2", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_tune must be true, false, not \"2\""},
        WrongOption{"zero_pivot_that_is_no_number", "-pc_type taskdag -pc_factor_zeropivot nan",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_factor_zeropivot must be 0 or more"},
        WrongOption{"infinite_shift", "-pc_type taskdag -pc_factor_shift_amount inf", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_shift_amount must be 0 or more"},
        WrongOption{"unknown_shift", "-pc_type taskdag -pc_factor_shift_type left", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_shift_type must be NONE, NONZERO, POSITIVE_DEFINITE, INBLOCKS, not \"left\""},
        WrongOption{"no_shift", "-pc_type taskdag -pc_factor_shift_type", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_shift_type must be NONE, NONZERO, POSITIVE_DEFINITE, INBLOCKS, not \"\""},
        WrongOption{"no_levels", "-pc_type taskdag -pc_factor_levels", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_levels must be 0 or more, not \"\""},
        WrongOption{"own_unknown_ordering", "-pc_type taskdag -pc_taskdag_ordering upside_down",
                    PETSC_ERR_ARG_OUTOFRANGE, "taskdag_bmc, taskdag_color, taskdag_rcm, "},
        WrongOption{"own_empty_ordering", "-pc_type taskdag -pc_taskdag_ordering", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_ordering must be auto, 1wd, "},
        WrongOption{"empty_ordering", "-pc_type taskdag -pc_factor_mat_ordering_type", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_mat_ordering_type must be auto, 1wd, "},
        WrongOption{"no_fill", "-pc_type taskdag -pc_taskdag_fill", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_fill must be all, blocks, not \"\""},
        WrongOption{"no_schedule", "-pc_type taskdag -pc_taskdag_schedule", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_schedule must be a name in docs/schedules.md, or in -help, not \"\""},
        WrongOption{"no_name_of_a_tune_file", "-pc_type taskdag -pc_taskdag_tune_file", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_tune_file must be a file name, not \"\""},
        WrongOption{"block_size", "-pc_type taskdag -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 0",
                    PETSC_ERR_ARG_OUTOFRANGE, "-taskdag_bmc_block_size must be 1 or more"},
        WrongOption{"block_size_in_words",
                    "-pc_type taskdag -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size small",
                    PETSC_ERR_ARG_OUTOFRANGE, "-taskdag_bmc_block_size must be 1 or more, not \"small\""},
        WrongOption{"rcm_form", "-pc_type taskdag -taskdag_rcm_form task", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_rcm_form must be auto, walk, tasks, not \"task\""},
        WrongOption{"rcm_sort", "-pc_type taskdag -taskdag_rcm_sort", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_rcm_sort must be bitonic, cub, cpu-gpu, not \"\""},
        WrongOption{"rcm_steps", "-pc_type ilu -pc_factor_mat_ordering_type taskdag_rcm -taskdag_rcm_steps levels",
                    PETSC_ERR_ARG_OUTOFRANGE, "-taskdag_rcm_steps must be phases, dependencies, not \"levels\""},
        WrongOption{"rcm_scheduler", "-pc_type taskdag -taskdag_rcm_scheduler 1", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_rcm_scheduler must be auto, timesliced, megakernel, controller, not \"1\""},
        WrongOption{"rows_for_a_gpu", "-pc_type taskdag -taskdag_auto_min_rows few", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_auto_min_rows must be 0 or more, not \"few\""},
        WrongOption{"perhaps_calibrated", "-pc_type taskdag -taskdag_calibrate perhaps", PETSC_ERR_ARG_OUTOFRANGE,
                    "-taskdag_calibrate must be true, false, not \"perhaps\""},
        WrongOption{"negative_threads", "-pc_type taskdag -pc_taskdag_threads -1", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_threads must be 0 or more"},
        WrongOption{"no_sweeps", "-pc_type taskdag -pc_taskdag_jacobi_sweeps 0", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_sweeps must be 1 or more"},
        WrongOption{"no_damping", "-pc_type taskdag -pc_taskdag_jacobi_damping 0", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_jacobi_damping must be finite, not 0"},
        WrongOption{"negative_zero_pivot", "-pc_type taskdag -pc_factor_zeropivot -1", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_zeropivot must be 0 or more"},
        WrongOption{"unknown_ordering", "-pc_type taskdag -pc_factor_mat_ordering_type upside_down",
                    PETSC_ERR_ARG_OUTOFRANGE, "upside_down"},
        WrongOption{"levels", "-pc_type taskdag -pc_factor_levels -1", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_factor_levels must be 0 or more"},
        WrongOption{"unknown_icc_shift", "-pc_type taskdag -pc_taskdag_icc_shift some", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_icc_shift must be scaled, petsc, not \"some\""},
        WrongOption{"two_shifts",
                    "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host -pc_taskdag_icc_shift scaled "
                    "-pc_factor_shift_type nonzero",
                    PETSC_ERR_ARG_INCOMP, "-pc_taskdag_icc_shift scaled and the shift type NONZERO"},
        WrongOption{"unknown_fill", "-pc_type taskdag -pc_taskdag_fill some", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_fill must be all, blocks, not \"some\""},
        WrongOption{"unknown_precision", "-pc_type taskdag -pc_taskdag_precision half", PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_taskdag_precision must be auto, double, single, not \"half\""},
        WrongOption{"precision_of_sor",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type sor -pc_taskdag_precision single",
                    PETSC_ERR_ARG_INCOMP,
                    "-pc_taskdag_precision single is for the types ilu, icc, dilu and dic; sor reads the matrix' own "
                    "values, in double"},
        WrongOption{"precision_of_jacobi",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type jacobi -pc_taskdag_precision auto",
                    PETSC_ERR_ARG_INCOMP, "-pc_taskdag_precision auto is for the types ilu, icc, dilu and dic"},
        WrongOption{"precision_of_halves",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type dilu -pc_taskdag_eisenstat "
                    "-pc_taskdag_precision single",
                    PETSC_ERR_ARG_INCOMP,
                    "-pc_taskdag_eisenstat needs the halves of a factor as they are: -pc_taskdag_precision double"},
        WrongOption{"fill_in_blocks_of_the_natural_order",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 1 -pc_taskdag_fill blocks",
                    PETSC_ERR_ARG_WRONG, "-pc_taskdag_fill blocks needs an ordering by blocks"},
        WrongOption{"fill_in_blocks_of_another_ordering",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 1 -pc_taskdag_fill blocks "
                    "-pc_taskdag_ordering rcm",
                    PETSC_ERR_ARG_WRONG, "-pc_taskdag_fill blocks needs an ordering by blocks"},
        WrongOption{"package_fill_in_blocks_of_the_natural_order",
                    "-pc_type icc -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_factor_levels 1 "
                    "-pc_taskdag_fill blocks",
                    PETSC_ERR_ARG_WRONG, "-pc_taskdag_fill blocks needs an ordering by blocks"},
        WrongOption{"unknown_schedule", "-pc_type taskdag -pc_taskdag_schedule fast", PETSC_ERR_ARG_WRONG,
                    "there are auto, flat, cells, "},
        WrongOption{"unknown_package_schedule",
                    "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_schedule fast", PETSC_ERR_ARG_WRONG,
                    "there are auto, flat, cells, "},
        WrongOption{"schedule_of_the_other_backend",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_schedule flat", PETSC_ERR_ARG_WRONG,
                    "the schedule flat is not one of the host backend, which has auto, "},
        WrongOption{"too_many_threads", "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 100000",
                    PETSC_ERR_ARG_WRONG, "100000 host threads are more than the "},
        WrongOption{"no_tune_file",
                    "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_tune_file /no/such/folder/file",
                    PETSC_ERR_LIB, "/no/such/folder/file cannot be read"},
        WrongOption{"package_backend", "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend gpu",
                    PETSC_ERR_ARG_OUTOFRANGE, "-pc_taskdag_backend must be auto, cuda, host, not \"gpu\""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Rectangular, IsRefused) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  OwnedMat a;
  PETSC_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 4, 1, nullptr, a.out()));
  for (PetscInt i = 0; i < 3; ++i) PETSC_OK(MatSetValue(a, i, i, 1.0, INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
  PETSC_OK(PCSetType(pc, PCTASKDAG));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  PETSC_OK(PCSetOperators(pc, a, a));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_ARG_WRONG);
  EXPECT_NE(errors.message().find("square"), std::string::npos) << errors.message();
}

}  // namespace
}  // namespace taskdag::test
