// -pc_taskdag_jacobi_type block: PETSc's pbjacobi and vpbjacobi, and the same with blocks of the graph.
#include <cmath>
#include <limits>
#include <utility>

#include "blocks.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

class BlockJacobi : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, BlockJacobi, testing::ValuesIn(backends()), name_of_backend);

std::string ours(const std::string& more = "", const std::string& prefix = "") {
  const std::string own = " -" + prefix + "pc_taskdag_";
  return "-" + prefix + "pc_type taskdag" + own + "type jacobi" + own + "jacobi_type block -" + prefix +
         OnBackend::option().substr(1) + more + " ";
}

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::five_point, .nx = 25, .ny = 24}); }
CsrMatrix convection() { return make_stencil({.stencil = Stencil::five_point, .nx = 25, .ny = 24, .wind = 1.0}); }

/// Symmetric positive definite: nodes with several unknowns each, which couple strongly.
CsrMatrix with_nodes(Index unknowns) {
  CsrMatrix a =
      make_stencil({.stencil = Stencil::seven_point, .nx = 6, .ny = 5, .nz = 4, .unknowns_per_node = unknowns});
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      double& value = a.values[static_cast<std::size_t>(e)];
      if (i == j) value += 0.5 * unknowns + 0.1 * static_cast<double>(i % 5);
      if (i != j && i / unknowns == j / unknowns) value += 0.5 * static_cast<double>((i + j) % 3 - 1);
    }
  }
  return a;
}

/// The matrix with blocks of so many rows, which its local parts know too.
OwnedMat make_blocked(const CsrMatrix& a, PetscInt block) {
  OwnedMat matrix;
  EXPECT_EQ(static_cast<int>(MatCreate(PETSC_COMM_WORLD, matrix.out())), 0);
  EXPECT_EQ(static_cast<int>(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, a.rows, a.cols)), 0);
  EXPECT_EQ(static_cast<int>(MatSetBlockSize(matrix, block)), 0);
  EXPECT_EQ(static_cast<int>(MatSetType(matrix, MATAIJ)), 0);
  EXPECT_EQ(static_cast<int>(MatSeqAIJSetPreallocation(matrix, static_cast<PetscInt>(7 * block), nullptr)), 0);
  EXPECT_EQ(static_cast<int>(MatMPIAIJSetPreallocation(matrix, static_cast<PetscInt>(7 * block), nullptr,
                                                       static_cast<PetscInt>(7 * block), nullptr)),
            0);
  PetscInt first = 0;
  PetscInt last = 0;
  EXPECT_EQ(static_cast<int>(MatGetOwnershipRange(matrix, &first, &last)), 0);
  const std::vector<PetscInt> columns = to_petsc_indices(a.col_indices);
  for (PetscInt i = first; i < last; ++i) {
    const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
    const PetscInt count = a.row_offsets[static_cast<std::size_t>(i) + 1] - a.row_offsets[static_cast<std::size_t>(i)];
    EXPECT_EQ(static_cast<int>(
                  MatSetValues(matrix, 1, &i, count, columns.data() + begin, a.values.data() + begin, INSERT_VALUES)),
              0);
  }
  EXPECT_EQ(static_cast<int>(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY)), 0);
  EXPECT_EQ(static_cast<int>(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY)), 0);
  return matrix;
}

void expect_equal_solves(Mat a, const std::vector<std::string>& methods, const std::string& first,
                         const std::string& second) {
  for (const std::string& method : methods) {
    SCOPED_TRACE(method);
    const Solve one = solve(a, words({"-ksp_type", method, first}));
    const Solve other = solve(a, words({"-ksp_type", method, second}));
    ASSERT_EQ(static_cast<int>(one.code), 0) << one.message;
    ASSERT_EQ(static_cast<int>(other.code), 0) << other.message;
    EXPECT_GT(other.reason, 0);
    EXPECT_EQ(one.reason, other.reason);
    EXPECT_EQ(one.iterations, other.iterations);
  }
}

