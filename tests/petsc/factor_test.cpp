// The factorisation package and the parts of an application, against PETSc's own factorisations on one rank.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support.hpp"

namespace taskdag::test {
namespace {

class Factor : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_RANKS(ranks() == 1, "1 rank"); }
};

constexpr const char* ours_ilu = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host ";
constexpr const char* ours_icc = "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host ";
constexpr const char* package_ilu = "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host ";
constexpr const char* package_icc = "-pc_type icc -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host ";

using ApplyFunction = PetscErrorCode (*)(PC, Vec, Vec);

/// Checks that two preconditioners do the same to a vector.
void expect_same(Mat a, const std::string& one, const std::string& other, ApplyFunction apply) {
  const OwnedPc p = make_pc(a, one);
  const OwnedPc q = make_pc(a, other);
  const OwnedVec b = make_vector(a, 0.7);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  PETSC_OK(apply(p, b, x));
  PETSC_OK(apply(q, b, y));
  EXPECT_LT(relative_difference(x, y), 1e-10) << one << " and " << other;
}

const std::vector<std::string> orderings = {"", "-pc_factor_mat_ordering_type rcm",
                                            "-pc_factor_mat_ordering_type taskdag_rcm"};

TEST_F(Factor, IluAppliesAsPetscs) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  for (const std::string& ordering : orderings)
    for (const char* ours : {ours_ilu, package_ilu})
      expect_same(a, ours + ordering, "-pc_type ilu " + ordering, PCApply);
}

TEST_F(Factor, IluAppliesTransposedAsPetscs) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  for (const std::string& ordering : orderings)
    for (const char* ours : {ours_ilu, package_ilu})
      expect_same(a, ours + ordering, "-pc_type ilu " + ordering, PCApplyTranspose);
}

TEST_F(Factor, IccAppliesAsPetscs) {
  const OwnedMat a = make_matrix(load("bcsstk16"));
  for (const std::string& ordering : orderings)
    for (const char* ours : {ours_icc, package_icc}) {
      expect_same(a, ours + ordering, "-pc_type icc " + ordering, PCApply);
      expect_same(a, ours + ordering, "-pc_type icc " + ordering, PCApplyTranspose);
    }
}

TEST_F(Factor, IccHalvesAreThoseOfPetsc) {
  const OwnedMat a = make_matrix(load("bcsstk16"));
  for (const std::string& ordering : orderings)
    for (const char* ours : {ours_icc, package_icc}) {
      expect_same(a, ours + ordering, "-pc_type icc " + ordering, PCApplySymmetricLeft);
      expect_same(a, ours + ordering, "-pc_type icc " + ordering, PCApplySymmetricRight);
    }
}

TEST_F(Factor, SymmetricApplicationOfIluIsRefused) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  const OwnedPc pc = make_pc(a, ours_ilu);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCApplySymmetricLeft(pc, b, x)), PETSC_ERR_SUP);
  EXPECT_NE(errors.message().find("icc"), std::string::npos) << errors.message();
}

TEST_F(Factor, ShiftsAreThoseOfPetsc) {
  // Indefinite: diagonal of a Laplacian moved below its smallest off-diagonal sums.
  CsrMatrix indefinite = make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1});
  for (Index i = 0; i < indefinite.rows; ++i)
    for (Offset k = indefinite.row_offsets[static_cast<std::size_t>(i)];
         k < indefinite.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
      if (indefinite.col_indices[static_cast<std::size_t>(k)] == i)
        indefinite.values[static_cast<std::size_t>(k)] = i % 5 == 0 ? 0.0 : 2.5;
  const OwnedMat a = make_matrix(indefinite);
  for (const char* shift : {"nonzero", "positive_definite", "inblocks"}) {
    const std::string options = std::string("-pc_factor_shift_type ") + shift + " -pc_factor_shift_amount 0.1";
    for (const char* ours : {ours_ilu, package_ilu}) expect_same(a, ours + options, "-pc_type ilu " + options, PCApply);
    for (const char* ours : {ours_icc, package_icc}) expect_same(a, ours + options, "-pc_type icc " + options, PCApply);
  }
}

