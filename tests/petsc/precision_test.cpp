// -pc_taskdag_precision: iterations, options, what -ksp_view says, what does not fit.
#include <algorithm>
#include <iostream>

#include "support.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::test {
namespace {

class PrecisionOfFactors : public OnBackend {};

const std::string kSingle = " -pc_taskdag_precision single ";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The view is the first rank's to print.
bool view_has(const Solve& result, const std::string& part) { return rank() > 0 || has(result.view, part); }

CsrMatrix grid(double wind) {
  return make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11, .wind = wind});
}

/// Two rows, the first ones, that are coupled with nothing else.
CsrMatrix with_pair(double first, double beside, double second) {
  CsrMatrix a;
  a.rows = a.cols = 24;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = std::max(i - 1, 0); j <= std::min(i + 1, a.cols - 1); ++j) {
      if ((i < 2) != (j < 2)) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i >= 2 ? (i == j ? 4.0 : -1.0) : i != j ? beside : i == 0 ? first : second);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

/// How far the count in double moves by rounding alone: after some hundred iterations it does.
PetscInt width_of_counts(const CsrMatrix& matrix, const std::string& options, PetscInt count) {
  PetscInt least = count;
  PetscInt most = count;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const OwnedMat a = make_matrix(nudged(matrix, seed));
    const PetscInt other = solve(a, options).iterations;
    least = std::min(least, other);
    most = std::max(most, other);
  }
  return most - least;
}

/// Within 2 % or 1 of the count in double, where rounding in double does not move that as much. @returns whether that
/// converges, so that counts say something
bool compare(const CsrMatrix& matrix, const std::string& type, const std::string& ksp) {
  SCOPED_TRACE(type + ", " + ksp);
  const OwnedMat a = make_matrix(matrix);
  const std::string options =
      "-ksp_max_it 1000 -ksp_type " + ksp + " -pc_type taskdag -pc_taskdag_type " + type + " " + OnBackend::option();
  const Solve in_double = solve(a, options);
  if (in_double.reason <= 0) return false;
  const Solve single = solve(a, options + kSingle);
  EXPECT_EQ(static_cast<int>(single.code), 0) << single.message;
  EXPECT_GT(single.reason, 0);
  const PetscInt most = std::max(in_double.iterations + 1, in_double.iterations * 102 / 100);
  if (single.iterations > most) {
    const PetscInt width = width_of_counts(matrix, options, in_double.iterations);
    std::cout << type << ": " << single.iterations << " iterations, in double " << in_double.iterations
              << ", which rounding moves by " << width << '\n';
    EXPECT_LE(single.iterations, in_double.iterations + 2 * width);
  }
  EXPECT_FALSE(has(in_double.view, "precision of the factor"));
  EXPECT_TRUE(view_has(single, "precision of the factor: ")) << single.view;
  return true;
}

int compare_all(const CsrMatrix& matrix) {
  int compared = 0;
  const bool symmetric = is_symmetric(matrix);
  for (const char* const type : {"ilu", "dilu"}) compared += compare(matrix, type, "gmres") ? 1 : 0;
  if (!symmetric) return compared;
  for (const char* const type : {"icc", "dic"}) compared += compare(matrix, type, "cg") ? 1 : 0;
  return compared;
}

TEST_P(PrecisionOfFactors, IterationsStayWithinTwoPercent) {
  EXPECT_EQ(compare_all(grid(0.0)), 4);
  EXPECT_EQ(compare_all(grid(1.5)), 2);
  // On several ranks, which may share a processor, some of them.
  std::vector<const char*> names = {"jpwh_991", "orsreg_1", "sherman1"};
  if (ranks() == 1) names.insert(names.end(), {"add32", "bcsstk16", "steam2", "ex6", "adder_dcop_05"});
  int compared = 0;
  for (const char* name : names) {
    SCOPED_TRACE(name);
    compared += compare_all(load(name));
  }
  EXPECT_GE(compared, 5);
}

TEST_P(PrecisionOfFactors, IterationsOnManyMatrices) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  // On host threads what is right does not depend on the size, and large ones take minutes.
  const Offset most_entries = backend() == Backend::cuda ? 1000000 : 300000;
  const std::vector<std::string> paths = listed_matrices();
  if (paths.empty()) GTEST_SKIP() << "TASKDAG_MATRIX_DIR is not set: no matrices to test with";
  int compared = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const CsrMatrix matrix = read_matrix_market(path);
    if (matrix.rows != matrix.cols || matrix.entries() > most_entries) continue;
    compared += compare_all(matrix);
  }
  std::cout << compared << " comparisons\n";
  if (compared == 0) GTEST_SKIP() << "no matrix of TASKDAG_MATRIX_DIR is small enough and has such a factor";
}