TEST_P(BlockJacobi, TheMatrixOwnBlocksGivePetscsPbjacobi) {
  for (const Index unknowns : {2, 3, 5, 8}) {
    SCOPED_TRACE(unknowns);
    const OwnedMat a = make_blocked(with_nodes(unknowns), unknowns);
    const OwnedPc theirs = make_pc(a, "-pc_type pbjacobi");
    for (const char* blocks : {"", " -pc_taskdag_jacobi_blocks matrix"}) {
      const OwnedPc found = make_pc(a, ours(blocks));
      EXPECT_LE(difference_of_applications(found, theirs, a), 1e-12);
    }
    const OwnedPc points = make_pc(a, "-pc_type jacobi");
    EXPECT_GT(difference_of_applications(points, theirs, a), 1e-3) << "or the case shows nothing";
    expect_equal_solves(a, {"cg", "gmres", "bcgs", "chebyshev"}, ours(), "-pc_type pbjacobi ");
  }
}

TEST_P(BlockJacobi, BlocksOfSeveralSizesGivePetscsVpbjacobi) {
  const OwnedMat a = make_matrix(convection());
  PETSC_OK(set_blocks_of_several_sizes(a, 11));
  const OwnedPc theirs = make_pc(a, "-pc_type vpbjacobi");
  const OwnedPc found = make_pc(a, ours());
  EXPECT_LE(difference_of_applications(found, theirs, a), 1e-12);
  expect_equal_solves(a, {"gmres", "bcgs"}, ours(), "-pc_type vpbjacobi ");
}

/// Iterations from the right-hand side b.
PetscInt iterations(Mat a, Vec b, const std::string& options) {
  const ScopedOptions scope(options + " -ksp_type gmres -ksp_rtol 1e-8");
  OwnedKsp ksp;
  OwnedVec x;
  PetscInt count = -1;
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  EXPECT_EQ(static_cast<int>(VecDuplicate(b, x.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, x)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &count)), 0);
  return count;
}

TEST_P(BlockJacobi, BlocksOfTheGraphGiveVpbjacobiOfThePermutedMatrix) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix matrix = convection();
  const OwnedMat a = make_matrix(matrix);
  for (const Index size : {2, 8, 32}) {
    SCOPED_TRACE(size);
    const JacobiBlocks blocks = blocks_of_graph(Context::create({.backend = ::taskdag::Backend::host}),
                                                matrix.view().pattern, MemorySpace::host, size);
    const std::vector<PetscInt> order = to_petsc_indices(blocks.order);
    std::vector<PetscInt> sizes;
    for (std::size_t k = 0; k + 1 < blocks.offsets.size(); ++k)
      sizes.push_back(blocks.offsets[k + 1] - blocks.offsets[k]);
    OwnedIs rows;
    OwnedMat permuted;
    PETSC_OK(ISCreateGeneral(PETSC_COMM_WORLD, static_cast<PetscInt>(order.size()), order.data(), PETSC_COPY_VALUES,
                             rows.out()));
    PETSC_OK(ISSetPermutation(rows));
    PETSC_OK(MatPermute(a, rows, rows, permuted.out()));
    PETSC_OK(MatSetVariableBlockSizes(permuted, static_cast<PetscInt>(sizes.size()), sizes.data()));

    const OwnedVec b = make_vector(a);
    OwnedVec turned;
    PETSC_OK(VecDuplicate(b, turned.out()));
    PETSC_OK(VecCopy(b, turned));
    PETSC_OK(VecPermute(turned, rows, PETSC_FALSE));
    const OwnedPc theirs = make_pc(permuted, "-pc_type vpbjacobi");
    const OwnedPc found = make_pc(a, ours(" -pc_taskdag_jacobi_block_size " + std::to_string(size)));
    OwnedVec x;
    OwnedVec y;
    PETSC_OK(VecDuplicate(b, x.out()));
    PETSC_OK(VecDuplicate(b, y.out()));
    PETSC_OK(PCApply(found, b, x));
    PETSC_OK(PCApply(theirs, turned, y));
    PETSC_OK(VecPermute(x, rows, PETSC_FALSE));
    EXPECT_LE(relative_difference(x, y), 1e-12);
    EXPECT_EQ(iterations(a, b, ours(" -pc_taskdag_jacobi_block_size " + std::to_string(size))),
              iterations(permuted, turned, "-pc_type vpbjacobi"));
  }
}