TEST_F(Factor, PetscsShiftOfIccIsThatOfPetsc) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 10, .ny = 10, .nz = 1});
  for (double& value : a.values)
    if (value > 0) value *= 0.6;  // no longer positive definite
  const OwnedMat matrix = make_matrix(a);
  const std::string as_petsc = std::string(ours_icc) + "-pc_taskdag_icc_shift petsc ";
  expect_same(matrix, as_petsc, "-pc_type icc", PCApply);
  expect_same(matrix, package_icc, "-pc_type icc", PCApply);
  expect_same(matrix, std::string(ours_icc) + "-pc_factor_shift_type positive_definite", "-pc_type icc", PCApply);
  const Solve ours = solve(matrix, "-ksp_max_it 5 " + as_petsc);
  EXPECT_NE(ours.view.find("shifted"), std::string::npos) << "the case shows nothing unless there is a shift\n"
                                                          << ours.view;
}

/// The shift starts from sums over whole rows: the upper triangle alone does not tell them.
TEST_F(Factor, ShiftsOfAnUpperTriangleAreThoseOfTheWholeMatrix) {
  CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 10, .ny = 10, .nz = 1});
  for (double& value : csr.values)
    if (value > 0) value *= 0.6;  // no longer positive definite
  const OwnedMat whole = make_local_matrix(csr);
  OwnedMat upper;
  PETSC_OK(MatSetOption(whole, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(whole, MATSEQSBAIJ, MAT_INITIAL_MATRIX, upper.out()));
  const OwnedPc reference = make_pc(whole, "-pc_type icc");
  const OwnedPc theirs = make_pc(upper, "-pc_type icc");
  ASSERT_LT(difference_of_applications(theirs, reference, whole), 1e-10) << "PETSc's own";
  for (const std::string& ours : {std::string(ours_icc) + "-pc_taskdag_icc_shift petsc ", std::string(package_icc)}) {
    const OwnedPc pc = make_pc(upper, ours);
    EXPECT_LT(difference_of_applications(pc, reference, whole), 1e-10) << ours;
  }
  // An option that is changed later: only the package keeps what it has analysed.
  const OwnedPc changed = make_pc(upper, std::string(package_icc) + "-pc_factor_shift_type nonzero");
  PETSC_OK(PCFactorSetShiftType(changed, MAT_SHIFT_POSITIVE_DEFINITE));
  PETSC_OK(MatShift(upper, 1.0));
  PETSC_OK(MatShift(upper, -1.0));
  EXPECT_LT(difference_of_applications(changed, reference, whole), 1e-10) << "changed";
}

TEST_F(Factor, BlocksOfVectorsAreAppliedColumnByColumn) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  for (const char* options :
       {ours_ilu, package_ilu,
        "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_backend host"}) {
    const OwnedPc pc = make_pc(a, options);
    PetscInt rows = 0;
    PETSC_OK(MatGetSize(a, &rows, nullptr));
    const PetscInt columns = 5;
    OwnedMat b;
    OwnedMat x;
    PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, columns, nullptr, b.out()));
    PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, columns, nullptr, x.out()));
    for (PetscInt k = 0; k < columns; ++k) {
      Vec column = nullptr;
      const OwnedVec values = make_vector(a, static_cast<double>(k + 1));
      PETSC_OK(MatDenseGetColumnVecWrite(b, k, &column));
      PETSC_OK(VecCopy(values, column));
      PETSC_OK(MatDenseRestoreColumnVecWrite(b, k, &column));
    }
    PETSC_OK(MatAssemblyBegin(x, MAT_FINAL_ASSEMBLY));
    PETSC_OK(MatAssemblyEnd(x, MAT_FINAL_ASSEMBLY));
    PETSC_OK(PCMatApply(pc, b, x));
    for (PetscInt k = 0; k < columns; ++k) {
      Vec column = nullptr;
      const OwnedVec values = make_vector(a, static_cast<double>(k + 1));
      const OwnedVec single = make_vector(a);
      PETSC_OK(PCApply(pc, values, single));
      PETSC_OK(MatDenseGetColumnVecRead(x, k, &column));
      EXPECT_LT(relative_difference(column, single), 1e-14) << options << ", column " << k;
      PETSC_OK(MatDenseRestoreColumnVecRead(x, k, &column));
    }
  }
}

