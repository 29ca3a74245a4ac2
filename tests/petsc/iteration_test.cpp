// The plugin's preconditioners give the iteration counts of PETSc's own ones.
#include "support.hpp"

namespace taskdag::test {
namespace {

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7}); }

CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 23, .ny = 17, .nz = 1, .wind = 1.5});
}

CsrMatrix blocks_of_two() {
  return make_stencil(
      {.stencil = Stencil::five_point, .nx = 12, .ny = 11, .nz = 1, .unknowns_per_node = 2, .wind = 0.5});
}

enum class Problem { poisson, convection, blocks_of_two, orsreg_1, jpwh_991, steam2, add32, bcsstk16 };

CsrMatrix matrix_of(Problem problem) {
  switch (problem) {
    case Problem::poisson:
      return poisson();
    case Problem::convection:
      return convection();
    case Problem::blocks_of_two:
      return blocks_of_two();
    case Problem::orsreg_1:
      return load("orsreg_1");
    case Problem::jpwh_991:
      return load("jpwh_991");
    case Problem::steam2:
      return load("steam2");
    case Problem::add32:
      return load("add32");
    case Problem::bcsstk16:
      return load("bcsstk16");
  }
  return {};
}

struct Case {
  const char* name;
  Problem problem;
  const char* ksp;
  const char* type;    // of -pc_taskdag_type, and PETSc's PC of the same name
  const char* factor;  // options after the prefix "-[sub_]pc_factor_"
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

// PETSc factors a parallel matrix inside bjacobi only; its options then carry the prefix sub_.
std::string with_prefix(const std::string& prefix, const std::string& factor) {
  return factor.empty() ? std::string() : " -" + prefix + "pc_factor_" + factor;
}

std::string petsc_options(const Case& c) {
  const std::string ksp = std::string("-ksp_type ") + c.ksp;
  if (std::string(c.type) == "jacobi") return ksp + " -pc_type jacobi";
  if (ranks() == 1) return ksp + " -pc_type " + c.type + with_prefix("", c.factor);
  return ksp + " -pc_type bjacobi -sub_pc_type " + c.type + with_prefix("sub_", c.factor);
}

std::string taskdag_options(const Case& c) {
  return std::string("-pc_taskdag_backend host -ksp_type ") + c.ksp + " -pc_type taskdag -pc_taskdag_type " + c.type +
         with_prefix("", c.factor);
}

class SameIterations : public testing::TestWithParam<Case> {};

TEST_P(SameIterations, AsPetsc) {
  const Case& c = GetParam();
  const OwnedMat a = make_matrix(matrix_of(c.problem));
  const Solve theirs = solve(a, petsc_options(c));
  const Solve ours = solve(a, taskdag_options(c));
  ASSERT_EQ(static_cast<int>(theirs.code), 0) << theirs.message;
  ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_GT(theirs.reason, 0) << "the case shows nothing unless it converges";
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_EQ(ours.iterations, theirs.iterations);
  EXPECT_NEAR(ours.residual, theirs.residual, 1e-2 * theirs.residual);
}

INSTANTIATE_TEST_SUITE_P(
    Plugin, SameIterations,
    testing::Values(
        Case{"poisson_cg_icc", Problem::poisson, "cg", "icc", ""},
        Case{"poisson_cg_ilu", Problem::poisson, "cg", "ilu", ""},
        Case{"poisson_cg_jacobi", Problem::poisson, "cg", "jacobi", ""},
        Case{"poisson_cg_icc_rcm", Problem::poisson, "cg", "icc", "mat_ordering_type rcm"},
        Case{"poisson_cg_icc_taskdag_rcm", Problem::poisson, "cg", "icc", "mat_ordering_type taskdag_rcm"},
        Case{"convection_gmres_ilu", Problem::convection, "gmres", "ilu", ""},
        Case{"convection_bcgs_ilu", Problem::convection, "bcgs", "ilu", ""},
        Case{"convection_gmres_jacobi", Problem::convection, "gmres", "jacobi", ""},
        Case{"convection_gmres_ilu_rcm", Problem::convection, "gmres", "ilu", "mat_ordering_type rcm"},
        Case{"convection_gmres_ilu_nd", Problem::convection, "gmres", "ilu", "mat_ordering_type nd"},
        Case{"convection_bcgs_ilu_taskdag_rcm", Problem::convection, "bcgs", "ilu", "mat_ordering_type taskdag_rcm"},
        Case{"blocks_gmres_ilu", Problem::blocks_of_two, "gmres", "ilu", ""},
        Case{"blocks_gmres_ilu_taskdag_rcm", Problem::blocks_of_two, "gmres", "ilu", "mat_ordering_type taskdag_rcm"},
        Case{"orsreg_1_gmres_ilu", Problem::orsreg_1, "gmres", "ilu", ""},
        Case{"orsreg_1_gmres_ilu_rcm", Problem::orsreg_1, "gmres", "ilu", "mat_ordering_type rcm"},
        Case{"jpwh_991_gmres_ilu", Problem::jpwh_991, "gmres", "ilu", ""},
        Case{"jpwh_991_gmres_ilu_nonzero", Problem::jpwh_991, "gmres", "ilu", "shift_type nonzero"},
        Case{"steam2_gmres_ilu_inblocks", Problem::steam2, "gmres", "ilu", "shift_type inblocks"},
        Case{"add32_gmres_ilu", Problem::add32, "gmres", "ilu", ""},
        Case{"bcsstk16_cg_icc", Problem::bcsstk16, "cg", "icc", ""},
        Case{"bcsstk16_cg_icc_rcm", Problem::bcsstk16, "cg", "icc", "mat_ordering_type rcm"},
        Case{"bcsstk16_cg_jacobi", Problem::bcsstk16, "cg", "jacobi", ""}),
    [](const auto& test) { return std::string(test.param.name); });

/// Whether this PETSc has the type; older ones lack rowl1.
bool petsc_has_jacobi(const std::string& type) {
  for (int k = 0; PCJacobiTypes[k + 2]; ++k) {
    PetscBool same = PETSC_FALSE;
    EXPECT_EQ(static_cast<int>(PetscStrcasecmp(PCJacobiTypes[k], type.c_str(), &same)), 0);
    if (same) return true;
  }
  return false;
}

// On several ranks, too: whole rows count.
TEST(Jacobi, TypesAndAbsoluteValuesAreThoseOfPetsc) {
  for (const MatType format : {MATAIJ, MATBAIJ}) {
    OwnedMat a = make_matrix(load("jpwh_991"));
    PETSC_OK(MatConvert(a, format, MAT_INPLACE_MATRIX, a.out()));
    const std::string ours = "-ksp_max_it 40 -pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host ";
    for (const std::string type : {"rowmax", "rowsum", "rowl1", "diagonal"}) {
      if (!petsc_has_jacobi(type)) continue;
      for (const std::string absolute : {"", "abs"}) {
        if (type == "rowl1" && !absolute.empty())
          continue;  // PETSc refuses them together: diagonal entries are negative
        const Solve result =
            solve(a, ours + "-pc_taskdag_jacobi_type " + type + (absolute.empty() ? "" : " -pc_taskdag_jacobi_abs"));
        const Solve petscs = solve(
            a, "-ksp_max_it 40 -pc_type jacobi -pc_jacobi_type " + type + (absolute.empty() ? "" : " -pc_jacobi_abs"));
        SCOPED_TRACE(std::string(format) + ", " + type + " " + absolute);
        EXPECT_EQ(static_cast<int>(petscs.code), 0) << petscs.message;
        EXPECT_EQ(result.iterations, petscs.iterations) << result.message;
        EXPECT_NEAR(result.residual, petscs.residual, 1e-5 * petscs.residual);
      }
    }
  }
}

TEST(Jacobi, TypesByWholeRowsFollowNewValues) {
  const OwnedMat a = make_matrix(load("jpwh_991"));
  const OwnedPc pc =
      make_pc(a, "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host -pc_taskdag_jacobi_type rowl1");
  PETSC_OK(MatScale(a, -3.0));
  PETSC_OK(PCSetUp(pc));
  const OwnedPc fresh =
      make_pc(a, "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host -pc_taskdag_jacobi_type rowl1");
  EXPECT_EQ(difference_of_applications(pc, fresh, a), 0.0);
}

TEST(Jacobi, TypesByWholeRowsNeedTheRows) {
  SKIP_UNLESS_RANKS(ranks() > 1, "several ranks");
  OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}));
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(a, MATSBAIJ, MAT_INPLACE_MATRIX, a.out()));
  const Solve result = solve(a,
                             "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host "
                             "-pc_taskdag_jacobi_type rowmax");
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_SUP);
  EXPECT_NE(result.message.find("-pc_taskdag_jacobi_type"), std::string::npos) << result.message;
}

