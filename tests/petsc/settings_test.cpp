// Setters, views and the choice of a backend.
#include <array>
#include <bit>
#include <vector>

#include "support.hpp"

namespace taskdag::test {
namespace {

TEST(View, NamesTypeOrderingBackendLevelsAndShift) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}));
  const Solve result = solve(a,
                             "-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host "
                             "-pc_factor_mat_ordering_type taskdag_rcm");
  for (const char* text : {"type: taskdag", "type: icc", "matrix ordering: taskdag_rcm", "backend: host (asked for)",
                           "ICC(0), 35 rows, 93 entries", "forward", "shift: scaled", "growth of the factor"})
    EXPECT_NE(result.view.find(text), std::string::npos) << text << " in\n" << result.view;
  EXPECT_EQ(result.view.find("shifted by"), std::string::npos) << "no shift was needed\n" << result.view;
}

TEST(View, OfThePackageNamesBackendAndLevels) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}));
  const Solve result = solve(a, "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
  // The natural order of a grid has one level per anti-diagonal.
  for (const char* text :
       {"backend: host (asked for)", "ILU(0), 35 rows, 151 entries, 11 forward levels, 11 backward levels",
        " MB, 0 MB of these for new values alone\n", "schedules: forward "})
    EXPECT_NE(result.view.find(text), std::string::npos) << text << " in\n" << result.view;
  const Solve ordered = solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering rcm");
  EXPECT_NE(ordered.view.find(" MB of these for new values alone\n"), std::string::npos) << ordered.view;
  EXPECT_EQ(ordered.view.find(" 0 MB of these"), std::string::npos) << "a map of entries\n" << ordered.view;
}

TEST(View, NamesOfSchedulesMayHaveCapitals) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}));
  const Solve result = solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_schedule SERIAL");
  EXPECT_NE(result.view.find("forward serial, backward serial"), std::string::npos) << result.view;
}

TEST(View, OfSeveralRanksSumsUpAndSaysOnceWhatTheyHaveInCommon) {
  SKIP_UNLESS_RANKS(ranks() == 2, "2 ranks");
  // 20 rows and 15.
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 7, .nz = 1}), MATAIJ,
                                 rank() == 0 ? 20 : 15);
  const std::string view =
      solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1 -pc_taskdag_schedule serial").view;
  if (rank() != 0) return;
  for (const char* text :
       {"factor: ILU(0), on a rank 15 to 20 rows (35 in all), 59 to 82 entries (141 in all), 7 to 8 "
        "forward levels, 7 to 8 backward levels, ",
        "    backend: host (asked for), 1 host thread\n", "    schedules: forward serial, backward serial\n"})
    EXPECT_NE(view.find(text), std::string::npos) << text << " in\n" << view;
}

/// With the options of now.
void make_ready(OwnedKsp& ksp, Mat a) {
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(KSPSetUp(ksp));
}

TEST(View, OfEachRankNamesAlsoThoseThatAreAlike) {
  SKIP_UNLESS_RANKS(ranks() == 2, "2 ranks");
  const CsrMatrix csr{4, 4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {1, 1, 1, 1}};
  const OwnedMat a = make_matrix(csr, MATAIJ, 2);
  const ScopedOptions options("-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1");
  OwnedKsp ksp;
  ASSERT_NO_FATAL_FAILURE(make_ready(ksp, a));
  const std::string view = view_text(ksp);
  const std::string detail = view_text(ksp, PETSC_VIEWER_ASCII_INFO_DETAIL);
  if (rank() != 0) return;
  EXPECT_EQ(view.find("ranks 0, 1:"), std::string::npos) << view;
  EXPECT_NE(detail.find("ranks 0, 1:"), std::string::npos) << detail;
}

TEST(View, OfRanksThatDifferNamesThem) {
  SKIP_UNLESS_RANKS(ranks() == 4, "4 ranks");
  // Rank 1 has no rows, so no factor.
  const CsrMatrix csr{5, 5, {0, 1, 2, 3, 5, 7}, {0, 1, 2, 3, 4, 3, 4}, {1, 1, 1, 2, 1, 1, 2}};
  constexpr std::array<PetscInt, 4> rows{2, 0, 1, 2};
  const OwnedMat a = make_matrix(csr, MATAIJ, rows[static_cast<std::size_t>(rank())]);
  const ScopedOptions options(
      "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1 -pc_factor_shift_type inblocks "
      "-pc_factor_shift_amount 0.5 -pc_factor_zeropivot 1.6 -pc_taskdag_schedule serial");
  OwnedKsp ksp;
  ASSERT_NO_FATAL_FAILURE(make_ready(ksp, a));
  const std::string view = view_text(ksp);
  const std::string detail = view_text(ksp, PETSC_VIEWER_ASCII_INFO_DETAIL);
  if (rank() != 0) return;
  for (const char* text : {"0 to 2 rows (5 in all)", "    backend: host (asked for), 1 host thread\n",
                           "    rank 0:\n      schedules: forward serial, backward serial\n",
                           "shifted 2 times, by 0.5 in the end\n    ranks 2, 3:\n"})
    EXPECT_NE(view.find(text), std::string::npos) << text << " in\n" << view;
  for (const char* text :
       {"    rank 1:\n      factor: ILU(0), 0 rows, 0 entries", "    rank 2:\n      factor: ILU(0), 1 rows",
        "    rank 3:\n      factor: ILU(0), 2 rows", "    backend: host (asked for), 1 host thread\n"})
    EXPECT_NE(detail.find(text), std::string::npos) << text << " in\n" << detail;
}

