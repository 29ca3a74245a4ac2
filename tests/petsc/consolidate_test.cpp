// -pc_taskdag_consolidate: blocks of several ranks are one block, as if one rank had their rows.
#include <algorithm>

#include "support.hpp"

namespace taskdag::test {
namespace {

const std::string kOurs = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering natural ";
const std::string kOn = kOurs + "-pc_taskdag_consolidate on ";

struct Kind {
  const char* name;
  const char* ksp;
  const char* more;  ///< what makes ours PETSc's
};
constexpr Kind kKinds[] = {{"ilu", "-ksp_type gmres ", ""},
                           {"icc", "-ksp_type cg ", "-pc_taskdag_icc_shift petsc "},
                           {"dilu", "-ksp_type bcgs ", ""},
                           {"dic", "-ksp_type cg ", ""}};

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 14, .nz = 1}); }

/// Its last row is of zeros.
CsrMatrix broken_grid() {
  CsrMatrix broken = grid();
  const auto last = static_cast<std::size_t>(broken.rows - 1);
  for (auto e = static_cast<std::size_t>(broken.row_offsets[last]); e < broken.values.size(); ++e)
    broken.values[e] = 0.0;
  return broken;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
/// Rank 0 prints for all.
bool shows(const Solve& result, const std::string& part) { return rank() != 0 || has(result.view, part); }

TEST(Consolidate, AllRanksOfANodeAreOneBlock) {
  const OwnedMat a = make_matrix(grid());
  const OwnedMat whole = make_local_matrix(grid());
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const std::string options = std::string(kind.ksp) + kind.more + "-pc_taskdag_type " + kind.name;
    const Solve one = solve(whole, words({options, kOurs}));
    const Solve ours = solve(a, words({options, kOn}));
    EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_GT(ours.reason, 0);
    EXPECT_EQ(ours.iterations, one.iterations);
    EXPECT_TRUE(shows(ours, ranks() == 1 ? "consolidated: no ranks share"
                                         : "blocks of " + std::to_string(ranks()) + " ranks put together to 1"))
        << ours.view;
    const Solve apart = solve(a, words({options, kOurs}));
    EXPECT_TRUE(ranks() == 1 || ours.iterations < apart.iterations) << ours.iterations << ", " << apart.iterations;
  }
}

TEST(Consolidate, IterationsAreThoseOfPetscOnOneRank) {
  const OwnedMat a = make_matrix(grid());
  const OwnedMat whole = make_local_matrix(grid());
  for (const std::string kind : {"ilu", "icc"}) {
    for (const std::string levels : {"0", "2"}) {
      const std::string ksp =
          (kind == "ilu" ? "-ksp_type gmres -pc_factor_levels " : "-ksp_type cg -pc_factor_levels ") + levels;
      EXPECT_EQ(solve(a, words({ksp, kOn, "-pc_taskdag_type " + kind})).iterations,
                solve(whole, words({ksp, "-pc_type " + kind})).iterations)
          << kind << ", levels " << levels;
    }
  }
}

TEST(Consolidate, GroupsAreAsLargeAsAskedFor) {
  SKIP_UNLESS_RANKS(ranks() == 4, "4 ranks");
  const OwnedMat a = make_matrix(grid());
  const OwnedMat whole = make_local_matrix(grid());
  const Solve two = solve(whole, "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 2 -sub_pc_type ilu");
  const Solve ours = solve(a, "-ksp_type gmres -pc_taskdag_consolidate_ranks 2 " + kOn);
  EXPECT_EQ(ours.iterations, two.iterations);
  EXPECT_TRUE(shows(ours, "blocks of 4 ranks put together to 2")) << ours.view;
  EXPECT_TRUE(shows(ours, "280 in all")) << ours.view;
  // One of three and one of one.
  const Solve uneven = solve(a, "-ksp_type gmres -pc_taskdag_consolidate_ranks 3 " + kOn);
  EXPECT_GT(uneven.reason, 0);
  EXPECT_TRUE(shows(uneven, "blocks of 4 ranks put together to 2")) << uneven.view;
  const Solve single = solve(a, "-ksp_type gmres -pc_taskdag_consolidate_ranks 1 " + kOn);
  EXPECT_EQ(single.iterations, solve(a, "-ksp_type gmres " + kOurs).iterations);
}

TEST(Consolidate, OffAndAutoOnHostThreadsAreOneBlockARank) {
  const OwnedMat a = make_matrix(grid());
  const Solve plain = solve(a, "-ksp_type gmres " + kOurs);
  const Solve off = solve(a, "-ksp_type gmres -pc_taskdag_consolidate off " + kOurs);
  const Solve automatic = solve(a, "-ksp_type gmres -pc_taskdag_consolidate auto " + kOurs);
  EXPECT_EQ(off.iterations, plain.iterations);
  EXPECT_EQ(off.view, plain.view);
  EXPECT_EQ(automatic.iterations, plain.iterations);
  EXPECT_TRUE(shows(automatic, "consolidated: no ranks share")) << automatic.view;
}