TEST_F(Factor, FactorMatrixSolvesForManyRightHandSides) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  const OwnedPc ours = make_pc(a, package_ilu);
  const OwnedPc theirs = make_pc(a, "-pc_type ilu");
  Mat factor = nullptr;
  Mat reference = nullptr;
  PETSC_OK(PCFactorGetMatrix(ours, &factor));
  PETSC_OK(PCFactorGetMatrix(theirs, &reference));
  PetscInt rows = 0;
  PETSC_OK(MatGetSize(a, &rows, nullptr));
  OwnedMat b;
  OwnedMat x;
  OwnedMat y;
  for (OwnedMat* dense : {&b, &x, &y}) PETSC_OK(MatCreateSeqDense(PETSC_COMM_SELF, rows, 4, nullptr, dense->out()));
  PETSC_OK(MatSetRandom(b, nullptr));
  for (Mat zero : {static_cast<Mat>(x), static_cast<Mat>(y)}) PETSC_OK(MatZeroEntries(zero));
  using Function = PetscErrorCode (*)(Mat, Mat, Mat);
  const int applications = event_count("TaskDAGApply");
  int calls = 0;
  for (const Function solve : {Function(MatMatSolve), Function(MatMatSolveTranspose)}) {
    PETSC_OK(solve(factor, b, x));
    ++calls;
    PETSC_OK(solve(reference, b, y));
    PetscReal size = 0.0;
    PetscReal difference = 0.0;
    PETSC_OK(MatNorm(y, NORM_FROBENIUS, &size));
    PETSC_OK(MatAXPY(x, -1.0, y, SAME_NONZERO_PATTERN));
    PETSC_OK(MatNorm(x, NORM_FROBENIUS, &difference));
    EXPECT_LT(difference, 1e-10 * size);
  }
  EXPECT_EQ(event_count("TaskDAGApply"), applications + calls) << "one application for all columns";
}

// A KSP for several right-hand sides that hands all of them to the preconditioner at once.
TEST_F(Factor, SolversForManyRightHandSidesApplyOnce) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  PetscInt rows = 0;
  PETSC_OK(MatGetSize(a, &rows, nullptr));
  for (const char* options : {ours_ilu, package_ilu}) {
    for (const PetscInt columns : {1, 2, 9, 33}) {
      SCOPED_TRACE(options + std::to_string(columns));
      const ScopedOptions set(std::string("-ksp_type preonly ") + options);
      OwnedKsp ksp;
      PETSC_OK(KSPCreate(PETSC_COMM_SELF, ksp.out()));
      PETSC_OK(KSPSetOperators(ksp, a, a));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(KSPSetUp(ksp));
      OwnedMat b;
      OwnedMat x;
      for (OwnedMat* dense : {&b, &x}) {
        PETSC_OK(MatCreateSeqDense(PETSC_COMM_SELF, rows, columns, nullptr, dense->out()));
      }
      PETSC_OK(MatSetRandom(b, nullptr));
      PETSC_OK(MatZeroEntries(x));
      const int applications = event_count("TaskDAGApply");
      PETSC_OK(KSPMatSolve(ksp, b, x));
      EXPECT_EQ(event_count("TaskDAGApply"), applications + 1) << "one application for all columns";
      for (PetscInt k = 0; k < columns; ++k) {
        Vec right = nullptr;
        Vec column = nullptr;
        const OwnedVec single = make_vector(a);
        PETSC_OK(MatDenseGetColumnVecRead(b, k, &right));
        PETSC_OK(KSPSolve(ksp, right, single));
        PETSC_OK(MatDenseRestoreColumnVecRead(b, k, &right));
        PETSC_OK(MatDenseGetColumnVecRead(x, k, &column));
        EXPECT_LT(relative_difference(column, single), 1e-14) << "column " << k;
        PETSC_OK(MatDenseRestoreColumnVecRead(x, k, &column));
      }
    }
  }
}