TEST(Backend, AutoSaysWhyItChoseTheHost) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}));
  const Solve result = solve(a, "-pc_type taskdag");
  if (rank() != 0) return;
  const std::string why = probe_devices().devices == 0 ? "no GPU: " + probe_devices().message : "fewer than 20000";
  EXPECT_NE(result.view.find("backend: host ("), std::string::npos) << result.view;
  EXPECT_NE(result.view.find(why), std::string::npos) << result.view;
}

TEST(Backend, CudaWithoutAGpuIsAnError) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  if (probe_devices().devices > 0) GTEST_SKIP() << "there is a GPU: " << probe_devices().message;
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 4, .ny = 4, .nz = 1}));
  for (const char* options : {"-pc_type taskdag -pc_taskdag_backend cuda",
                              "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend cuda"}) {
    const Solve result = solve(a, options);
    EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_GPU) << result.message;
    EXPECT_EQ(result.message.find("TaskDAG: "), 0U) << result.message;
  }
}

TEST(Setters, ReplaceOptionsAndSetup) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(load("bcsstk16"));
  const OwnedVec b = make_vector(a);
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetOperators(pc, a, a));
  PETSC_OK(PCSetType(pc, PCTASKDAG));
  PETSC_OK(PCTaskDAGSetBackend(pc, PC_TASKDAG_BACKEND_HOST));
  const auto expect_as = [&](const std::string& options) {
    const OwnedPc reference = make_pc(a, options);
    const OwnedVec x = make_vector(a);
    const OwnedVec y = make_vector(a);
    PETSC_OK(PCApply(pc, b, x));
    PETSC_OK(PCApply(reference, b, y));
    EXPECT_LT(relative_difference(x, y), 1e-10) << options;
  };
  expect_as("-pc_type ilu");
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_ICC));
  expect_as("-pc_type icc");
  PETSC_OK(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
  expect_as("-pc_type icc -pc_factor_mat_ordering_type rcm");
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  expect_as("-pc_type jacobi");
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_ILU));
  PETSC_OK(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
  PETSC_OK(PCFactorSetZeroPivot(pc, 1e5));
  PETSC_OK(PCFactorSetShiftAmount(pc, 3e5));
  expect_as(
      "-pc_type ilu -pc_factor_mat_ordering_type rcm -pc_factor_shift_type inblocks -pc_factor_zeropivot 1e5 "
      "-pc_factor_shift_amount 3e5");
  PETSC_OK(PCReset(pc));
  PETSC_OK(PCSetOperators(pc, a, a));
  PETSC_OK(PCSetUp(pc));
}

TEST(Events, EachPhaseOfASetUpHasItsLine) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}));
  const std::array phases{"TaskDAGOrdering", "TaskDAGSymbolic", "TaskDAGNumeric", "TaskDAGGrowth"};
  for (const char* options : {"-pc_type taskdag -pc_taskdag_backend host",
                              "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering taskdag_rcm"}) {
    std::vector<int> before;
    before.reserve(phases.size());
    for (const char* phase : phases) before.push_back(event_count(phase));
    const OwnedPc pc = make_pc(a, options);
    for (std::size_t k = 0; k < phases.size(); ++k) {
      EXPECT_EQ(event_count(phases[k]), before[k] + 1) << phases[k] << " of " << options;
    }
    PETSC_OK(MatScale(a, 2.0));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count(phases[0]), before[0] + 1) << "new values with the same pattern";
    EXPECT_EQ(event_count(phases[2]), before[2] + 2);
  }
  const int ordering = event_count(phases[0]);
  const OwnedPc sor = make_pc(a, "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_ordering taskdag_color");
  EXPECT_EQ(event_count(phases[0]), ordering + 1);
}