TEST(Jacobi, MoreSweepsAreRichardsonStepsWithJacobi) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(convection());
  const OwnedPc pc =
      make_pc(a,
              "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 3 -pc_taskdag_jacobi_damping 0.7 "
              "-pc_taskdag_backend host");
  const OwnedPc reference =
      make_pc(a,
              "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_richardson_scale 0.7 -ksp_ksp_max_it 3 "
              "-ksp_ksp_norm_type none -ksp_ksp_convergence_test skip -ksp_pc_type jacobi");
  EXPECT_LT(difference_of_applications(pc, reference, a), 1e-13);
}

TEST(Nested, AsSolverOfBlocksOfBlockJacobi) {
  const OwnedMat a = make_matrix(convection());
  const std::string blocks = "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 4 -sub_pc_type ";
  const Solve theirs = solve(a, blocks + "ilu");
  const Solve ours = solve(a, blocks + "taskdag -sub_pc_taskdag_backend host");
  ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_GT(theirs.reason, 0);
  EXPECT_EQ(ours.iterations, theirs.iterations);
}

TEST(Nested, AsSolverOfAdditiveSchwarz) {
  const OwnedMat a = make_matrix(convection());
  const std::string schwarz = "-ksp_type gmres -pc_type asm -pc_asm_blocks 4 -pc_asm_overlap 2 -sub_pc_type ";
  const Solve theirs = solve(a, schwarz + "ilu -sub_pc_factor_mat_ordering_type rcm");
  const Solve ours = solve(a, schwarz + "taskdag -sub_pc_factor_mat_ordering_type rcm -sub_pc_taskdag_backend host");
  // A PETSc with 64-bit indices may have been given a partitioner with others.
  if (static_cast<int>(theirs.code) != 0) GTEST_SKIP() << "this PETSc cannot partition: " << theirs.message;
  ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_GT(theirs.reason, 0);
  EXPECT_EQ(ours.iterations, theirs.iterations);
}

