// Few rows on a GPU: -pc_type taskdag begins with a factor of the host and one thread block, and leaves it.
#include "support.hpp"

namespace taskdag::test {
namespace {

constexpr PetscInt kOf45 = 15000 / 178;  // applications of a 5-point grid of 45 x 45: 89 levels a sweep
const std::string on_cuda = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend cuda ";
const std::string ilu_on_host = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host";
const std::string by_one_block = "schedules: forward one-block, backward one-block (auto)";

CsrMatrix plane(Index n, double wind = 0.0) {
  return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = wind});
}

class OneBlock : public testing::Test {
 protected:
  void SetUp() override {
    if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  }
};

/// A KSP whose preconditioner is set up, and applied by itself.
class Applied {
 public:
  Applied(Mat a, const std::string& options) : options_(options) {
    EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_SELF, ksp_.out())), 0);
    EXPECT_EQ(static_cast<int>(KSPGetPC(ksp_, &pc_)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp_, a, a)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp_)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetUp(ksp_)), 0);
  }
  void set_up_with(Mat a) {
    EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp_, a, a)), 0);
    EXPECT_EQ(static_cast<int>(KSPSetUp(ksp_)), 0);
  }
  void apply(Mat a, PetscInt times) {
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    for (PetscInt k = 0; k < times; ++k) EXPECT_EQ(static_cast<int>(PCApply(pc_, b, x)), 0);
  }
  [[nodiscard]] PC pc() const { return pc_; }
  [[nodiscard]] std::string view() const { return view_text(ksp_); }
  /// Whether the view says that one thread block is at work, as the first of several applications.
  void expect_first(PetscInt limit, PetscInt so_far) const {
    const std::string text = view();
    EXPECT_NE(text.find(by_one_block), std::string::npos) << text;
    EXPECT_NE(text.find("one thread block for the first " + std::to_string(limit) + " applications, " +
                        std::to_string(so_far) + " so far: no more than 5000 rows (auto)"),
              std::string::npos)
        << text;
  }
  void expect_left(PetscInt after) const {
    const std::string text = view();
    EXPECT_EQ(text.find("one-block"), std::string::npos) << text;
    EXPECT_NE(text.find("in place of one thread block, after " + std::to_string(after) + " applications by it (auto)"),
              std::string::npos)
        << text;
  }

 private:
  ScopedOptions options_;
  OwnedKsp ksp_;
  PC pc_ = nullptr;
};

TEST(OneBlockOnTheHost, ThereIsNone) {
  const OwnedMat a = make_local_matrix(plane(45));
  for (const char* rows : {"", "-pc_taskdag_one_block_rows -1", "-pc_taskdag_one_block_rows 5000"}) {
    Applied ours(a, words({"-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1", rows}));
    ours.apply(a, 2);
    EXPECT_NE(ours.view().find("schedules: forward serial, backward serial (auto)"), std::string::npos) << ours.view();
    EXPECT_EQ(ours.view().find("one thread block"), std::string::npos) << ours.view();
  }
}

TEST(OneBlockOnTheHost, IsDecidedByDefault) {
  const OwnedMat a = make_local_matrix(plane(5));
  const OwnedPc pc = make_pc(a, ilu_on_host);
  PetscInt rows = 0;
  PETSC_OK(PCTaskDAGGetOneBlockRows(pc, &rows));
  EXPECT_EQ(rows, PETSC_DECIDE);
  PETSC_OK(PCTaskDAGSetOneBlockRows(pc, 7));
  PETSC_OK(PCTaskDAGGetOneBlockRows(pc, &rows));
  EXPECT_EQ(rows, 7);
  PETSC_OK(PCTaskDAGSetOneBlockRows(pc, PETSC_DECIDE));
  PETSC_OK(PCTaskDAGGetOneBlockRows(pc, &rows));
  EXPECT_EQ(rows, PETSC_DECIDE);
}

TEST_F(OneBlock, IsLeftWhenItHasHadItsApplications) {
  for (const std::string type : {"ilu", "icc", "dilu", "dic"}) {
    SCOPED_TRACE(type);
    const OwnedMat a = make_local_matrix(plane(45));
    const OwnedPc reference = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_type " + type);
    Applied ours(a, on_cuda + "-pc_taskdag_type " + type);
    ours.expect_first(kOf45, 0);
    ours.apply(a, kOf45 - 1);
    EXPECT_LT(difference_of_applications(ours.pc(), reference, a), 1e-12);
    ours.expect_first(kOf45, kOf45);
    for (int k = 0; k < 3; ++k) EXPECT_LT(difference_of_applications(ours.pc(), reference, a), 1e-12);
    ours.expect_left(kOf45);
    PETSC_OK(MatScale(a, 3.0));
    const int symbolic = event_count("TaskDAGSymbolic");
    PETSC_OK(PCSetUp(ours.pc()));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
    PETSC_OK(PCSetUp(reference));
    EXPECT_LT(difference_of_applications(ours.pc(), reference, a), 1e-12);
    ours.expect_left(kOf45);
  }
}

