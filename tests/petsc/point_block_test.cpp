// -pc_taskdag_point_block: dense blocks factored as one, against PETSc's own factorisations of BAIJ and SBAIJ matrices.
#include <petsc/private/petscimpl.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

constexpr PetscInt kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};

const std::string kIlu = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering natural -pc_taskdag_type ilu ";
const std::string kIcc = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering natural -pc_taskdag_type icc ";

std::string blocks_in_view(PetscInt size) {
  return "point blocks of " + std::to_string(size) + " x " + std::to_string(size);
}

/// Whether the view has the text; only the first rank has one.
testing::AssertionResult shows(const Solve& result, const std::string& text, bool expected = true) {
  if (rank() != 0 || (result.view.find(text) != std::string::npos) == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (expected ? "lacks " : "has ") << text << ":\n" << result.view;
}

/// PETSc's own on each rank's block, and our package there; on one rank the same.
std::string petsc(const std::string& type, PetscInt levels, bool package = false) {
  return "-pc_type bjacobi -sub_pc_type " + type + " -sub_pc_factor_levels " + std::to_string(levels) + " " +
         (package ? "-sub_pc_factor_mat_solver_type taskdag -sub_pc_taskdag_backend host " : "");
}

/// Blocks of `a`, by our preconditioner and by our package, have the iterations and applications of PETSc's `theirs` on
/// `reference`.
void expect_petscs(Mat a, PetscInt size, const std::string& ours, const std::string& package, Mat reference,
                   const std::string& theirs) {
  const Solve expected = solve(reference, theirs);
  const Solve with_pc = solve(a, ours);
  const Solve with_package = solve(a, package);
  EXPECT_GT(expected.reason, 0);
  EXPECT_EQ(static_cast<int>(with_pc.code), 0) << with_pc.message;
  EXPECT_EQ(with_pc.iterations, expected.iterations);
  EXPECT_EQ(with_package.iterations, expected.iterations);
  EXPECT_TRUE(shows(with_pc, blocks_in_view(size), size > 1));
  EXPECT_TRUE(shows(with_package, blocks_in_view(size), size > 1));
  const OwnedPc mine = make_pc(a, ours);
  const OwnedPc petscs = make_pc(reference, theirs);
  EXPECT_LE(difference_of_applications(mine, petscs, a), 1e-11);
}

TEST(PointBlock, IluIsPetscsOfBaij) {
  for (const PetscInt size : kSizes) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size}));
    for (const PetscInt levels : {0, 1, 2}) {
      SCOPED_TRACE("blocks of " + std::to_string(size) + ", levels " + std::to_string(levels));
      const std::string ours = kIlu + "-pc_factor_levels " + std::to_string(levels) + " ";
      expect_petscs(a, size, ours, petsc("ilu", levels, true), a, petsc("ilu", levels));
    }
  }
}

// With levels of fill PETSc's own keeps less of it for blocks than the rule for levels asks for (a row hands its
// pattern to one other row alone), and than its ICC of AIJ matrices does: that one it is.
TEST(PointBlock, IccIsPetscsOfSbaij) {
  for (const PetscInt size : kSizes) {
    for (const char* type : {MATSBAIJ, MATBAIJ}) {
      OwnedMat a;
      PETSC_OK(make_blocks(a.out(), type, {.size = size, .symmetric = true}));
      for (const PetscInt levels : {0, 1}) {
        SCOPED_TRACE(std::string(type) + ", blocks of " + std::to_string(size) + ", levels " + std::to_string(levels));
        const std::string cg = "-ksp_type cg ";
        const std::string ours = kIcc + "-pc_factor_levels " + std::to_string(levels) + " ";
        OwnedMat rows;
        PETSC_OK(MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, rows.out()));
        const Mat reference = levels == 0 ? static_cast<Mat>(a) : static_cast<Mat>(rows);
        expect_petscs(a, size, cg + ours, cg + petsc("icc", levels, true), reference, cg + petsc("icc", levels));
      }
    }
  }
}

