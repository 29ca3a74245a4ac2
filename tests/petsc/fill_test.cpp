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
        const std::string ours_text =
            "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_icc_shift petsc -pc_taskdag_type " + options;
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

/// The backends that this machine has.
std::vector<std::string> backends() {
  std::vector<std::string> names = {"host"};
  if (probe_devices().devices > 0) names.emplace_back("cuda");
  return names;
}

const std::string inside_blocks =
    " -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 100 -pc_taskdag_fill blocks";

TEST_F(Fill, InsideBlocksSavesIterationsTheSameEverywhere) {
  struct Case {
    CsrMatrix a;
    std::string type;
    std::string ksp;
  };
  for (const Case& c :
       {Case{make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 80, .nz = 1}), "icc", "cg"},
        Case{make_stencil(
                 {.stencil = Stencil::seven_point, .nx = 19, .ny = 18, .nz = 17, .unknowns_per_node = 1, .wind = 0.5}),
             "ilu", "gmres"}}) {
    const OwnedMat a = make_matrix(c.a);
    PetscInt without = 0;
    for (const char* levels : {"0", "1", "2"}) {
      SCOPED_TRACE(c.type + " " + levels);
      const std::string options = words({"-ksp_type", c.ksp, "-pc_factor_levels", levels});
      const Solve host =
          solve(a, options + "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type " + c.type + inside_blocks);
      ASSERT_GT(host.reason, 0) << host.message;
      for (const std::string& backend : backends()) {
        for (const char* schedule : {"auto", "blocks"}) {
          const Solve found = solve(a, options +
                                           words({"-pc_type taskdag -pc_taskdag_backend", backend, "-pc_taskdag_type",
                                                  c.type, "-pc_taskdag_schedule", schedule}) +
                                           inside_blocks);
          EXPECT_EQ(found.iterations, host.iterations) << backend << ", " << schedule << ": " << found.message;
        }
        const Solve package =
            solve(a, options +
                         words({"-pc_type", c.type, "-pc_factor_mat_solver_type taskdag -pc_taskdag_backend", backend,
                                "-pc_factor_mat_ordering_type taskdag_bmc"}) +
                         inside_blocks);
        EXPECT_EQ(package.iterations, host.iterations) << backend << ": " << package.message;
      }
      if (std::string(levels) == "0") {
        without = host.iterations;
      } else {
        EXPECT_LT(host.iterations, without);
      }
    }
  }
}

TEST_F(Fill, InsideBlocksIsInTheView) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40, .nz = 1}));
  const std::string options =
      "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host" + inside_blocks;
  const Solve filled = solve(a, options + " -pc_factor_levels 1 -pc_taskdag_schedule blocks");
  // 16 blocks of 10 x 10 points: to 1600 + 2 · 40 · 39 entries of the triangle one for each inner corner of a block.
  EXPECT_NE(filled.view.find("factor: ICC(1) with fill inside blocks, 1600 rows, " +
                             std::to_string(1600 + 2 * 40 * 39 + 16 * 81) + " entries"),
            std::string::npos)
      << filled.view;
  EXPECT_NE(filled.view.find("schedules: forward blocks, backward blocks"), std::string::npos) << filled.view;
  const Solve without = solve(a, options);
  EXPECT_NE(without.view.find("factor: ICC(0), 1600 rows"), std::string::npos) << without.view;
}

TEST_F(Fill, InsideBlocksNewValuesCauseNoSymbolicPhase) {
  for (const std::string& backend : backends()) {
    const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40, .nz = 1}));
    const std::string options =
        words({"-pc_type taskdag -pc_factor_levels 2 -pc_taskdag_backend", backend}) + inside_blocks;
    const OwnedPc pc = make_pc(a, options);
    const int symbolic = event_count("TaskDAGSymbolic");
    PETSC_OK(MatShift(a, 1.0));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
    const OwnedPc fresh = make_pc(a, options);
    EXPECT_LT(difference_of_applications(pc, fresh, a), 1e-12);
  }
}

TEST_F(Fill, InsideBlocksLetsAutoTakeBlocksOnCuda) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 120, .ny = 120, .nz = 1}));
  const std::string options =
      "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend cuda "
      "-pc_factor_levels 1 -pc_taskdag_fill ";
  EXPECT_NE(solve(a, options + "blocks").view.find("matrix ordering: taskdag_bmc"), std::string::npos);
  EXPECT_NE(solve(a, options + "all").view.find("matrix ordering: natural"), std::string::npos);
}

TEST(FillInBlocks, OfEachRankIsThatOfBlockJacobi) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50, .nz = 1}));
  const auto with_prefix = [](const std::string& pc) {
    return words({pc + "taskdag_backend host", pc + "taskdag_type icc", pc + "factor_levels 1",
                  pc + "taskdag_ordering taskdag_bmc", pc + "taskdag_fill blocks"});
  };
  const Solve alone = solve(a, "-ksp_type cg -pc_type taskdag " + with_prefix("-pc_"));
  const Solve blocks = solve(a, "-ksp_type cg -pc_type bjacobi -sub_pc_type taskdag " + with_prefix("-sub_pc_"));
  ASSERT_EQ(static_cast<int>(alone.code), 0) << alone.message;
  EXPECT_EQ(alone.iterations, blocks.iterations);
  EXPECT_GT(alone.reason, 0);
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