TEST_P(BlockJacobi, EachRankHasBlocksOfItsOwnRows) {
  const OwnedMat a = make_matrix(convection());
  const OwnedPc each = make_pc(a, "-pc_type bjacobi " + ours("", "sub_"));
  const OwnedPc all = make_pc(a, ours());
  EXPECT_LE(difference_of_applications(all, each, a), 1e-14);
}

TEST_P(BlockJacobi, LargerBlocksNeedFewerIterations) {
  const OwnedMat a = make_matrix(poisson());
  const auto count = [&](const std::string& options) {
    const Solve solved = solve(a, "-ksp_type cg " + options);
    EXPECT_EQ(static_cast<int>(solved.code), 0) << solved.message;
    EXPECT_GT(solved.reason, 0);
    return solved.iterations;
  };
  const PetscInt points = count("-pc_type jacobi");
  EXPECT_EQ(count(ours(" -pc_taskdag_jacobi_block_size 1")), points);
  const PetscInt few = count(ours());
  const PetscInt most = count(ours(" -pc_taskdag_jacobi_block_size 32"));
  EXPECT_LT(few, points);
  EXPECT_LT(most, few);
}

TEST_P(BlockJacobi, SeveralSweepsAreRichardsonStepsWithPbjacobi) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");  // on several each rank sweeps its own rows
  const OwnedMat a = make_blocked(with_nodes(3), 3);
  const OwnedPc pc = make_pc(a, ours(" -pc_taskdag_jacobi_sweeps 3 -pc_taskdag_jacobi_damping 0.7"));
  const OwnedPc reference =
      make_pc(a,
              "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_richardson_scale 0.7 -ksp_ksp_max_it 3 "
              "-ksp_ksp_norm_type none -ksp_ksp_convergence_test skip -ksp_pc_type pbjacobi");
  EXPECT_LE(difference_of_applications(pc, reference, a), 1e-12);
}

TEST_P(BlockJacobi, ChebyshevsWeightsGoOnFromAVectorWithoutAResidual) {
  const OwnedMat a = make_matrix(poisson());
  const std::string sweeps =
      " -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_weights chebyshev -pc_taskdag_jacobi_damping 0.5";
  const OwnedPc pc = make_pc(a, ours(sweeps));
  const OwnedVec b = make_vector(a, 1.0);
  OwnedVec x = make_vector(a, 3.0);
  OwnedVec expected;
  OwnedVec r;
  OwnedVec z;
  for (Vec* v : {expected.out(), r.out(), z.out()}) PETSC_OK(VecDuplicate(x, v));
  PETSC_OK(VecCopy(x, expected));
  for (int k = 0; k < 3; ++k) {
    PETSC_OK(MatMult(a, expected, r));
    PETSC_OK(VecAYPX(r, -1.0, b));
    PETSC_OK(PCApply(pc, r, z));
    PETSC_OK(VecAXPY(expected, 1.0, z));
  }
  const ScopedOptions all("-ksp_type richardson -ksp_max_it 3 -ksp_norm_type none -ksp_convergence_test skip " +
                          ours(sweeps));
  OwnedKsp ksp;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(KSPSetUp(ksp));
  const int products = event_count("MatMult");
  PETSC_OK(KSPSolve(ksp, b, x));
  EXPECT_EQ(event_count("MatMult"), products);
  EXPECT_LE(relative_difference(x, expected), 1e-12);
}