TEST(PointBlock, OrderingsOfBlocksAreKept) {
  for (const PetscInt size : {3, 5}) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size}));
    const std::string order = "rcm ";
    const std::string theirs = petsc("ilu", 1) + "-sub_pc_factor_mat_ordering_type " + order;
    const std::string ours = petsc("ilu", 1, true) + "-sub_pc_factor_mat_ordering_type " + order;
    const Solve expected = solve(a, theirs);
    const Solve result = solve(a, ours);
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_TRUE(shows(result, blocks_in_view(size)));
    const OwnedPc mine = make_pc(a, ours);
    const OwnedPc pc = make_pc(a, theirs);
    EXPECT_LE(difference_of_applications(mine, pc, a), 1e-11);
  }
}

TEST(PointBlock, TransposedSolvesArePetscs) {
  for (const PetscInt size : {2, 3, 5, 7, 9}) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size}));
    const OwnedPc mine = make_pc(a, kIlu);
    const OwnedPc package = make_pc(a, petsc("ilu", 0, true));
    const OwnedPc theirs = make_pc(a, petsc("ilu", 0));
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    PETSC_OK(PCApplyTranspose(theirs, b, y));
    PETSC_OK(PCApplyTranspose(mine, b, x));
    EXPECT_LE(relative_difference(x, y), 1e-11) << size;
    PETSC_OK(PCApplyTranspose(package, b, x));
    EXPECT_LE(relative_difference(x, y), 1e-11) << size;
  }
}

class PointBlockOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, PointBlockOn, testing::ValuesIn(backends()), name_of_backend);

// On either backend, with matrices in host memory.
TEST_P(PointBlockOn, ApplicationsArePetscs) {
  for (const PetscInt size : {2, 3, 4, 5, 7, 8, 9, 12, 16}) {
    for (const char* kind : {"ilu", "icc"}) {
      SCOPED_TRACE(std::string(kind) + ", blocks of " + std::to_string(size));
      const bool symmetric = std::string(kind) == "icc";
      OwnedMat a;
      PETSC_OK(make_blocks(a.out(), symmetric ? MATSBAIJ : MATBAIJ, {.size = size, .symmetric = symmetric}));
      const std::string ours =
          words({"-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_point_block on -pc_taskdag_type", kind}) +
          OnBackend::option();
      const std::string ksp = symmetric ? "-ksp_type cg " : "-ksp_type gmres ";
      const Solve expected = solve(a, ksp + petsc(kind, 0));
      const Solve result = solve(a, ksp + ours);
      EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
      EXPECT_EQ(result.iterations, expected.iterations);
      EXPECT_TRUE(shows(result, blocks_in_view(size)));
      const OwnedPc mine = make_pc(a, ours);
      const OwnedPc theirs = make_pc(a, petsc(kind, 0));
      EXPECT_LE(difference_of_applications(mine, theirs, a), 1e-11);
      if (symmetric) continue;
      const OwnedVec b = make_vector(a);
      const OwnedVec x = make_vector(a);
      const OwnedVec y = make_vector(a);
      PETSC_OK(PCApplyTranspose(theirs, b, y));
      PETSC_OK(PCApplyTranspose(mine, b, x));
      EXPECT_LE(relative_difference(x, y), 1e-11);
    }
  }
}

TEST_P(PointBlockOn, AreTakenByThemselves) {
  OwnedMat a;
  PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = 3}));
  const Solve result = solve(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_ordering natural " + OnBackend::option());
  EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
  EXPECT_TRUE(shows(result, blocks_in_view(3)));
  EXPECT_TRUE(shows(result, "scalar rows instead", false));
}

// Where an ordering has made blocks of rows, on CUDA the sweeps of point blocks may run by them.
TEST_P(PointBlockOn, OrderingsKeepThem) {
  for (const char* ordering : {"taskdag_bmc", "taskdag_color"}) {
    SCOPED_TRACE(ordering);
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = 3}));
    const std::string method =
        words({"-ksp_type gmres -pc_type taskdag -pc_taskdag_ordering", ordering}) + OnBackend::option();
    const Solve blocks = solve(a, method);
    const Solve rows = solve(a, method + " -pc_taskdag_point_block off");
    EXPECT_EQ(static_cast<int>(blocks.code), 0) << blocks.message;
    EXPECT_TRUE(shows(blocks, blocks_in_view(3)));
    EXPECT_EQ(blocks.iterations, rows.iterations);
  }
}

