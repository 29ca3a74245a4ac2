// Setters, views and the choice of a backend.
#include <bit>

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
                           "ICC(0), 35 rows, 93 entries", "forward", "shift: scaled",
                           "shifted by 0. times the diagonal, attempts: 1", "growth of the factor"})
    EXPECT_NE(result.view.find(text), std::string::npos) << text << " in\n" << result.view;
}

TEST(View, OfThePackageNamesBackendAndLevels) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}));
  const Solve result = solve(a, "-pc_type ilu -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host");
  // The natural order of a grid has one level per anti-diagonal.
  for (const char* text :
       {"backend: host (asked for)", "ILU(0), 35 rows, 151 entries, 11 forward and 11 backward", "schedules: forward "})
    EXPECT_NE(result.view.find(text), std::string::npos) << text << " in\n" << result.view;
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