TEST_F(Factor, SymmetricBlockMatricesAreFactored) {
  const OwnedMat full = make_local_matrix(load("bcsstk16"));
  OwnedMat upper;
  PETSC_OK(MatSetOption(full, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(full, MATSEQSBAIJ, MAT_INITIAL_MATRIX, upper.out()));
  for (const char* ours : {ours_icc, package_icc}) {
    const OwnedPc p = make_pc(upper, ours);
    const OwnedPc q = make_pc(full, "-pc_type icc");
    EXPECT_LT(difference_of_applications(p, q, full), 1e-10);
  }
  // With the upper triangle alone neither ILU nor Jacobi sweeps would be right: the matrix is expanded.
  for (const char* options : {"-pc_taskdag_type ilu", "-pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2"}) {
    const std::string text = std::string("-pc_type taskdag -pc_taskdag_backend host ") + options;
    const OwnedPc p = make_pc(upper, text);
    const OwnedPc q = make_pc(full, text);
    EXPECT_LT(difference_of_applications(p, q, full), 1e-12) << options;
  }
}

TEST_F(Factor, OtherMatrixTypesAreConverted) {
  const OwnedMat a = make_local_matrix(load("orsreg_1"));
  const OwnedMat baij = make_local_matrix(load("orsreg_1"), MATSEQBAIJ);
  const OwnedPc p = make_pc(baij, ours_ilu);
  const OwnedPc q = make_pc(a, "-pc_type ilu");
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  for (int round = 0; round < 2; ++round) {  // the second time through the numeric phase alone
    PETSC_OK(PCApply(p, b, x));
    PETSC_OK(PCApply(q, b, y));
    EXPECT_LT(relative_difference(x, y), 1e-10);
    PETSC_OK(MatScale(a, 3.0));
    PETSC_OK(MatScale(baij, 3.0));
  }
}

/// The row's diagonal entry is 0.
OwnedMat with_zero_on_the_diagonal(PetscInt row) {
  OwnedMat a = make_local_matrix(
      make_stencil({.stencil = Stencil::seven_point, .nx = 6, .ny = 6, .nz = 6, .unknowns_per_node = 1, .wind = 0.5}));
  EXPECT_EQ(static_cast<int>(MatSetValue(a, row, row, 0.0, INSERT_VALUES)), 0);
  EXPECT_EQ(static_cast<int>(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), 0);
  EXPECT_EQ(static_cast<int>(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY)), 0);
  return a;
}

constexpr const char* along_diagonal = " -pc_factor_nonzeros_along_diagonal ";

TEST_F(Factor, ColumnsAreMovedToTheDiagonalAsPetscs) {
  const std::vector<std::string> ways = {"-pc_factor_levels 1", "-pc_factor_mat_ordering_type rcm",
                                         "-pc_factor_mat_ordering_type taskdag_rcm"};
  for (const PetscInt row : {0, 17}) {
    SCOPED_TRACE(row);
    const OwnedMat a = with_zero_on_the_diagonal(row);
    for (const std::string& way : ways) {
      expect_same(a, package_ilu + (along_diagonal + way), "-pc_type ilu" + (along_diagonal + way), PCApply);
      expect_same(a, package_ilu + (along_diagonal + way), "-pc_type ilu" + (along_diagonal + way), PCApplyTranspose);
    }
  }
}

// PETSc moves columns of an index set that it has marked as the natural order, and its own ILU(0) then takes the
// pattern of the matrix as it was: the reference has index sets without marks.
TEST_F(Factor, ColumnsAreMovedToTheDiagonalInTheNaturalOrder) {
  for (const PetscInt row : {0, 17}) {
    SCOPED_TRACE(row);
    const OwnedMat a = with_zero_on_the_diagonal(row);
    OwnedIs natural[2];
    OwnedIs moved[2];
    PETSC_OK(MatGetOrdering(a, MATORDERINGNATURAL, natural[0].out(), natural[1].out()));
    PETSC_OK(MatReorderForNonzeroDiagonal(a, 1e-10, natural[0], natural[1]));
    for (int i : {0, 1}) {
      PetscInt size = 0;
      const PetscInt* indices = nullptr;
      PETSC_OK(ISGetLocalSize(natural[i], &size));
      PETSC_OK(ISGetIndices(natural[i], &indices));
      PETSC_OK(ISCreateGeneral(PETSC_COMM_SELF, size, indices, PETSC_COPY_VALUES, moved[i].out()));
      PETSC_OK(ISRestoreIndices(natural[i], &indices));
      PETSC_OK(ISSetPermutation(moved[i]));
    }
    OwnedMat factor;
    MatFactorInfo info;
    PETSC_OK(MatFactorInfoInitialize(&info));
    info.fill = 1.0;
    PETSC_OK(MatGetFactor(a, MATSOLVERPETSC, MAT_FACTOR_ILU, factor.out()));
    PETSC_OK(MatILUFactorSymbolic(factor, a, moved[0], moved[1], &info));
    PETSC_OK(MatLUFactorNumeric(factor, a, &info));
    const OwnedPc package = make_pc(a, std::string(package_ilu) + along_diagonal);
    const OwnedVec b = make_vector(a, 0.7);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    PETSC_OK(PCApply(package, b, x));
    PETSC_OK(MatSolve(factor, b, y));
    EXPECT_LT(relative_difference(x, y), 1e-10);
  }
}