TEST_P(PrecisionOfFactors, ViewSaysPrecisionAndBytes) {
  const OwnedMat a = make_matrix(grid(1.5));
  const std::string ours = "-pc_type taskdag " + option();
  const Solve single = solve(a, ours + kSingle);
  EXPECT_TRUE(view_has(single, "precision of the factor: single")) << single.view;
  EXPECT_TRUE(view_has(single, "values that an application reads: ")) << single.view;
  EXPECT_TRUE(view_has(single, "MB in double")) << single.view;
  const Solve chosen = solve(a, ours + "-pc_taskdag_precision auto");
  EXPECT_TRUE(view_has(chosen, "precision of the factor: double (auto)")) << chosen.view;
}

TEST_P(PrecisionOfFactors, PackageTakesTheOption) {
  const OwnedMat a = make_matrix(grid(1.5));
  const std::string prefix = ranks() == 1 ? "-" : "-sub_";
  const std::string outer = ranks() == 1 ? "" : "-pc_type bjacobi ";
  std::string backend = option();
  backend.replace(0, 1, prefix);
  const std::string package = outer + prefix + "pc_type ilu " + prefix + "pc_factor_mat_solver_type taskdag " + backend;
  const Solve in_double = solve(a, package);
  const Solve single = solve(a, package + prefix + "pc_taskdag_precision single");
  ASSERT_EQ(static_cast<int>(single.code), 0) << single.message;
  EXPECT_GT(single.reason, 0);
  EXPECT_LE(std::abs(single.iterations - in_double.iterations), 1);
  EXPECT_TRUE(view_has(single, "precision of the factor: single")) << single.view;
  EXPECT_FALSE(has(in_double.view, "precision of the factor")) << in_double.view;
}

TEST_P(PrecisionOfFactors, ApplicationsDifferByRoundingAlone) {
  for (const std::string type : {"ilu", "icc", "dilu", "dic"}) {
    SCOPED_TRACE(type);
    const CsrMatrix matrix = grid(type == "ilu" || type == "dilu" ? 1.5 : 0.0);
    const OwnedMat a = make_matrix(matrix);
    const std::string ours = "-pc_type taskdag " + option() + "-pc_taskdag_type " + type + " ";
    const OwnedPc in_double = make_pc(a, ours);
    const OwnedPc single = make_pc(a, ours + kSingle);
    const double apart = difference_of_applications(single, in_double, a);
    EXPECT_LT(apart, 1e-5);
    EXPECT_GT(apart, 1e-12);
  }
}

TEST_P(PrecisionOfFactors, SetterAndNewValues) {
  const CsrMatrix matrix = grid(1.5);
  const OwnedMat a = make_matrix(matrix);
  const OwnedPc pc = make_pc(a, "-pc_type taskdag " + option());
  const char* precision = nullptr;
  PETSC_OK(PCTaskDAGGetPrecision(pc, &precision));
  EXPECT_STREQ(precision, "double");
  PETSC_OK(PCTaskDAGSetPrecision(pc, "single"));
  PETSC_OK(PCTaskDAGGetPrecision(pc, &precision));
  EXPECT_STREQ(precision, "single");
  PETSC_OK(PCSetUp(pc));
  const std::string ours = "-pc_type taskdag " + option() + kSingle;
  const OwnedPc fresh = make_pc(a, ours);
  EXPECT_EQ(difference_of_applications(pc, fresh, a), 0.0);
  PETSC_OK(MatScale(a, 0.3));
  PETSC_OK(MatShift(a, 0.7));
  PETSC_OK(PCSetUp(pc));
  const OwnedPc again = make_pc(a, ours);
  EXPECT_EQ(difference_of_applications(pc, again, a), 0.0);
}

TEST_P(PrecisionOfFactors, WhatDoesNotFitIsStoredInDoubleAndSaid) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const std::string type : {"ilu", "icc"}) {
    SCOPED_TRACE(type);
    const OwnedMat a = make_matrix(with_pair(1e-5, 1e36, 1e80));
    // Where no precision is named, so few rows begin with one thread block, which adds up in another order.
    const std::string ours = "-pc_type taskdag " + option() + "-pc_factor_zeropivot 0 -pc_factor_shift_type none " +
                             "-pc_taskdag_one_block_rows 0 -pc_taskdag_type " + type + " ";
    const Solve single = solve(a, "-ksp_max_it 3 -ksp_type preonly " + ours + kSingle);
    ASSERT_EQ(static_cast<int>(single.code), 0) << single.message;
    EXPECT_TRUE(view_has(single,
                         "precision of the factor: double, since an entry is too large for single precision, "
                         "in row 0 of the factor"))
        << single.view;
    EXPECT_EQ(difference_of_applications(make_pc(a, ours + kSingle), make_pc(a, ours), a), 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(On, PrecisionOfFactors, testing::ValuesIn(backends()), name_of_backend);

}  // namespace
}  // namespace taskdag::test