TEST_F(OneBlock, NewValuesDoNotCountApplicationsAnew) {
  const OwnedMat a = make_local_matrix(plane(45));
  Applied ours(a, on_cuda);
  for (PetscInt k = 0; k < 4; ++k) {
    ours.apply(a, kOf45 / 4);
    ours.expect_first(kOf45, (k + 1) * (kOf45 / 4));
    PETSC_OK(MatScale(a, 2.0));
    PETSC_OK(PCSetUp(ours.pc()));
  }
  ours.apply(a, 1 + kOf45 % 4);
  ours.expect_left(kOf45);
  const OwnedPc reference = make_pc(a, ilu_on_host);
  EXPECT_LT(difference_of_applications(ours.pc(), reference, a), 1e-12);
}

TEST_F(OneBlock, LaterPatternsOfAPcDoWithoutItOnceItHasLeft) {
  const OwnedMat a = make_local_matrix(plane(45));
  const OwnedMat other = make_local_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 81, .ny = 25}));
  Applied ours(a, on_cuda);
  ours.apply(a, 10);
  ours.set_up_with(other);
  ours.expect_first(15000 / 210, 0);
  ours.set_up_with(a);
  ours.apply(a, kOf45 + 1);
  ours.expect_left(kOf45);
  ours.set_up_with(other);
  const std::string text = ours.view();
  EXPECT_EQ(text.find("one-block"), std::string::npos) << text;
  EXPECT_NE(text.find("not by one thread block first: a factor before this one has left it"), std::string::npos)
      << text;
  const OwnedPc reference = make_pc(other, ilu_on_host);
  EXPECT_LT(difference_of_applications(ours.pc(), reference, other), 1e-12);
  PETSC_OK(PCReset(ours.pc()));
  ours.set_up_with(a);
  ours.expect_first(kOf45, 0);
}

TEST_F(OneBlock, IsLeftInTheMiddleOfASolve) {
  const OwnedMat a = make_local_matrix(plane(63));
  for (const std::string ksp : {"cg", "gmres", "bicg", "cg -taskdag_ksp off", "gmres -taskdag_ksp off"}) {
    SCOPED_TRACE(ksp);
    const std::string options = "-ksp_rtol 1e-10 -ksp_max_it 400 -ksp_type " + ksp + " ";
    const Solve theirs = solve(a, options + "-pc_type ilu");
    ASSERT_GT(theirs.iterations, 15000 / 250);
    const Solve ours = solve(a, options + on_cuda);
    ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_GT(ours.reason, 0);
    EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(theirs.iterations),
                0.05 * static_cast<double>(theirs.iterations));
    EXPECT_NE(ours.view.find("in place of one thread block, after"), std::string::npos) << ours.view;
  }
}

TEST_F(OneBlock, IsLeftAtOnceForWhatItDoesNotHave) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_local_matrix(plane(45, 0.3));
  const OwnedPc reference = make_pc(a, ilu_on_host);
  Applied ours(a, on_cuda);
  ours.apply(a, 2);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  const OwnedVec y = make_vector(a);
  PETSC_OK(PCApplyTranspose(ours.pc(), b, x));
  PETSC_OK(PCApplyTranspose(reference, b, y));
  EXPECT_LT(relative_difference(x, y), 1e-12);
  ours.expect_left(2);
  EXPECT_LT(difference_of_applications(ours.pc(), reference, a), 1e-12);
  EXPECT_LT(difference_of_columns(ours.pc(), reference, a), 1e-12);
}

TEST_F(OneBlock, ColumnsCountAsOneApplication) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_local_matrix(plane(45));
  const OwnedPc reference = make_pc(a, ilu_on_host);
  Applied ours(a, on_cuda);
  for (int k = 0; k < 3; ++k) EXPECT_LT(difference_of_columns(ours.pc(), reference, a), 1e-12);
  ours.expect_first(kOf45, 3);
  ours.apply(a, kOf45);
  ours.expect_left(kOf45);
  EXPECT_LT(difference_of_columns(ours.pc(), reference, a), 1e-12);
}