/// A stencil with blocks of 3 unknowns, in a format that keeps blocks, and in rows.
struct BlockPair {
  OwnedMat blocks;
  OwnedMat rows;
};
BlockPair block_pair(MatType type) {
  const CsrMatrix csr =
      make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 6, .nz = 1, .unknowns_per_node = 3});
  BlockPair pair{{}, make_local_matrix(csr)};
  EXPECT_EQ(static_cast<int>(MatSetBlockSize(pair.rows, 3)), 0);
  EXPECT_EQ(static_cast<int>(MatSetOption(pair.rows, MAT_SYMMETRIC, PETSC_TRUE)), 0);
  EXPECT_EQ(static_cast<int>(MatConvert(pair.rows, type, MAT_INITIAL_MATRIX, pair.blocks.out())), 0);
  return pair;
}

// PETSc's factorisations of matrices that keep blocks take an order of blocks.
TEST_F(Factor, OrderingsOfMatricesThatKeepBlocksAreOfBlocks) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const BlockPair pair = block_pair(MATSEQBAIJ);
  PetscInt block = 0;
  PetscInt rows = 0;
  PETSC_OK(MatGetBlockSize(pair.blocks, &block));
  PETSC_OK(MatGetSize(pair.blocks, &rows, nullptr));
  ASSERT_EQ(block, 3);
  for (const char* ordering : {"natural", "rcm", "taskdag_rcm", "taskdag_color", "taskdag_bmc"}) {
    SCOPED_TRACE(ordering);
    OwnedIs row;
    OwnedIs col;
    PetscInt count = 0;
    PetscBool permutation = PETSC_FALSE;
    PETSC_OK(MatGetOrdering(pair.blocks, ordering, row.out(), col.out()));
    PETSC_OK(ISGetLocalSize(row, &count));
    PETSC_OK(ISPermutation(row, &permutation));
    EXPECT_EQ(count, rows / 3);
    EXPECT_EQ(permutation, PETSC_TRUE);
    const std::string order = std::string(" -pc_factor_mat_ordering_type ") + ordering;
    const OwnedPc petscs = make_pc(pair.blocks, "-pc_type ilu" + order);
    const OwnedPc package = make_pc(pair.blocks, package_ilu + order);
    EXPECT_LT(difference_of_applications(package, petscs, pair.blocks), 1e-12);
    const OwnedPc ours = make_pc(pair.blocks, ours_ilu + order);
    EXPECT_LT(difference_of_applications(ours, petscs, pair.blocks), 1e-12);
  }
}

TEST_F(Factor, OfMatricesThatKeepBlocksIsPetscs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  struct Case {
    MatType type;
    const char* options;
  };
  for (const Case& one : {Case{MATSEQBAIJ, "-pc_type ilu"}, Case{MATSEQBAIJ, "-pc_type ilu -pc_factor_levels 2"},
                          Case{MATSEQBAIJ, "-pc_type icc"}, Case{MATSEQSBAIJ, "-pc_type icc"},
                          Case{MATSEQSBAIJ, "-pc_type icc -pc_factor_levels 1"}}) {
    const BlockPair pair = block_pair(one.type);
    const OwnedPc petscs = make_pc(pair.blocks, one.options);
    const OwnedPc package =
        make_pc(pair.blocks, std::string(one.options) + " -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
    EXPECT_LT(difference_of_applications(package, petscs, pair.blocks), 1e-12) << one.type << " " << one.options;
  }
}

TEST_F(Factor, NewValuesCauseNoSymbolicPhase) {
  for (const char* options : {ours_ilu, package_ilu}) {
    const OwnedMat a = make_matrix(load("orsreg_1"));
    const OwnedPc pc = make_pc(a, options);
    const int symbolic = event_count("TaskDAGSymbolic");
    const int numeric = event_count("TaskDAGNumeric");
    PETSC_OK(MatShift(a, 1.0));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic) << options;
    EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 1) << options;
    const OwnedPc fresh = make_pc(a, "-pc_type ilu");
    EXPECT_LT(difference_of_applications(pc, fresh, a), 1e-10) << options;
  }
}

