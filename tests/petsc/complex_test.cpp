/// \file
/// PETSc with complex scalars: preconditioners and factorisations against PETSc's own, with the same options on.
#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <string>
#include <vector>

#include "complex_matrices.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

class Complex : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, Complex, testing::ValuesIn(backends()), name_of_backend);

/// In the natural order, unless the options name one.
std::string own_pc(const std::string& type, const std::string& options = "") {
  const bool ordered = (type + options).find("_ordering") != std::string::npos;
  return "-pc_type taskdag " + OnBackend::option() + (ordered ? "" : "-pc_taskdag_ordering natural ") +
         "-pc_taskdag_type " + type + " " + options + " ";
}
/// Behind options of a factorisation.
std::string package() { return " -pc_factor_mat_solver_type taskdag " + OnBackend::option(); }

/// A preconditioner of PETSc's on each rank's own rows; on one rank the same.
std::string on_blocks(const std::string& type, const std::string& options = "") {
  std::string text = "-pc_type bjacobi -sub_pc_type " + type + " ";
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    const std::string word = options.substr(at, end - at);
    const bool name = word.size() > 1 && word[0] == '-' && word[1] >= 'a';
    text += (name ? "-sub_" + word.substr(1) : word) + " ";
    at = end + 1;
  }
  return text;
}

void expect_same(const Solve& ours, const Solve& theirs) {
  EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(static_cast<int>(theirs.code), 0) << theirs.message;
  EXPECT_EQ(ours.iterations, theirs.iterations);
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_EQ(ours.failed, theirs.failed);
}

/// Transposed or not, of a vector with complex elements.
template <class Apply>
double difference_of(PC ours, PC theirs, Mat a, const Apply& apply) {
  const OwnedVec b = make_complex_vector(a);
  const OwnedVec x = make_complex_vector(a);
  const OwnedVec y = make_complex_vector(a);
  EXPECT_EQ(static_cast<int>(apply(ours, b, x)), 0);
  EXPECT_EQ(static_cast<int>(apply(theirs, b, y)), 0);
  return relative_difference(x, y);
}

struct Named {
  std::string name;
  OwnedMat a;
  bool symmetric = false;
};

std::vector<Named> matrices() {
  std::vector<Named> all;
  std::vector<std::string> files = {"orsreg_1", "sherman1"};
  if (ranks() == 1) files.insert(files.end(), {"add32", "jpwh_991", "steam2"});
  for (const std::string& file : files) {
    all.push_back({file + ", general", make_complex(load(file), Nature::general)});
    const bool symmetric = is_symmetric(load(file));
    if (!symmetric) continue;
    all.push_back({file + ", symmetric", make_complex(load(file), Nature::symmetric), true});
    all.push_back({file + ", hermitian", make_complex(load(file), Nature::hermitian), true});
  }
  all.push_back({"helmholtz", make_helmholtz(12, {0.5, 0.3}), true});
  return all;
}

TEST_P(Complex, IluIsPetscs) {
  for (const Named& one : matrices()) {
    for (const std::string options :
         {"-pc_factor_levels 0", "-pc_factor_levels 1", "-pc_factor_levels 2", "-pc_factor_mat_ordering_type rcm",
          "-pc_factor_levels 1 -pc_factor_mat_ordering_type nd"}) {
      SCOPED_TRACE(one.name + " " + options);
      const std::string gmres = "-ksp_type gmres ";
      const Solve theirs = solve(one.a, gmres + on_blocks("ilu", options));
      EXPECT_GT(theirs.reason, 0);
      expect_same(solve(one.a, gmres + on_blocks("ilu", options + package())), theirs);
      expect_same(solve(one.a, gmres + own_pc("ilu", options)), theirs);
      const OwnedPc mine = make_pc(one.a, own_pc("ilu", options));
      const OwnedPc petscs = make_pc(one.a, on_blocks("ilu", options));
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApply), 1e-11);
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApplyTranspose), 1e-11);
    }
  }
}