TEST_F(OneBlock, WhatTheUserChoosesIsAsItWas) {
  const OwnedMat a = make_local_matrix(plane(45));
  const auto view_with = [&](const std::string& options) {
    Applied ours(a, on_cuda + options);
    ours.apply(a, kOf45 + 1);
    return ours.view();
  };
  const std::string fixed = view_with("-pc_taskdag_one_block_rows 2025");
  EXPECT_NE(fixed.find(by_one_block), std::string::npos) << fixed;
  EXPECT_EQ(fixed.find("one thread block for the first"), std::string::npos) << fixed;
  for (const char* options :
       {"-pc_taskdag_one_block_rows 0", "-pc_taskdag_one_block_rows 2024", "-pc_taskdag_schedule flat",
        "-pc_taskdag_factor_schedule lists", "-pc_taskdag_ordering natural", "-pc_factor_mat_ordering_type natural",
        "-pc_taskdag_precision single", "-pc_factor_levels 1",
        "-ksp_type cg -ksp_norm_type natural -pc_taskdag_type dic -pc_taskdag_eisenstat"}) {
    SCOPED_TRACE(options);
    Applied ours(a, on_cuda + options);
    const std::string text = ours.view();
    EXPECT_EQ(text.find("one-block"), std::string::npos) << text;
    EXPECT_EQ(text.find("one thread block"), std::string::npos) << text;
  }
  const std::string tuned = view_with("-pc_taskdag_tune");
  EXPECT_EQ(tuned.find("one thread block"), std::string::npos) << tuned;
  const Solve package = solve(a, "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend cuda");
  EXPECT_EQ(package.view.find("one-block"), std::string::npos) << package.view;
  const OwnedMat large = make_local_matrix(plane(71));
  EXPECT_EQ(Applied(large, on_cuda).view().find("one-block"), std::string::npos) << "5041 rows";
}

TEST_F(OneBlock, AZeroPivotIsThatOfTheHost) {
  CsrMatrix csr = plane(20);
  csr.values[0] = 0.0;
  const OwnedMat a = make_local_matrix(csr);
  const Solve failed = solve(a, "-ksp_type gmres " + on_cuda);
  ASSERT_EQ(static_cast<int>(failed.code), 0) << failed.message;
  EXPECT_EQ(failed.reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(failed.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
  const Solve shifted = solve(a, "-ksp_type gmres -pc_factor_shift_type NONZERO " + on_cuda);
  const Solve theirs = solve(a, "-ksp_type gmres -pc_factor_shift_type NONZERO -pc_type ilu");
  EXPECT_EQ(shifted.iterations, theirs.iterations);
}

TEST_F(OneBlock, LeavingItCopiesNoVectors) {
#if defined(PETSC_HAVE_CUDA)
  const OwnedMat a = make_local_matrix(plane(45), MATSEQAIJCUSPARSE);
  const ScopedOptions options("-pc_type taskdag -pc_taskdag_type ilu");
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
  PETSC_OK(PCSetOperators(pc, a, a));
  PETSC_OK(PCSetFromOptions(pc));
  PETSC_OK(PCSetUp(pc));
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a);
  PETSC_OK(PCApply(pc, b, x));  // brings b to the device
  const PetscEventPerfInfo before = event_info("TaskDAGApply");
  for (PetscInt k = 0; k < kOf45 + 10; ++k) PETSC_OK(PCApply(pc, b, x));
  const PetscEventPerfInfo after = event_info("TaskDAGApply");
  EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount) << "vectors";
  EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount);
  const OwnedMat host = make_local_matrix(plane(45));
  const OwnedPc reference = make_pc(host, ilu_on_host);
  const OwnedVec c = make_vector(host);
  const OwnedVec y = make_vector(host);
  const OwnedVec on_host = make_vector(host);
  PETSC_OK(PCApply(reference, c, y));
  PETSC_OK(VecCopy(x, on_host));
  EXPECT_LT(relative_difference(on_host, y), 1e-12);
#else
  GTEST_SKIP() << "this PETSc has no CUDA";
#endif
}

TEST_F(OneBlock, OfTypeAutoIsForAFirstSolve) {
  const std::string auto_on_cuda = "-pc_type taskdag -pc_taskdag_type auto -pc_taskdag_backend cuda ";
  const OwnedMat a = make_local_matrix(plane(45));
  PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  const Solve first = solve(a, "-ksp_type cg " + auto_on_cuda);
  EXPECT_NE(first.view.find("for a first solve icc: few rows"), std::string::npos) << first.view;
  EXPECT_NE(first.view.find(by_one_block), std::string::npos) << first.view;
  const Solve never = solve(a, "-ksp_type cg -pc_taskdag_one_block_rows 0 " + auto_on_cuda);
  EXPECT_EQ(never.view.find("one-block"), std::string::npos) << never.view;
}

}  // namespace
}  // namespace taskdag::test