TEST_P(BlockJacobi, SmoothsMultigridAsPetscDoes) {
  const OwnedMat a = make_blocked(with_nodes(3), 3);
  for (const char* smoother :
       {"-mg_levels_ksp_type chebyshev ", "-mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.6 "}) {
    SCOPED_TRACE(smoother);
    const std::string options = std::string("-ksp_type gmres -pc_type gamg ") + smoother;
    const Solve theirs = solve(a, options + "-mg_levels_pc_type pbjacobi");
    const Solve found = solve(a, options + ours("", "mg_levels_"));
    ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
    ASSERT_EQ(static_cast<int>(theirs.code), 0) << theirs.message;
    EXPECT_GT(found.reason, 0);
    EXPECT_EQ(found.iterations, theirs.iterations);
  }
}

TEST_P(BlockJacobi, ChebyshevOverBlocksOfTheGraphSmooths) {
  const OwnedMat a = make_matrix(poisson());
  const auto count = [&](const std::string& smoother) {
    const Solve solved = solve(a, "-ksp_type cg -pc_type gamg -mg_levels_ksp_type chebyshev " + smoother);
    EXPECT_EQ(static_cast<int>(solved.code), 0) << solved.message;
    EXPECT_GT(solved.reason, 0);
    return solved.iterations;
  };
  EXPECT_LE(count(ours("", "mg_levels_")), count("-mg_levels_pc_type jacobi"));
}

TEST_P(BlockJacobi, TransposedIsTheTransposedOperator) {
  const OwnedMat a = make_matrix(convection());
  for (const char* sweeps : {"1", "3"}) {
    const OwnedPc pc = make_pc(a, ours(std::string(" -pc_taskdag_jacobi_sweeps ") + sweeps));
    const OwnedVec x = make_vector(a, 1.0);
    const OwnedVec y = make_vector(a, 2.0);
    OwnedVec mx;
    OwnedVec my;
    PETSC_OK(VecDuplicate(x, mx.out()));
    PETSC_OK(VecDuplicate(x, my.out()));
    PETSC_OK(PCApply(pc, x, mx));
    PETSC_OK(PCApplyTranspose(pc, y, my));
    PetscScalar first = 0.0;
    PetscScalar second = 0.0;
    PetscReal size = 0.0;
    PETSC_OK(VecDot(mx, y, &first));
    PETSC_OK(VecDot(my, x, &second));
    PETSC_OK(VecNorm(mx, NORM_2, &size));
    EXPECT_NEAR(PetscRealPart(first), PetscRealPart(second), 1e-11 * size);
    PETSC_OK(PCApplyTranspose(pc, x, my));
    EXPECT_GT(relative_difference(mx, my), 1e-3) << "or the case shows nothing";
  }
}

TEST_P(BlockJacobi, ColumnsOfADenseMatrix) {
  const OwnedMat a = make_blocked(with_nodes(3), 3);
  const OwnedPc theirs = make_pc(a, "-pc_type pbjacobi");
  const OwnedPc found = make_pc(a, ours());
  EXPECT_LE(difference_of_columns(found, theirs, a), 1e-12);
}

TEST_P(BlockJacobi, NewValuesAndNewSettingsAreTaken) {
  const OwnedMat a = make_blocked(with_nodes(3), 3);
  const OwnedPc theirs = make_pc(a, "-pc_type pbjacobi");
  const OwnedPc found = make_pc(a, ours());
  EXPECT_LE(difference_of_applications(found, theirs, a), 1e-12);
  const int analyses = event_count("TaskDAGSymbolic");
  PETSC_OK(MatScale(a, 3.0));
  PETSC_OK(MatShift(a, 0.5));
  EXPECT_LE(difference_of_applications(found, theirs, a), 1e-12);
  EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses);
  PETSC_OK(PCTaskDAGJacobiSetType(found, "diagonal"));
  const OwnedPc points = make_pc(a, "-pc_type jacobi");
  EXPECT_LE(difference_of_applications(found, points, a), 1e-12);
  PETSC_OK(PCTaskDAGJacobiSetType(found, "block"));
  EXPECT_LE(difference_of_applications(found, theirs, a), 1e-12);
  PETSC_OK(PCTaskDAGJacobiSetBlocks(found, "graph"));
  EXPECT_GT(difference_of_applications(found, theirs, a), 1e-3);
  PETSC_OK(PCTaskDAGJacobiSetBlockSize(found, 1));
  EXPECT_LE(difference_of_applications(found, points, a), 1e-12);
}