// PETSc's ICC is that of a complex symmetric matrix: Uᵀ is not conjugated, whatever the matrix is.
TEST_P(Complex, IccIsPetscs) {
  int converged = 0;
  for (const Named& one : matrices()) {
    if (!one.symmetric) continue;
    for (const std::string options :
         {"-pc_factor_levels 0", "-pc_factor_levels 1", "-pc_factor_levels 0 -pc_factor_mat_ordering_type rcm"}) {
      SCOPED_TRACE(one.name + " " + options);
      // PETSc's CG gives up where a product has a real part that is not above 0.
      const std::string ksp = "-ksp_type gmres -ksp_max_it 200 ";
      const Solve theirs = solve(one.a, ksp + on_blocks("icc", options));
      converged += theirs.reason > 0 ? 1 : 0;
      expect_same(solve(one.a, ksp + on_blocks("icc", options + package())), theirs);
      expect_same(solve(one.a, ksp + own_pc("icc", options)), theirs);
      const OwnedPc mine = make_pc(one.a, own_pc("icc", options));
      const OwnedPc petscs = make_pc(one.a, on_blocks("icc", options));
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApply), 1e-11);
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApplyTranspose), 1e-11);
    }
  }
  EXPECT_GE(converged, 6);
}

TEST_P(Complex, SorIsPetscs) {
  for (const Named& one : matrices()) {
    for (const std::string options : {"", "-pc_sor_omega 1.2", "-pc_sor_its 2 -pc_sor_lits 2", "-pc_sor_local_forward",
                                      "-pc_sor_local_backward", "-pc_sor_omega 0.9 -pc_sor_diagonal_shift 0.1"}) {
      SCOPED_TRACE(one.name + " " + options);
      const std::string ksp = "-ksp_type gmres -ksp_max_it 100 ";
      expect_same(solve(one.a, ksp + own_pc("sor", options)), solve(one.a, ksp + "-pc_type sor " + options));
      const OwnedPc mine = make_pc(one.a, own_pc("sor", options));
      const OwnedPc petscs = make_pc(one.a, "-pc_type sor " + options);
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApply), 1e-11);
    }
    SCOPED_TRACE(one.name);
    const std::string richardson = "-ksp_type richardson -ksp_max_it 60 ";
    expect_same(solve(one.a, richardson + own_pc("sor")), solve(one.a, richardson + "-pc_type sor"));
  }
}

TEST_P(Complex, JacobiIsPetscs) {
  for (const Named& one : matrices()) {
    for (const std::string options : {"", "-pc_jacobi_type rowmax", "-pc_jacobi_type rowsum", "-pc_jacobi_abs"}) {
      SCOPED_TRACE(one.name + " " + options);
      const std::string ksp = "-ksp_type gmres -ksp_max_it 50 ";
      expect_same(solve(one.a, ksp + own_pc("jacobi", options)), solve(one.a, ksp + "-pc_type jacobi " + options));
      const OwnedPc mine = make_pc(one.a, own_pc("jacobi", options));
      const OwnedPc petscs = make_pc(one.a, "-pc_type jacobi " + options);
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApply), 1e-12);
      EXPECT_LE(difference_of(mine, petscs, one.a, PCApplyTranspose), 1e-12);
    }
  }
}

TEST_P(Complex, JacobiReplacesZerosAsPetscs) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  PetscInt first = 0;
  PetscInt last = 0;
  PETSC_OK(MatGetOwnershipRange(a, &first, &last));
  PETSC_OK(MatSetValue(a, first, first, 0.0, INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  const OwnedPc mine = make_pc(a, own_pc("jacobi"));
  const OwnedPc petscs = make_pc(a, "-pc_type jacobi");
  EXPECT_LE(difference_of(mine, petscs, a, PCApply), 1e-14);
}

// x₂ = x₁ + ω D⁻¹ (b − A x₁): what Richardson's iteration with PETSc's Jacobi gives after two iterations.
TEST_P(Complex, SeveralJacobiSweepsAreThoseOfRichardson) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const OwnedPc mine = make_pc(a, own_pc("jacobi", "-pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_damping 0.8"));
  const ScopedOptions scope(
      "-ksp_type richardson -ksp_richardson_scale 0.8 -ksp_max_it 2 -ksp_norm_type none -pc_type jacobi");
  OwnedKsp ksp;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  const OwnedVec b = make_complex_vector(a);
  const OwnedVec x = make_complex_vector(a);
  const OwnedVec y = make_complex_vector(a);
  PETSC_OK(PCApply(mine, b, x));
  PETSC_OK(KSPSolve(ksp, b, y));
  EXPECT_LE(relative_difference(x, y), 1e-13);
}