TEST(Consolidate, BlockMatricesKeepTheirBlocks) {
  const CsrMatrix scalar =
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 4, .ny = 4, .nz = 4, .unknowns_per_node = 3});
  for (const char* type : {MATBAIJ, MATSBAIJ}) {
    SCOPED_TRACE(type);
    OwnedMat a = make_matrix(scalar, MATAIJ, rank() == 0 ? 192 - 48 * (ranks() - 1) : 48);
    OwnedMat whole = make_local_matrix(scalar);
    for (Mat* one : {a.out(), whole.out()}) {
      PETSC_OK(MatSetOption(*one, MAT_SYMMETRIC, PETSC_TRUE));
      PETSC_OK(MatSetBlockSize(*one, 3));
      PETSC_OK(MatConvert(*one, type, MAT_INPLACE_MATRIX, one));
    }
    const std::string options = "-ksp_type cg -pc_taskdag_type icc ";
    const Solve ours = solve(a, words({options, kOn}));
    EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_EQ(ours.iterations, solve(whole, words({options, kOurs})).iterations);
  }
}

TEST(Consolidate, DenseMatricesAreTaken) {
  OwnedMat a = make_matrix(grid());
  const OwnedMat whole = make_local_matrix(grid());
  PETSC_OK(MatConvert(a, MATDENSE, MAT_INPLACE_MATRIX, a.out()));
  OwnedMat dense;
  PETSC_OK(MatConvert(whole, MATSEQDENSE, MAT_INITIAL_MATRIX, dense.out()));
  const Solve ours = solve(a, "-ksp_type gmres " + kOn);
  EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(ours.iterations, solve(dense, "-ksp_type gmres " + kOurs).iterations);

  const OwnedPc pc = make_pc(a, kOn);
  PETSC_OK(MatScale(a, 4.0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(difference_of_applications(pc, make_pc(a, kOn), a), 0.0) << "new values";
}

TEST(Consolidate, RanksWithoutRowsAreTaken) {
  // All rows on the last rank.
  const OwnedMat a = make_matrix(grid(), MATAIJ, rank() == ranks() - 1 ? 280 : 0);
  const OwnedMat whole = make_local_matrix(grid());
  const Solve ours = solve(a, "-ksp_type gmres " + kOn);
  EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(ours.iterations, solve(whole, "-ksp_type gmres " + kOurs).iterations);
}

TEST(Consolidate, NewValuesAreTaken) {
  const OwnedMat a = make_matrix(grid());
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  const OwnedPc pc = make_pc(a, kOn);
  const int symbolic = event_count("TaskDAGSymbolic");
  PETSC_OK(PCApply(pc, b, x));
  PETSC_OK(MatScale(a, 4.0));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCApply(pc, b, y));
  PETSC_OK(VecScale(y, 4.0));
  EXPECT_EQ(relative_difference(y, x), 0.0);
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
}

TEST(Consolidate, TransposedHalvesAndColumns) {
  const OwnedMat a =
      make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 14, .nz = 1, .wind = 1.0}));
  const OwnedPc pc = make_pc(a, kOn);
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec c = make_vector(a, 2.0);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  PetscScalar left = 0.0;
  PetscScalar right = 0.0;
  PETSC_OK(PCApply(pc, b, x));
  PETSC_OK(PCApplyTranspose(pc, c, y));
  PETSC_OK(VecDot(x, c, &left));
  PETSC_OK(VecDot(b, y, &right));
  EXPECT_NEAR(left, right, 1e-12 * std::abs(left));

  OwnedMat columns;
  OwnedMat results;
  PetscInt rows = 0;
  PETSC_OK(VecGetLocalSize(b, &rows));
  PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 2, nullptr, columns.out()));
  PETSC_OK(MatDuplicate(columns, MAT_DO_NOT_COPY_VALUES, results.out()));
  for (PetscInt k = 0; k < 2; ++k) {
    Vec column = nullptr;
    PETSC_OK(MatDenseGetColumnVecWrite(columns, k, &column));
    PETSC_OK(VecCopy(k == 0 ? b : c, column));
    PETSC_OK(MatDenseRestoreColumnVecWrite(columns, k, &column));
  }
  PETSC_OK(PCMatApply(pc, columns, results));
  Vec first = nullptr;
  PETSC_OK(MatDenseGetColumnVecRead(results, 0, &first));
  EXPECT_EQ(relative_difference(first, x), 0.0);
  PETSC_OK(MatDenseRestoreColumnVecRead(results, 0, &first));

  const OwnedMat symmetric = make_matrix(grid());
  const OwnedPc icc = make_pc(symmetric, kOn + "-pc_taskdag_type icc");
  PETSC_OK(PCApply(icc, b, x));
  PETSC_OK(PCApplySymmetricLeft(icc, b, c));
  PETSC_OK(PCApplySymmetricRight(icc, c, y));
  EXPECT_LT(relative_difference(y, x), 1e-13);
}

