// Fill levels, against PETSc's own factorisations on one rank.
#include "support.hpp"

namespace taskdag::test {
namespace {

class Fill : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_RANKS(ranks() == 1, "1 rank"); }
};

/// What a preconditioner with a factor matrix holds in it.
double entries_of_factor(PC pc) {
  Mat factor = nullptr;
  MatInfo info{};
  EXPECT_EQ(static_cast<int>(PCFactorGetMatrix(pc, &factor)), 0);
  EXPECT_EQ(static_cast<int>(MatGetInfo(factor, MAT_LOCAL, &info)), 0);
  return info.nz_used;
}

struct FillCase {
  const char* matrix;
  const char* type;
  const char* ksp;
};

const std::vector<FillCase> cases = {{"orsreg_1", "ilu", "gmres"}, {"jpwh_991", "ilu", "gmres"},
                                     {"steam2", "ilu", "gmres"},   {"add32", "ilu", "bcgs"},
                                     {"sherman1", "icc", "cg"},    {"bcsstk16", "icc", "cg"}};

TEST_F(Fill, PatternResultAndIterationsAreThoseOfPetsc) {
  for (const FillCase& c : cases) {
    const OwnedMat a = make_matrix(load(c.matrix));
    double without_fill = 0;
    for (const char* levels : {"0", "1", "2", "3"}) {
      for (const char* ordering : {"natural", "rcm"}) {
        const std::string options =
            words({c.type, "-pc_factor_levels", levels, "-pc_factor_mat_ordering_type", ordering});
        SCOPED_TRACE(words({c.matrix, options}));
        const std::string theirs_text = "-pc_type " + options;
        const std::string package_text = theirs_text + "-pc_factor_mat_solver_type taskdag -pc_taskdag_backend host";
        const std::string ours_text = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type " + options;
        const OwnedPc theirs = make_pc(a, theirs_text);
        const OwnedPc package = make_pc(a, package_text);
        const OwnedPc ours = make_pc(a, ours_text);
        EXPECT_EQ(entries_of_factor(package), entries_of_factor(theirs));
        if (std::string(levels) == "0") {
          without_fill = entries_of_factor(package);
        } else {
          EXPECT_GT(entries_of_factor(package), without_fill) << "the case shows nothing unless levels add entries";
        }
        const OwnedVec b = make_vector(a, 0.7);
        const OwnedVec x = make_vector(a);
        const OwnedVec y = make_vector(a);
        const OwnedVec z = make_vector(a);
        PETSC_OK(PCApply(theirs, b, x));
        PETSC_OK(PCApply(package, b, y));
        PETSC_OK(PCApply(ours, b, z));
        EXPECT_LT(relative_difference(y, x), 1e-9);
        EXPECT_LT(relative_difference(z, x), 1e-9);
        const std::string ksp = std::string(" -ksp_max_it 300 -ksp_type ") + c.ksp;
        const Solve reference = solve(a, theirs_text + ksp);
        const Solve found = solve(a, ours_text + ksp);
        ASSERT_EQ(static_cast<int>(found.code), 0) << found.message;
        EXPECT_EQ(found.iterations, reference.iterations);
        EXPECT_EQ(found.reason, reference.reason);
      }
    }
  }
}