TEST_P(Complex, BlocksArePetscs) {
  const CsrMatrix grid = make_stencil({.nx = 9, .ny = 9});
  for (const PetscInt size : {2, 3, 5, 16}) {
    SCOPED_TRACE("blocks of " + std::to_string(size));
    const OwnedMat a = make_complex(grid, Nature::general, MATBAIJ, size);
    const std::string gmres = "-ksp_type gmres ";
    for (const std::string levels : {"-pc_factor_levels 0", "-pc_factor_levels 1"}) {
      expect_same(solve(a, gmres + on_blocks("ilu", levels + package())), solve(a, gmres + on_blocks("ilu", levels)));
      const OwnedPc mine = make_pc(a, own_pc("ilu", levels));
      const OwnedPc petscs = make_pc(a, on_blocks("ilu", levels));
      EXPECT_LE(difference_of(mine, petscs, a, PCApply), 1e-11);
      EXPECT_LE(difference_of(mine, petscs, a, PCApplyTranspose), 1e-11);
    }
    expect_same(solve(a, gmres + own_pc("sor")), solve(a, gmres + "-pc_type sor"));
    expect_same(solve(a, gmres + own_pc("jacobi", "-pc_taskdag_jacobi_type block")),
                solve(a, gmres + "-pc_type pbjacobi"));
    const OwnedMat upper = make_complex(grid, Nature::symmetric, MATSBAIJ, size);
    const Solve theirs = solve(upper, gmres + on_blocks("icc"));
    EXPECT_GT(theirs.reason, 0);
    expect_same(solve(upper, gmres + on_blocks("icc", package())), theirs);
    expect_same(solve(upper, gmres + own_pc("icc")), theirs);
  }
}

TEST_P(Complex, SeveralColumnsArePetscs) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  for (const std::string type : {"ilu", "sor", "jacobi"}) {
    SCOPED_TRACE(type);
    const OwnedPc mine = make_pc(a, own_pc(type));
    const OwnedPc petscs = make_pc(a, type == "ilu" ? on_blocks(type) : "-pc_type " + type);
    EXPECT_LE(difference_of_columns(mine, petscs, a), 1e-11);
  }
}

// BiCG applies the preconditioner transposed and, with conjugates around it, as the Hermitian transpose.
TEST_P(Complex, BicgHasPetscsIterations) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  expect_same(solve(a, "-ksp_type bicg " + own_pc("ilu")), solve(a, "-ksp_type bicg " + on_blocks("ilu")));
  expect_same(solve(a, "-ksp_type bicg " + own_pc("jacobi")), solve(a, "-ksp_type bicg -pc_type jacobi"));
}

// Elimination meets 0, then a pivot that is real, negative or small.
OwnedMat with_bad_pivots(std::complex<double> first) {
  OwnedMat a;
  constexpr PetscInt n = 12;
  EXPECT_EQ(static_cast<int>(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, nullptr, a.out())), 0);
  const std::complex<double> i(0.0, 1.0);
  for (PetscInt row = 0; row < n; ++row) {
    const PetscScalar diagonal = row == 0 ? PetscScalar(first) : row == 4 ? PetscScalar(-i) : PetscScalar(2.0 + i);
    EXPECT_EQ(static_cast<int>(MatSetValue(a, row, row, diagonal, INSERT_VALUES)), 0);
    if (row > 0) {
      EXPECT_EQ(static_cast<int>(MatSetValue(a, row, row - 1, -i, INSERT_VALUES)), 0);
    }
    if (row > 0) {
      EXPECT_EQ(static_cast<int>(MatSetValue(a, row - 1, row, -i, INSERT_VALUES)), 0);
    }
  }
  EXPECT_EQ(static_cast<int>(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), 0);
  EXPECT_EQ(static_cast<int>(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY)), 0);
  return a;
}