// A block whose last pivot is 0 has no inverse, whatever is shifted before: not 1e13 times too much that converges.
TEST_P(PointBlockOn, ABlockOfZerosFailsAsPetscsDoes) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const std::string shift = "-ksp_type gmres -pc_factor_shift_type inblocks ";
  for (const Zeros zeros : {Zeros::last, Zeros::all}) {
    for (const PetscInt size : {2, 3, 5, 8, 9}) {
      for (const char* kind : {"ilu", "icc"}) {
        SCOPED_TRACE(std::string(kind) + ", blocks of " + std::to_string(size));
        OwnedMat a;
        const char* type = std::string(kind) == "icc" ? MATSBAIJ : MATBAIJ;
        PETSC_OK(make_blocks(a.out(), type, {.size = size, .symmetric = true, .singular = 11, .zeros = zeros}));
        const Solve theirs = solve(a, shift + "-pc_type " + kind);
        EXPECT_EQ(theirs.reason, KSP_DIVERGED_PC_FAILED);
        EXPECT_EQ(theirs.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
        for (const std::string& ours :
             {std::string("-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_point_block on -pc_taskdag_type "),
              std::string("-pc_factor_mat_solver_type taskdag -pc_type ")}) {
          const Solve result = solve(a, shift + OnBackend::option() + ours + kind);
          EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
          EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED) << ours;
          EXPECT_EQ(result.failed, PC_FACTOR_NUMERIC_ZEROPIVOT) << ours;
        }
      }
    }
  }
}

TEST_P(PointBlockOn, ASingularBlockFails) {
  OwnedMat a;
  PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = 5, .singular = 11}));
  const Solve result =
      solve(a, "-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_point_block on " + OnBackend::option());
  EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
  EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED);
}

// The choice, and what it means for a matrix by rows: padded with zeros it is the same as one of blocks.
TEST(PointBlock, CanBeChosen) {
  OwnedMat baij;
  OwnedMat aij;
  PETSC_OK(make_blocks(baij.out(), MATBAIJ, {.size = 3}));
  PETSC_OK(make_blocks(aij.out(), MATAIJ, {.size = 3}));
  const Solve blocks = solve(baij, kIlu);
  const Solve rows = solve(baij, kIlu + "-pc_taskdag_point_block off");
  EXPECT_TRUE(shows(rows, "point blocks of", false));
  EXPECT_EQ(rows.iterations, blocks.iterations);
  EXPECT_TRUE(shows(solve(aij, kIlu), "point blocks of", false));
  const Solve on = solve(aij, kIlu + "-pc_taskdag_point_block on");
  EXPECT_TRUE(shows(on, blocks_in_view(3)));
  EXPECT_EQ(on.iterations, blocks.iterations);
}

TEST(PointBlock, WhatBlocksDoNotHaveIsLeftToRowsOrRefused) {
  OwnedMat a;
  PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = 3, .symmetric = true}));
  const std::string cg = "-ksp_type cg -pc_type taskdag -pc_taskdag_backend host ";
  struct Case {
    const char* options;
    const char* reason;
  };
  for (const Case& c :
       {Case{"-pc_taskdag_type dic ", "DILU and DIC are of scalar rows"},
        Case{"-pc_taskdag_type ilu -pc_taskdag_precision single ", "single precision is for scalar rows"},
        Case{"-pc_taskdag_type icc -pc_taskdag_schedule plan ", "schedules are chosen for scalar rows"},
        Case{"-pc_taskdag_type icc -pc_taskdag_icc_shift scaled ", "blocks have no shifts but INBLOCKS"},
        Case{"-pc_taskdag_type ilu -pc_factor_shift_type NONZERO ", "blocks have no shifts but INBLOCKS"}}) {
    const Solve left = solve(a, cg + c.options);
    EXPECT_EQ(static_cast<int>(left.code), 0) << left.message;
    EXPECT_GT(left.reason, 0);
    EXPECT_TRUE(shows(left, "scalar rows instead of point blocks: " + std::string(c.reason)));
    const Solve refused = solve(a, cg + c.options + "-pc_taskdag_point_block on ");
    EXPECT_EQ(static_cast<int>(refused.code), PETSC_ERR_SUP);
    EXPECT_NE(refused.message.find("-pc_taskdag_point_block on, but " + std::string(c.reason)), std::string::npos)
        << refused.message;
  }
  const Solve by_default = solve(a, cg + "-pc_taskdag_type icc ");
  EXPECT_TRUE(shows(by_default, "shift: none, as blocks are factored"));
}