TEST_F(Fill, TransposedAndHalfApplicationsAreThoseOfPetsc) {
  for (const FillCase& c : cases) {
    const OwnedMat a = make_matrix(load(c.matrix));
    const std::string options = std::string("-pc_factor_levels 2 -pc_factor_mat_ordering_type rcm -pc_type ") + c.type;
    SCOPED_TRACE(std::string(c.matrix) + ", " + options);
    const OwnedPc theirs = make_pc(a, options);
    const OwnedPc package = make_pc(a, options + " -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
    const OwnedVec b = make_vector(a, 0.7);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    using Function = PetscErrorCode (*)(PC, Vec, Vec);
    std::vector<Function> functions = {PCApplyTranspose};
    if (std::string(c.type) == "icc") functions.insert(functions.end(), {PCApplySymmetricLeft, PCApplySymmetricRight});
    for (const Function apply : functions) {
      PETSC_OK(apply(theirs, b, x));
      PETSC_OK(apply(package, b, y));
      EXPECT_LT(relative_difference(y, x), 1e-9);
    }
  }
}

TEST_F(Fill, NewValuesCauseNoSymbolicPhase) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  const std::string options = "-pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 2";
  const OwnedPc pc = make_pc(a, options);
  const int symbolic = event_count("TaskDAGSymbolic");
  PETSC_OK(MatShift(a, 1.0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
  const OwnedPc fresh = make_pc(a, "-pc_type ilu -pc_factor_levels 2");
  EXPECT_LT(difference_of_applications(pc, fresh, a), 1e-10);
}

TEST_F(Fill, SetterOfPetscReachesThePreconditioner) {
  const OwnedMat a = make_matrix(load("orsreg_1"));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  PetscInt levels = -1;
  PETSC_OK(PCFactorGetLevels(pc, &levels));
  EXPECT_EQ(levels, 0);
  PETSC_OK(PCFactorSetLevels(pc, 3));
  PETSC_OK(PCFactorGetLevels(pc, &levels));
  EXPECT_EQ(levels, 3);
  PETSC_OK(PCSetUp(pc));
  const OwnedPc reference = make_pc(a, "-pc_type ilu -pc_factor_levels 3");
  EXPECT_LT(difference_of_applications(pc, reference, a), 1e-10);
}

TEST_F(Fill, ShiftsAreThoseOfPetsc) {
  CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 12, .nz = 1});
  for (double& value : csr.values)
    if (value > 0) value *= 0.6;  // no longer positive definite
  const OwnedMat a = make_matrix(csr);
  for (const char* type : {"ilu", "icc"})
    for (const char* shift : {"positive_definite", "nonzero", "inblocks"}) {
      const std::string options =
          std::string(" -pc_factor_levels 1 -pc_factor_shift_amount 0.1 -pc_factor_shift_type ") + shift;
      SCOPED_TRACE(type + options);
      const OwnedPc theirs = make_pc(a, std::string("-pc_type ") + type + options);
      const OwnedPc ours =
          make_pc(a, std::string("-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type ") + type + options);
      EXPECT_LT(difference_of_applications(ours, theirs, a), 1e-9);
    }
}

TEST_F(Fill, ViewAndInformationTellIt) {
  const CsrMatrix csr = make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1});
  const OwnedMat a = make_matrix(csr);
  // One more entry on either side of the diagonal for each interior corner: (nx − 1) (ny − 1) of them.
  const Solve result = solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 1");
  EXPECT_NE(result.view.find("ILU(1), 35 rows, 199 entries"), std::string::npos) << result.view;
  const OwnedPc pc =
      make_pc(a, "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_factor_levels 1");
  Mat factor = nullptr;
  MatInfo info;
  PETSC_OK(PCFactorGetMatrix(pc, &factor));
  PETSC_OK(MatGetInfo(factor, MAT_LOCAL, &info));
  EXPECT_EQ(info.fill_ratio_needed, 199.0 / csr.entries());
}

TEST(FillInBlocks, OfBlockJacobiGivesTheIterationsOfPetsc) {
  const OwnedMat a = make_matrix(make_stencil(
      {.stencil = Stencil::seven_point, .nx = 11, .ny = 10, .nz = 9, .unknowns_per_node = 1, .wind = 0.5}));
  const std::string sub = ranks() == 1 ? "-pc_" : "-sub_pc_";
  const std::string theirs_text = std::string("-ksp_type gmres ") + (ranks() == 1 ? "" : "-pc_type bjacobi ") + sub +
                                  "type ilu " + sub + "factor_levels 2";
  const Solve theirs = solve(a, theirs_text);
  const Solve ours = solve(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 2");
  ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
  EXPECT_EQ(ours.iterations, theirs.iterations);
}

}  // namespace
}  // namespace taskdag::test