TEST_P(Complex, PivotsAndShiftsArePetscs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  for (const std::complex<double> first :
       {std::complex<double>(0.0), {0.0, 1e-15}, {1e-8, 1e-8}, {-1.0, 0.5}, {1.0, 0.0}}) {
    const OwnedMat a = with_bad_pivots(first);
    for (const std::string kind : {"ilu", "icc"}) {
      for (const std::string shift : {"none", "nonzero", "positive_definite", "inblocks"}) {
        for (const std::string tolerance : {"", "-pc_factor_zeropivot 1e-6 "}) {
          const std::string options = "-pc_factor_shift_type " + shift + " " + tolerance;
          SCOPED_TRACE(kind + " " + options + std::to_string(first.real()) + " " + std::to_string(first.imag()));
          const Solve theirs = solve(a, "-ksp_type gmres -mat_no_inode -pc_type " + kind + " " + options);
          const Solve ours = solve(a, "-ksp_type gmres " + own_pc(kind, options));
          expect_same(ours, theirs);
          expect_same(solve(a, "-ksp_type gmres -pc_type " + kind + " " + options + package()), theirs);
          // A pivot near 0 leaves no digits to compare.
          if (theirs.failed != PC_NOERROR || std::abs(first) < 1e-12) continue;
          const OwnedPc mine = make_pc(a, own_pc(kind, options));
          const OwnedPc petscs = make_pc(a, "-pc_type " + kind + " " + options);
          EXPECT_LE(difference_of(mine, petscs, a, PCApply), 1e-7);
        }
      }
    }
  }
}

TEST_P(Complex, ZeroPivotsHavePetscsRowAndValue) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const OwnedMat a = with_bad_pivots({0.0, 1e-15});
  PetscReal values[2] = {};
  PetscInt rows[2] = {};
  for (const int ours : {0, 1}) {
    Mat factor = nullptr;
    const OwnedPc pc = make_pc(a, "-pc_type ilu " + (ours != 0 ? package() : ""));
    PETSC_OK(PCFactorGetMatrix(pc, &factor));
    PETSC_OK(MatFactorGetErrorZeroPivot(factor, values + ours, rows + ours));
  }
  EXPECT_EQ(rows[1], rows[0]);
  EXPECT_NEAR(values[1], values[0], 1e-25);
}

TEST_P(Complex, NumbersThatAreNotFiniteEndSolvesAsPetscs) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  PetscInt first = 0;
  PetscInt last = 0;
  PETSC_OK(MatGetOwnershipRange(a, &first, &last));
  PETSC_OK(MatSetValue(a, first + 3, first + 3, PetscScalar(0.0, NAN), INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  for (const std::string type : {"ilu", "sor", "jacobi"}) {
    SCOPED_TRACE(type);
    const Solve theirs = solve(a, "-ksp_type gmres " + (type == "ilu" ? on_blocks(type) : "-pc_type " + type));
    const Solve ours = solve(a, "-ksp_type gmres " + own_pc(type));
    EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_EQ(ours.reason, theirs.reason);
  }
}

TEST_P(Complex, NewValuesAreTaken) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  const OwnedPc mine = make_pc(a, own_pc("ilu"));
  PETSC_OK(MatScale(a, PetscScalar(0.5, -2.0)));
  PETSC_OK(PCSetUp(mine));
  const OwnedPc petscs = make_pc(a, on_blocks("ilu"));
  EXPECT_LE(difference_of(mine, petscs, a, PCApply), 1e-12);
}

TEST_P(Complex, OrderingsAreThoseOfTheComplexGraph) {
  const OwnedMat a = make_helmholtz(8, {0.5, 0.3});
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  for (const std::string order : {"taskdag_rcm", "taskdag_color", "taskdag_bmc"}) {
    SCOPED_TRACE(order);
    const Solve theirs = solve(a, "-ksp_type gmres -pc_type ilu -pc_factor_mat_ordering_type " + order);
    const Solve ours = solve(a, "-ksp_type gmres " + own_pc("ilu", "-pc_taskdag_ordering " + order));
    EXPECT_GT(theirs.reason, 0);
    expect_same(ours, theirs);
  }
}

TEST_P(Complex, GatheredBlocksAreThoseOfTheWholeMatrix) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  const Solve whole = solve(a, "-ksp_type gmres -pc_type redundant -redundant_ksp_type preonly -redundant_pc_type ilu");
  expect_same(solve(a, "-ksp_type gmres -pc_taskdag_consolidate on " + own_pc("ilu")), whole);
}