TEST(PointBlock, ASingularBlockFailsOrIsShifted) {
  for (const PetscInt size : {2, 3, 8, 9}) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size, .singular = 11}));
    for (const std::string& options : {kIlu, petsc("ilu", 0, true), petsc("ilu", 0)}) {
      const Solve result = solve(a, options);
      EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED) << size << ", " << options;
    }
    EXPECT_EQ(solve(a, kIlu).failed, ranks() == 1 ? PC_FACTOR_NUMERIC_ZEROPIVOT : solve(a, kIlu).failed);
    OwnedMat first;
    PETSC_OK(make_blocks(first.out(), MATBAIJ, {.size = size, .singular = 11, .zeros = Zeros::first}));
    const OwnedPc shifted = make_pc(first, kIlu + "-pc_factor_shift_type INBLOCKS -pc_factor_shift_amount 1 ");
    PCFailedReason reason = PC_NOERROR;
    PETSC_OK(PCGetFailedReason(shifted, &reason));
    EXPECT_EQ(reason, PC_NOERROR);
  }
}

// Their values depend on what uncoupled rows have dropped, see docs/design.md.
TEST(PointBlock, IccWithFillTakesFewerIterationsThanPetscsOfSbaij) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  OwnedMat a;
  PETSC_OK(make_blocks(a.out(), MATSBAIJ, {.size = 3, .symmetric = true, .nx = 12}));
  for (const std::string levels : {"1", "2"}) {
    const Solve ours = solve(a, "-ksp_type cg " + kIcc + "-pc_factor_levels " + levels);
    const Solve theirs = solve(a, "-ksp_type cg -pc_type icc -pc_factor_levels " + levels);
    EXPECT_GT(ours.reason, 0);
    EXPECT_GT(theirs.reason, 0);
    EXPECT_LT(ours.iterations, theirs.iterations);
    std::cout << "ICC(" << levels << "): " << ours.iterations << " iterations, PETSc's " << theirs.iterations << '\n';
  }
}

// Arrays of the matrix are lent without a change of its state, and new values are taken.
TEST(PointBlock, MatricesAreReadOnceForSeveralSolves) {
  for (const char* type : {MATBAIJ, MATSBAIJ, MATAIJ}) {
    for (const std::string& options :
         {kIcc + "-pc_taskdag_point_block on ", petsc("icc", 0, true) + "-sub_pc_taskdag_point_block on "}) {
      SCOPED_TRACE(std::string(type) + ", " + options);
      OwnedMat a;
      PETSC_OK(make_blocks(a.out(), type, {.size = 3, .symmetric = true}));
      const ScopedOptions scope("-ksp_type cg -ksp_rtol 1e-8 " + options);
      OwnedKsp ksp;
      const OwnedVec b = make_vector(a);
      const OwnedVec x = make_vector(a);
      const OwnedVec first = make_vector(a);
      PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
      PETSC_OK(KSPSetOperators(ksp, a, a));
      PETSC_OK(KSPSetFromOptions(ksp));
      PetscObjectState before = 0;
      PetscObjectState after = 0;
      PETSC_OK(PetscObjectStateGet(reinterpret_cast<PetscObject>(static_cast<Mat>(a)), &before));
      const int numeric = event_count("TaskDAGNumeric");
      for (int k = 0; k < 3; ++k) PETSC_OK(KSPSolve(ksp, b, x));
      PETSC_OK(VecCopy(x, first));
      EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 1);
      PETSC_OK(PetscObjectStateGet(reinterpret_cast<PetscObject>(static_cast<Mat>(a)), &after));
      EXPECT_EQ(after, before);
      PETSC_OK(MatScale(a, 2.0));
      PETSC_OK(KSPSolve(ksp, b, x));
      EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 2);
      PETSC_OK(VecScale(x, 2.0));
      EXPECT_LE(relative_difference(x, first), 1e-7);
    }
  }
}

}  // namespace
}  // namespace taskdag::test