TEST(Consolidate, AFailureOfOneBlockIsOneOfAllRanks) {
  const OwnedMat a = make_matrix(broken_grid());
  for (const char* groups : {"0", "2"}) {
    const Solve failed = solve(a, words({"-ksp_type gmres -pc_taskdag_consolidate_ranks", groups, kOn}));
    EXPECT_EQ(static_cast<int>(failed.code), 0) << failed.message;
    EXPECT_EQ(failed.reason, KSP_DIVERGED_PC_FAILED);
    EXPECT_EQ(failed.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
  }
}

/// What PCSetUp() says, on a rank that has the block and on one that has none.
void expect_error(Mat a, const std::string& options, PetscErrorCode code, const std::string& part) {
  SCOPED_TRACE(options);
  const ScopedOptions scope(options);
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetOperators(pc, a, a));
  PETSC_OK(PCSetFromOptions(pc));
  for (int time = 0; time < 2; ++time) {
    const ErrorCapture errors;
    EXPECT_EQ(static_cast<int>(PCSetUp(pc)), static_cast<int>(code));
    EXPECT_TRUE(has(errors.message(), part)) << errors.message();
  }
}

TEST(Consolidate, AnErrorOfOneBlockIsOneOfAllRanks) {
  const OwnedMat a = make_matrix(grid());
  for (const std::string groups : {"-pc_taskdag_consolidate_ranks 0 ", "-pc_taskdag_consolidate_ranks 2 "}) {
    expect_error(a, kOn + groups + "-pc_taskdag_type dilu -pc_factor_levels 1", PETSC_ERR_ARG_INCOMP,
                 "-pc_taskdag_type dilu has no levels of fill");
    expect_error(a, kOn + groups + "-pc_taskdag_type icc -pc_taskdag_icc_shift scaled -pc_factor_shift_type nonzero",
                 PETSC_ERR_ARG_INCOMP, "-pc_taskdag_icc_shift scaled and the shift type NONZERO");
    expect_error(a, kOn + groups + "-pc_taskdag_schedule flat", PETSC_ERR_ARG_WRONG, "is not one of the host backend");
  }
}

TEST(Consolidate, AFailureOfOneBlockThatIsAnErrorIsOneOfAllRanks) {
  const OwnedMat a = make_matrix(broken_grid());
  // With two groups the second one alone is broken.
  for (const char* groups : {"0", "2"}) {
    const Solve failed =
        solve(a, words({"-ksp_type gmres -ksp_error_if_not_converged -pc_taskdag_consolidate_ranks", groups, kOn}));
    EXPECT_EQ(static_cast<int>(failed.code), PETSC_ERR_MAT_LU_ZRPVT);
    EXPECT_TRUE(has(failed.message, "Zero pivot row")) << failed.message;
  }
}

TEST(Consolidate, AnErrorWithNewValuesIsOneOfAllRanks) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = make_pc(a, kOn);
  PETSC_OK(PCSetErrorIfFailure(pc, PETSC_TRUE));
  PETSC_OK(MatZeroEntries(a));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_TRUE(has(errors.message(), "Zero pivot row 0")) << errors.message();
}

TEST(Consolidate, WhatDoesNotGoWithItIsRefused) {
  const OwnedMat a = make_matrix(grid());
  for (const char* type : {"jacobi", "sor"}) {
    const Solve refused = solve(a, words({kOn, "-pc_taskdag_type", type}));
    EXPECT_EQ(static_cast<int>(refused.code), PETSC_ERR_ARG_INCOMP);
    EXPECT_TRUE(has(refused.message, std::string("for the types ilu, icc, dilu and dic, not for ") + type))
        << refused.message;
  }
  const Solve refused = solve(a, kOn + "-ksp_type cg -pc_taskdag_type dic -pc_taskdag_eisenstat");
  EXPECT_EQ(static_cast<int>(refused.code), PETSC_ERR_ARG_INCOMP);
  EXPECT_TRUE(has(refused.message, "exclude each other")) << refused.message;
}

TEST(Consolidate, OptionsThatChangeAreTaken) {
  const OwnedMat a = make_matrix(grid());
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  const OwnedPc pc = make_pc(a, kOurs);
  const OwnedPc together = make_pc(a, kOn);
  PETSC_OK(PCApply(together, b, x));
  PETSC_OK(PCTaskDAGSetConsolidate(pc, "on"));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCApply(pc, b, y));
  EXPECT_EQ(relative_difference(y, x), 0.0);
  PETSC_OK(PCTaskDAGSetConsolidate(pc, "off"));
  PETSC_OK(PCSetUp(pc));
  const OwnedPc apart = make_pc(a, kOurs);
  EXPECT_EQ(difference_of_applications(pc, apart, a), 0.0);
}

}  // namespace
}  // namespace taskdag::test