TEST(Distribution, RanksWithoutRowsTakePart) {
  SKIP_UNLESS_RANKS(ranks() > 1, "several ranks");
  const CsrMatrix csr = poisson();
  // All rows on the last rank: the others have none.
  const OwnedMat a = make_matrix(csr, MATAIJ, rank() == ranks() - 1 ? csr.rows : 0);
  for (const char* type : {"ilu", "icc", "jacobi"}) {
    const std::string name = type;
    const std::string theirs_pc = name == "jacobi" ? "jacobi" : "bjacobi -sub_pc_type " + name;
    const Solve theirs = solve(a, "-ksp_type cg -pc_type " + theirs_pc);
    const Solve ours = solve(a, "-ksp_type cg -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type " + name);
    ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_GT(theirs.reason, 0);
    EXPECT_EQ(ours.iterations, theirs.iterations) << name;
  }
}

TEST(Threads, ResultIsTheSameFromRunToRunAndTheIterationsForAnyCount) {
  const OwnedMat a = make_matrix(convection());
  const std::string options = "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads ";
  const Solve one = solve(a, options + "1");
  const Solve three = solve(a, options + "3");
  const Solve again = solve(a, options + "3");
  ASSERT_EQ(static_cast<int>(three.code), 0) << three.message;
  EXPECT_EQ(one.iterations, three.iterations);
  if (ranks() == 1) {  // with more, MPI's reductions may sum in another order
    EXPECT_EQ(three.residual, again.residual);
  }
  if (rank() == 0) {
    EXPECT_NE(three.view.find("3 host threads"), std::string::npos) << three.view;
  }
}

}  // namespace
}  // namespace taskdag::test