TEST_P(Complex, TheLoopIsOurs) {
  // Ranks of these tests share a GPU, where PETSc's loop stays.
  SKIP_UNLESS_RANKS(ranks() == 1 || backend() == Backend::host, "1 rank");
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  for (const std::string type : {"gmres", "taskdag_gmres", "bcgs"}) {
    const Solve result = solve(a, "-taskdag_ksp on -ksp_type " + type + " " + own_pc("ilu"));
    EXPECT_GT(result.reason, 0);
    if (rank() == 0) {
      EXPECT_NE(result.view.find("loop: by TaskDAG"), std::string::npos);
    }
  }
}

TEST_P(Complex, MultigridIsPetscsWithItsIterations) {
  const OwnedMat a = make_helmholtz(10, {0.05, 0.2});
  const std::string options = "-ksp_type gmres -mg_levels_ksp_type richardson -mg_levels_pc_type ";
  const std::string mg_backend = "-mg_levels_" + OnBackend::option().substr(1);
  const Solve theirs = solve(a, options + "sor -pc_type gamg");
  EXPECT_GT(theirs.reason, 0);
  const Solve ours =
      solve(a, options + "taskdag -mg_levels_pc_taskdag_type sor " + mg_backend + "-taskdag_mg -pc_type gamg");
  expect_same(ours, theirs);
  if (rank() == 0) {
    EXPECT_NE(ours.view.find("cycle: by PETSc, not TaskDAG: its numbers are complex"), std::string::npos);
  }
}

// On a grid of 7 points elimination changes the diagonal alone.
TEST_P(Complex, DiluAndDicOfAGridAreIluAndIcc) {
  const OwnedMat a = make_helmholtz(10, {0.5, 0.3});
  expect_same(solve(a, "-ksp_type gmres " + own_pc("dilu")), solve(a, "-ksp_type gmres " + on_blocks("ilu")));
  expect_same(solve(a, "-ksp_type gmres " + own_pc("dic")), solve(a, "-ksp_type gmres " + on_blocks("icc")));
}

TEST_P(Complex, WithoutATypeItIsIlu) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  const Solve result = solve(a, "-ksp_type gmres -pc_type taskdag " + OnBackend::option());
  expect_same(result, solve(a, "-ksp_type gmres " + own_pc("ilu")));
}

// What complex numbers do not have is refused in words.
TEST_P(Complex, WhatIsMissingIsSaid) {
  const OwnedMat a = make_complex(load("orsreg_1"), Nature::general);
  for (const std::string options :
       {"auto", "mg", "ilu -pc_taskdag_across on", "sor -pc_taskdag_eisenstat", "ilu -pc_taskdag_precision single",
        "icc -pc_taskdag_icc_shift scaled", "jacobi -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_type rowmax"}) {
    SCOPED_TRACE(options);
    const Solve result = solve(a, "-ksp_type gmres " + own_pc(options));
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_SUP);
    EXPECT_NE(result.message.find("for complex numbers"), std::string::npos) << result.message;
  }
  const Solve halves = solve(a, "-ksp_type cg -ksp_pc_side symmetric " + own_pc("icc"));
  EXPECT_NE(static_cast<int>(halves.code), 0);
  const Solve schedule = solve(a, "-ksp_type gmres -pc_taskdag_schedule engine " + own_pc("ilu"));
  EXPECT_EQ(static_cast<int>(schedule.code), PETSC_ERR_SUP) << schedule.message;
}

// PETSc has no factorisation for a matrix that is known to be Hermitian and not symmetric.
TEST_P(Complex, HermitianIccIsRefusedAsPetscsIs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");  // of several ranks' blocks PETSc does not know it
  const OwnedMat a = make_complex(load("sherman1"), Nature::hermitian);
  PETSC_OK(MatSetOption(a, MAT_HERMITIAN, PETSC_TRUE));
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_FALSE));
#if PETSC_VERSION_LT(3, 26, 0)  // newer ones take another package then
  EXPECT_NE(static_cast<int>(solve(a, "-ksp_type cg " + on_blocks("icc")).code), 0);
#endif
  EXPECT_NE(static_cast<int>(solve(a, "-ksp_type cg " + on_blocks("icc", package())).code), 0);
  EXPECT_NE(static_cast<int>(solve(a, "-ksp_type cg " + own_pc("icc")).code), 0);
}

}  // namespace
}  // namespace taskdag::test