TEST(Setters, OfWhatIsSetAlreadyForgetNothing) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host -pc_factor_levels 1");
  const int symbolic = event_count("TaskDAGSymbolic");
  const int numeric = event_count("TaskDAGNumeric");
  PetscReal pivot = 0.0;
  PetscReal amount = 0.0;
  PETSC_OK(PCFactorGetZeroPivot(pc, &pivot));
  PETSC_OK(PCFactorGetShiftAmount(pc, &amount));
  PETSC_OK(PCFactorSetZeroPivot(pc, pivot));
  PETSC_OK(PCFactorSetShiftAmount(pc, amount));
  PETSC_OK(PCFactorSetShiftType(pc, static_cast<MatFactorShiftType>(PETSC_DECIDE)));
  PETSC_OK(PCFactorSetLevels(pc, 1));
  PETSC_OK(PCFactorSetFill(pc, 2.0));
  PETSC_OK(PCFactorSetReuseFill(pc, PETSC_TRUE));
  PETSC_OK(PCFactorSetMatSolverType(pc, MATSOLVERTASKDAG));
  PETSC_OK(PCSORSetOmega(pc, 1.0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
  EXPECT_EQ(event_count("TaskDAGNumeric"), numeric);
  PETSC_OK(PCFactorSetLevels(pc, 0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1);
}

TEST(Setters, AreReadBack) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 5, .nz = 1}));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  PetscReal number = 0.0;
  MatFactorShiftType shift = MAT_SHIFT_INBLOCKS;
  MatSolverType solver = nullptr;
  PetscBool flag = PETSC_TRUE;
  PETSC_OK(PCFactorGetShiftType(pc, &shift));
  EXPECT_EQ(shift, MAT_SHIFT_NONE);
  PETSC_OK(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
  PETSC_OK(PCFactorGetShiftType(pc, &shift));
  EXPECT_EQ(shift, MAT_SHIFT_NONZERO);
  PETSC_OK(PCFactorSetZeroPivot(pc, 1e-5));
  PETSC_OK(PCFactorGetZeroPivot(pc, &number));
  EXPECT_EQ(number, 1e-5);
  PETSC_OK(PCFactorSetShiftAmount(pc, 3e-5));
  PETSC_OK(PCFactorGetShiftAmount(pc, &number));
  EXPECT_EQ(number, 3e-5);
  PETSC_OK(PCFactorGetMatSolverType(pc, &solver));
  EXPECT_STREQ(solver, MATSOLVERTASKDAG);
  PETSC_OK(PCFactorGetUseInPlace(pc, &flag));
  EXPECT_FALSE(flag);
}

TEST(Setters, OfWhatThereIsNotAreRefused) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 5, .nz = 1}));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  const auto refused = [](PetscErrorCode code) { return static_cast<int>(code) == PETSC_ERR_SUP; };
  {
    const ErrorCapture errors;
    EXPECT_TRUE(refused(PCFactorSetDropTolerance(pc, 1e-3, 0.1, 10)));
    EXPECT_NE(errors.message().find("has no drop tolerance"), std::string::npos) << errors.message();
  }
  const ErrorCapture errors;
  EXPECT_TRUE(refused(PCFactorSetUseInPlace(pc, PETSC_TRUE)));
  EXPECT_TRUE(refused(PCFactorSetAllowDiagonalFill(pc, PETSC_TRUE)));
  EXPECT_TRUE(refused(PCFactorSetColumnPivot(pc, 0.5)));
  EXPECT_TRUE(refused(PCFactorReorderForNonzeroDiagonal(pc, 1e-10)));
  EXPECT_TRUE(refused(PCFactorSetMatSolverType(pc, MATSOLVERPETSC)));
  PETSC_OK(PCFactorSetUseInPlace(pc, PETSC_FALSE));
  PETSC_OK(PCSetUp(pc));
}

TEST(Setters, AreIgnoredByOtherPreconditioners) {
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetType(pc, PCJACOBI));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_ICC));
  PETSC_OK(PCTaskDAGSetBackend(pc, PC_TASKDAG_BACKEND_HOST));
}

TEST(Setters, ChangedOptionsTakeEffectAfterASetup) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  const int symbolic = event_count("TaskDAGSymbolic");
  {
    const ScopedOptions same("-pc_type taskdag -pc_taskdag_backend host");
    PETSC_OK(PCSetFromOptions(pc));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic) << "nothing has changed";
  }
  const ScopedOptions other("-pc_type taskdag -pc_taskdag_type jacobi");
  PETSC_OK(PCSetFromOptions(pc));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1);
}

TEST(Setters, RefuseTypesThatAreNotKnown) {
  const ErrorCapture errors;
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetType(pc, PCTASKDAG));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_SOR));
  EXPECT_EQ(static_cast<int>(PCTaskDAGSetType(pc, std::bit_cast<PCTaskDAGType>(1000))), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(errors.message().find("PCTaskDAGType 1000 is not known"), std::string::npos) << errors.message();
}

TEST(Setters, RefuseAnOrderingWithoutAName) {
  const ErrorCapture errors;
  OwnedPc pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetType(pc, PCTASKDAG));
  EXPECT_EQ(static_cast<int>(PCFactorSetMatOrderingType(pc, nullptr)), PETSC_ERR_ARG_NULL);
}

TEST(Setters, OfFactorsLastWhileAnotherTypeIsInUse) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}));
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_backend host");
  PETSC_OK(PCFactorSetLevels(pc, 2));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_ILU));
  PETSC_OK(PCSetUp(pc));
  const OwnedPc reference = make_pc(a, "-pc_type ilu -pc_factor_levels 2");
  EXPECT_LT(difference_of_applications(pc, reference, a), 1e-12);
}

TEST(Registration, IsRepeatable) {
  PETSC_OK(TaskDAGInitializePackage());
  PETSC_OK(TaskDAGInitializePackage());
  PETSC_OK(PetscDLLibraryRegister_petsctaskdag());
}

}  // namespace
}  // namespace taskdag::test