TEST_P(BlockJacobi, FailuresReachAllRanksAndNameTheRow) {
  CsrMatrix matrix = with_nodes(3);
  for (const double value : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    SCOPED_TRACE(value);
    // Row 4: in the block of rows 3 to 5, of the first rank.
    for (Offset e = matrix.row_offsets[4]; e < matrix.row_offsets[5]; ++e) {
      if (matrix.col_indices[static_cast<std::size_t>(e)] / 3 == 1) matrix.values[static_cast<std::size_t>(e)] = value;
    }
    const OwnedMat a = make_blocked(matrix, 3);
    const Solve result = solve(a, ours());
    EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_EQ(result.reason, value == 0.0 ? KSP_DIVERGED_PC_FAILED : KSP_DIVERGED_NANORINF);
    EXPECT_EQ(result.failed, value == 0.0 ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR);
    EXPECT_LT(solve(a, ours() + "-ksp_type richardson -ksp_max_it 5").reason, 0);
    if (ranks() > 1) continue;
    const ErrorCapture errors;
    const Solve strict = solve(a, ours() + "-ksp_error_if_not_converged");
    EXPECT_EQ(static_cast<int>(strict.code), value == 0.0 ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP);
    EXPECT_NE(strict.message.find(value == 0.0 ? "with row 5 is singular" : "with row 4 or its inverse"),
              std::string::npos)
        << strict.message;
  }
}

TEST_P(BlockJacobi, WhatItDoesNotHaveIsRefusedInWords) {
  const OwnedMat a = make_matrix(poisson());
  for (const auto& [option, words] :
       {std::pair{" -pc_taskdag_jacobi_form checkpoints", "block has the forms auto and kernels"},
        std::pair{" -pc_taskdag_jacobi_form tiles", "block has the forms auto and kernels"},
        std::pair{" -pc_taskdag_jacobi_abs", "-pc_taskdag_jacobi_abs is for diagonals"},
        std::pair{" -pc_taskdag_jacobi_block_size 33", "must be 0 to 32"}}) {
    const ErrorCapture errors;
    const Solve refused = solve(a, ours(option));
    EXPECT_NE(static_cast<int>(refused.code), 0);
    EXPECT_NE(refused.message.find(words), std::string::npos) << refused.message;
  }
  const OwnedMat wide = make_blocked(with_nodes(40), 40);
  const ErrorCapture errors;
  const Solve refused = solve(wide, ours());
  EXPECT_NE(static_cast<int>(refused.code), 0);
  EXPECT_NE(refused.message.find("dense inverses are for 1 to 32"), std::string::npos) << refused.message;
}

TEST_P(BlockJacobi, TheViewSaysWhatBlocksThereAre) {
  const OwnedMat grid = make_matrix(poisson());
  const OwnedMat nodes = make_blocked(with_nodes(3), 3);
  const Solve graph = solve(grid, ours());
  const Solve own = solve(nodes, "-ksp_type gmres " + ours());
  ASSERT_EQ(static_cast<int>(graph.code), 0) << graph.message;
  ASSERT_EQ(static_cast<int>(own.code), 0) << own.message;
  if (rank() != 0) return;
  EXPECT_NE(graph.view.find("blocks: of the graph, of about 4 rows"), std::string::npos) << graph.view;
  EXPECT_NE(own.view.find("blocks: the matrix' own, of 3 rows"), std::string::npos) << own.view;
  const std::string blocks = ranks() == 1 ? "120 blocks" : "blocks (120 in all)";
  for (const std::string& words : {std::string("block Jacobi: 1 sweeps, damping 1"), blocks,
                                   std::string("3 rows in the largest one"), std::string(" MB")}) {
    EXPECT_NE(own.view.find(words), std::string::npos) << words << " in " << own.view;
  }
}

}  // namespace
}  // namespace taskdag::test