TEST_F(Factor, NewPatternCausesANewSymbolicPhase) {
  for (const std::string& options :
       {std::string(ours_ilu), std::string(ours_ilu) + "-pc_factor_mat_ordering_type rcm", std::string(package_ilu)}) {
    const OwnedMat a = make_matrix(load("orsreg_1"));
    PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    const OwnedPc pc = make_pc(a, options);
    const int symbolic = event_count("TaskDAGSymbolic");
    PETSC_OK(MatSetValue(a, 100, 2000, -0.5, INSERT_VALUES));
    PETSC_OK(MatSetValue(a, 2000, 100, -0.5, INSERT_VALUES));
    PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1);
    const std::string ordering = options.find("rcm") == std::string::npos ? "" : " -pc_factor_mat_ordering_type rcm";
    const OwnedPc fresh = make_pc(a, "-pc_type ilu" + ordering);
    EXPECT_LT(difference_of_applications(pc, fresh, a), 1e-10) << options;
  }
}

TEST_F(Factor, ReuseOrderingKeepsTheOrderingOfTheFirstPattern) {
  const CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1, .wind = 1.0});
  const auto change = [](Mat a) {
    for (const auto& [i, j] : {std::pair<PetscInt, PetscInt>{0, 60}, {60, 0}, {3, 55}, {55, 3}})
      if (MatSetValue(a, i, j, -0.25, INSERT_VALUES)) return false;
    return !MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY) && !MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  };
  const std::string options = "-pc_factor_mat_ordering_type rcm -pc_factor_reuse_ordering";
  std::vector<OwnedVec> results;
  for (const std::string& pc_options : {std::string(ours_ilu) + options, "-pc_type ilu " + options,
                                        std::string(ours_ilu) + "-pc_factor_mat_ordering_type rcm"}) {
    const OwnedMat a = make_matrix(csr);
    PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    const OwnedPc pc = make_pc(a, pc_options);
    ASSERT_TRUE(change(a));
    PETSC_OK(PCSetUp(pc));
    const OwnedVec b = make_vector(a);
    results.push_back(make_vector(a));
    PETSC_OK(PCApply(pc, b, results.back()));
  }
  EXPECT_LT(relative_difference(results[0], results[1]), 1e-10);
  EXPECT_GT(relative_difference(results[0], results[2]), 1e-10) << "the case shows nothing unless the orderings differ";
}

TEST_F(Factor, InformationCountsTheEntriesOfTheFactor) {
  const CsrMatrix csr = load("orsreg_1");
  const OwnedMat a = make_matrix(csr);
  const OwnedPc pc = make_pc(a, package_ilu);
  Mat factor = nullptr;
  MatInfo info;
  MatSolverType package = nullptr;
  PETSC_OK(PCFactorGetMatrix(pc, &factor));
  PETSC_OK(MatGetInfo(factor, MAT_LOCAL, &info));
  PETSC_OK(MatFactorGetSolverType(factor, &package));
  EXPECT_EQ(info.nz_used, csr.entries());
  EXPECT_EQ(info.fill_ratio_needed, 1.0);
  EXPECT_GT(info.memory, 0.0);
  EXPECT_STREQ(package, "taskdag");
}

std::vector<Index> taskdag_rcm_of(Mat a) {
  OwnedIs row;
  OwnedIs col;
  PetscBool same = PETSC_FALSE;
  PetscInt n = 0;
  const PetscInt* indices = nullptr;
  const int code = static_cast<int>(MatGetOrdering(a, MATORDERINGTASKDAGRCM, row.out(), col.out()));
  EXPECT_EQ(code, 0);
  if (code != 0) return {};
  EXPECT_EQ(static_cast<int>(ISEqual(row, col, &same)), 0);
  EXPECT_EQ(same, PETSC_TRUE);
  EXPECT_EQ(static_cast<int>(ISGetLocalSize(row, &n)), 0);
  EXPECT_EQ(static_cast<int>(ISGetIndices(row, &indices)), 0);
  std::vector<Index> order(indices, indices + n);
  EXPECT_EQ(static_cast<int>(ISRestoreIndices(row, &indices)), 0);
  return order;
}

TEST_F(Factor, OrderingIsTheLibrarysOwn) {
  const CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1});
  EXPECT_EQ(taskdag_rcm_of(make_matrix(csr)), reverse_cuthill_mckee(csr.pattern()));
}

/// What PETSc's -info would print.
class Info {
 public:
  Info() {
    EXPECT_EQ(static_cast<int>(PetscInfoSetFile(name_.c_str(), "w")), 0);
    EXPECT_EQ(static_cast<int>(PetscInfoAllow(PETSC_TRUE)), 0);
    EXPECT_EQ(static_cast<int>(PetscInfoActivateClass(PC_CLASSID)), 0);
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() {
    EXPECT_EQ(static_cast<int>(PetscInfoAllow(PETSC_FALSE)), 0);
    EXPECT_EQ(static_cast<int>(PetscInfoSetFile(nullptr, "a")), 0);
    std::filesystem::remove(file());
  }
  [[nodiscard]] std::string text() const {
    EXPECT_EQ(std::fflush(nullptr), 0);
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  [[nodiscard]] std::string file() const { return name_ + ".0"; }  // PETSc adds the rank
  std::string name_ = std::filesystem::temp_directory_path() / ("taskdag_info_" + std::to_string(getpid()));
};

TEST_F(Factor, InfoTellsOfEachSetUp) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1}));
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
  PETSC_OK(PCSetType(pc, PCTASKDAG));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_ICC));
  PETSC_OK(PCSetOperators(pc, a, a));
  const Info info;
  PETSC_OK(PCSetUp(pc));
  EXPECT_NE(info.text().find("TaskDAG's icc: analysed and set up\n"), std::string::npos) << info.text();
  PETSC_OK(MatScale(a, 2.0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_NE(info.text().find("TaskDAG's icc: new numbers, the analysis is kept\n"), std::string::npos) << info.text();
}

TEST_F(Factor, OrderingIsTheSameInEveryForm) {
  const CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 29, .ny = 17, .nz = 1});
  const OwnedMat a = make_matrix(csr);
  const std::vector<Index> expected = reverse_cuthill_mckee(csr.pattern());
  const std::string solver = "-ksp_type gmres -pc_type ilu -pc_factor_mat_ordering_type taskdag_rcm ";
  const PetscInt iterations = solve(a, solver).iterations;
  const auto check = [&](const std::string& options, const std::string& form) {
    SCOPED_TRACE(options);
    {
      const ScopedOptions scope(options);
      const Info info;
      EXPECT_EQ(taskdag_rcm_of(a), expected);
      EXPECT_NE(info.text().find("taskdag_rcm by " + form), std::string::npos) << info.text();
    }
    EXPECT_EQ(solve(a, solver + options).iterations, iterations);
  };
  check("-taskdag_rcm_form auto", "walk");
  check("-taskdag_rcm_form walk", "walk");
  for (const std::string sort : {"bitonic", "cub", "cpu-gpu"})
    for (const std::string steps : {"phases", "dependencies"})
      for (const std::string scheduler : {"auto", "megakernel", "controller", "timesliced"})
        check("-taskdag_rcm_form tasks -taskdag_rcm_sort " + sort + " -taskdag_rcm_steps " + steps +
                  " -taskdag_rcm_scheduler " + scheduler,
              "tasks");
}

TEST_F(Factor, OrderingKeepsRowsOfOnePatternTogether) {
  const CsrMatrix nodes = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1});
  const CsrMatrix csr =
      make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1, .unknowns_per_node = 2});
  std::vector<Index> expected;
  for (const Index node : reverse_cuthill_mckee(nodes.pattern())) {
    expected.push_back(2 * node);
    expected.push_back(2 * node + 1);
  }
  EXPECT_EQ(taskdag_rcm_of(make_matrix(csr)), expected);
}

TEST_F(Factor, EmptyMatrixIsFactoredAndApplied) {
  OwnedMat a;
  PETSC_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, nullptr, a.out()));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  for (const char* options : {ours_ilu, ours_icc, package_ilu, "-pc_type taskdag -pc_taskdag_type jacobi"}) {
    const OwnedPc pc = make_pc(a, options);
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    PETSC_OK(PCApply(pc, b, x));
  }
}

TEST(Registration, LeavesPetscsOwnFactorisationsTheDefault) {
  const OwnedMat a = make_local_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 5, .nz = 1}));
  for (const char* type : {"ilu", "icc", "lu", "cholesky"}) {
    const OwnedPc pc = make_pc(a, std::string("-pc_type ") + type);
    MatSolverType package = nullptr;
    PETSC_OK(PCFactorGetMatSolverType(pc, &package));
    EXPECT_STREQ(package, MATSOLVERPETSC) << type;
  }
}

}  // namespace
}  // namespace taskdag::test
