// Work on a GPU. Skipped, with the reason, where there is none.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support.hpp"

namespace taskdag::test {
namespace {

#if defined(PETSC_HAVE_CUDA)
constexpr bool petsc_has_cuda = true;
#else
constexpr bool petsc_has_cuda = false;
#endif

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  }
};

/// With a PETSc that has CUDA too.
class DeviceData : public Cuda {
 protected:
  void SetUp() override {
    if (!petsc_has_cuda) GTEST_SKIP() << "this PETSc has no CUDA";
    Cuda::SetUp();
  }
};

CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::seven_point, .nx = 21, .ny = 20, .nz = 19, .wind = 0.5});
}
CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 21, .ny = 20, .nz = 19}); }

const std::vector<std::pair<std::string, std::string>> solvers = {
    {"cg", "icc"}, {"gmres", "ilu"}, {"bcgs", "ilu"}, {"cg", "jacobi"}};

std::string petsc_pc(const std::string& type) {
  return type == "jacobi" || ranks() == 1 ? "-pc_type " + type : "-pc_type bjacobi -sub_pc_type " + type;
}

TEST_F(Cuda, HostDataGivesTheIterationsOfPetsc) {
  for (const auto& [ksp, type] : solvers) {
    const OwnedMat a = make_matrix(ksp == "cg" ? poisson() : convection());
    const Solve theirs = solve(a, words({"-ksp_type", ksp, petsc_pc(type)}));
    const Solve ours =
        solve(a, words({"-ksp_type", ksp, "-pc_type taskdag -pc_taskdag_backend cuda -pc_taskdag_type", type}));
    ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_GT(theirs.reason, 0);
    EXPECT_EQ(ours.iterations, theirs.iterations) << ksp << " " << type;
    if (rank() == 0) {
      EXPECT_NE(ours.view.find("backend: cuda"), std::string::npos) << ours.view;
    }
  }
}

TEST_F(Cuda, AutoTakesTheGpuFromTheThresholdOn) {
  const OwnedMat a = make_matrix(poisson());
  const Solve large = solve(a, "-pc_type taskdag -taskdag_auto_min_rows 10");
  const Solve small = solve(a, "-pc_type taskdag -taskdag_auto_min_rows 1000000");
  if (rank() != 0) return;
  EXPECT_NE(large.view.find("backend: cuda"), std::string::npos) << large.view;
  EXPECT_NE(small.view.find("backend: host"), std::string::npos) << small.view;
}

TEST_F(Cuda, IsCalibratedWhereThatIsAskedFor) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const std::string folder = testing::TempDir() + "taskdag_calibrate_" + std::to_string(::getpid());
  ::setenv("TASKDAG_CACHE_DIR", folder.c_str(), 1);
  const OwnedMat a = make_matrix(poisson());
  const std::string on_gpu = "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend cuda";
  const Solve usual = solve(a, on_gpu);
  const Solve calibrated = solve(a, on_gpu + " -taskdag_calibrate");
  ::unsetenv("TASKDAG_CACHE_DIR");
  std::filesystem::remove_all(folder);
  EXPECT_NE(usual.view.find("rates: launch "), std::string::npos) << usual.view;
  EXPECT_NE(calibrated.view.find("(calibrated, " + folder + "/rates.json)"), std::string::npos) << calibrated.view;
}

TEST_F(Cuda, RanksThatShareAGpuPutTheirBlocksTogether) {
  SKIP_UNLESS_RANKS(ranks() > 1, "several ranks");
  if (probe_devices().devices > 1) GTEST_SKIP() << "the ranks have " << probe_devices().message;
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_ordering natural ";
  std::vector<MatType> types{MATAIJ};
  if (petsc_has_cuda) types.push_back(MATAIJCUSPARSE);
  const Solve one = solve(make_local_matrix(poisson()), ours + "-pc_taskdag_backend cuda");
  for (MatType type : types) {
    const OwnedMat a = make_matrix(poisson(), type);
    const Solve together = solve(a, ours + "-pc_taskdag_backend cuda -pc_taskdag_consolidate auto");
    ASSERT_EQ(static_cast<int>(together.code), 0) << together.message;
    EXPECT_EQ(together.iterations, one.iterations) << type;
    if (rank() == 0) {
      EXPECT_NE(together.view.find("ranks put together to 1"), std::string::npos) << together.view;
    }
  }
}

TEST_F(DeviceData, GivesTheIterationsOfPetscOnTheHost) {
  for (const auto& [ksp, type] : solvers)
    for (const char* ordering : {"natural", "taskdag_rcm", "taskdag_bmc", "taskdag_color"}) {
      if (type == "jacobi" && std::string(ordering) != "natural") continue;
      const CsrMatrix csr = ksp == "cg" ? poisson() : convection();
      const OwnedMat host = make_matrix(csr);
      const OwnedMat device = make_matrix(csr, MATAIJCUSPARSE);
      const std::string ordering_option =
          ranks() == 1 ? "-pc_factor_mat_ordering_type" : "-sub_pc_factor_mat_ordering_type";
      const Solve theirs = solve(host, words({"-ksp_type", ksp, petsc_pc(type), ordering_option, ordering}));
      const Solve ours = solve(device, words({"-ksp_type", ksp, "-pc_type taskdag -pc_taskdag_type", type,
                                              "-pc_factor_mat_ordering_type", ordering}));
      ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
      EXPECT_GT(theirs.reason, 0);
      EXPECT_EQ(ours.iterations, theirs.iterations) << ksp << " " << type << " " << ordering;
      if (rank() == 0) {
        EXPECT_NE(ours.view.find("backend: cuda (the matrix is in device memory)"), std::string::npos) << ours.view;
      }
    }
}

TEST_F(DeviceData, PackageGivesTheIterationsOfPetscOnTheHost) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const std::string& type : {std::string("ilu"), std::string("icc")}) {
    const OwnedMat host = make_matrix(poisson());
    const OwnedMat device = make_matrix(poisson(), MATAIJCUSPARSE);
    const Solve theirs = solve(host, "-ksp_type cg -pc_type " + type);
    const Solve ours = solve(device, "-ksp_type cg -pc_factor_mat_solver_type taskdag -pc_type " + type);
    ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_EQ(ours.iterations, theirs.iterations) << type;
    EXPECT_NE(ours.view.find("backend: cuda (the matrix is in device memory)"), std::string::npos) << ours.view;
  }
}

TEST_F(DeviceData, HostBackendOnDeviceDataGivesTheSame) {
  const OwnedMat device = make_matrix(convection(), MATAIJCUSPARSE);
  const Solve on_host = solve(device, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host");
  const Solve on_device =
      solve(device, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend cuda");
  ASSERT_EQ(static_cast<int>(on_host.code), 0) << on_host.message;
  EXPECT_EQ(on_host.iterations, on_device.iterations);
}

TEST_F(DeviceData, NewValuesOnTheDeviceAreTaken) {
  const OwnedMat host = make_matrix(convection());
  const OwnedMat device = make_matrix(convection(), MATAIJCUSPARSE);
  const OwnedPc pc = make_pc(device, "-pc_type taskdag -pc_taskdag_type ilu");
  const int symbolic = event_count("TaskDAGSymbolic");
  PETSC_OK(MatScale(host, 4.0));
  PETSC_OK(MatScale(device, 4.0));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
  const OwnedPc reference = make_pc(host, "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host");
  const OwnedVec b = make_vector(device);
  const OwnedVec x = make_vector(device);
  const OwnedVec c = make_vector(host);
  const OwnedVec y = make_vector(host);
  OwnedVec on_host = make_vector(host);
  PETSC_OK(PCApply(pc, b, x));
  PETSC_OK(PCApply(reference, c, y));
  PETSC_OK(VecCopy(x, on_host));
  EXPECT_LT(relative_difference(on_host, y), 1e-10);
}

TEST_F(DeviceData, TransposedAndBlockApplicationsAreThoseOfTheHost) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat host = make_matrix(convection());
  const OwnedMat device = make_matrix(convection(), MATAIJCUSPARSE);
  const OwnedPc p = make_pc(device, "-pc_type taskdag -pc_taskdag_type ilu");
  const OwnedPc q = make_pc(host, "-pc_type ilu");
  const OwnedVec b = make_vector(device);
  const OwnedVec x = make_vector(device);
  const OwnedVec c = make_vector(host);
  const OwnedVec y = make_vector(host);
  OwnedVec on_host = make_vector(host);
  PETSC_OK(PCApplyTranspose(p, b, x));
  PETSC_OK(PCApplyTranspose(q, c, y));
  PETSC_OK(VecCopy(x, on_host));
  EXPECT_LT(relative_difference(on_host, y), 1e-10);
}

TEST_F(DeviceData, AnApplicationCopiesNothing) {
#if defined(PETSC_HAVE_DEVICE)
  for (const char* type :
       {"ilu", "icc", "jacobi", "sor", "dilu", "dic", "auto", "sor -pc_taskdag_sor_its 3",
        "sor -pc_taskdag_sor_local_forward -pc_taskdag_sor_its 2", "sor -pc_taskdag_sor_local_backward",
        "jacobi -pc_taskdag_jacobi_type block", "jacobi -pc_taskdag_jacobi_type block -pc_taskdag_jacobi_sweeps 2"}) {
    const OwnedMat a = make_matrix(poisson(), MATAIJCUSPARSE);
    const OwnedPc pc = make_pc(a, std::string("-pc_type taskdag -pc_taskdag_type ") + type);
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    PETSC_OK(PCApply(pc, b, x));  // brings b to the device
    const PetscEventPerfInfo before = event_info("TaskDAGApply");
    for (int k = 0; k < 10; ++k) PETSC_OK(PCApply(pc, b, x));
    const PetscEventPerfInfo after = event_info("TaskDAGApply");
    if (ranks() == 1) {  // on several, each of SOR's iterations is a call
      EXPECT_EQ(after.count, before.count + 10);
    }
    EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount) << type;
    EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount) << type;
    EXPECT_GT(after.GpuFlops, before.GpuFlops) << type;
  }
#endif
}

TEST_F(DeviceData, AnApplicationToABlockCopiesNothingAndIsThatOfItsColumns) {
#if defined(PETSC_HAVE_CUDA)
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(convection(), MATAIJCUSPARSE);
  PetscInt rows = 0;
  PETSC_OK(MatGetSize(a, &rows, nullptr));
  for (const PetscInt columns : {2, 9, 33}) {
    const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_type ilu");
    OwnedMat b;
    OwnedMat x;
    for (OwnedMat* dense : {&b, &x}) {
      PETSC_OK(MatCreateSeqDenseCUDA(PETSC_COMM_SELF, rows, columns, nullptr, dense->out()));
      PETSC_OK(MatSetRandom(*dense, nullptr));
    }
    PETSC_OK(PCMatApply(pc, b, x));  // brings b to the device
    const PetscEventPerfInfo before = event_info("TaskDAGApply");
    for (int k = 0; k < 3; ++k) PETSC_OK(PCMatApply(pc, b, x));
    const PetscEventPerfInfo after = event_info("TaskDAGApply");
    EXPECT_EQ(after.count, before.count + 3);
    EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount) << columns;
    EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount) << columns;
    for (PetscInt k = 0; k < columns; ++k) {
      Vec right = nullptr;
      Vec column = nullptr;
      const OwnedVec single = make_vector(a);
      PETSC_OK(MatDenseGetColumnVecRead(b, k, &right));
      PETSC_OK(PCApply(pc, right, single));
      PETSC_OK(MatDenseRestoreColumnVecRead(b, k, &right));
      PETSC_OK(MatDenseGetColumnVecRead(x, k, &column));
      EXPECT_LT(relative_difference(column, single), 1e-12) << "column " << k;
      PETSC_OK(MatDenseRestoreColumnVecRead(x, k, &column));
    }
  }
#endif
}

TEST_F(DeviceData, SorGivesTheIterationsOfPetscOnTheHost) {
  const ScopedOptions no_inode("-mat_no_inode");
  const OwnedMat host = make_matrix(convection());
  const OwnedMat device = make_matrix(convection(), MATAIJCUSPARSE);
  for (const std::string sweep : {"local_symmetric", "local_forward", "local_backward"}) {
    for (const std::string ksp : {"gmres", "richardson -ksp_max_it 500"}) {
      SCOPED_TRACE(ksp + " " + sweep);
      const Solve theirs = solve(host, "-mat_no_inode -pc_type sor -pc_sor_" + sweep + " -ksp_type " + ksp);
      const Solve ours =
          solve(device, "-pc_type taskdag -pc_taskdag_type sor -pc_taskdag_sor_" + sweep + " -ksp_type " + ksp);
      ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
      EXPECT_GT(theirs.reason, 0);
      EXPECT_EQ(ours.iterations, theirs.iterations);
      if (rank() == 0) {
        EXPECT_NE(ours.view.find("backend: cuda (the matrix is in device memory)"), std::string::npos) << ours.view;
      }
    }
  }
}

TEST_F(DeviceData, EisenstatsTrickCopiesNothing) {
#if defined(PETSC_HAVE_DEVICE)
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const std::string type : {"dic", "sor", "dic -pc_taskdag_eisenstat_scaling symmetric"}) {
    SCOPED_TRACE(type);
    const OwnedMat a = make_matrix(poisson(), MATAIJCUSPARSE);
    const std::string cg = "-ksp_type cg -ksp_norm_type natural -pc_type taskdag -pc_taskdag_ordering natural ";
    const Solve plain = solve(a, cg + "-pc_taskdag_type " + type);
    const PetscEventPerfInfo before = event_info("TaskDAGApply");
    const Solve trick = solve(a, cg + "-pc_taskdag_eisenstat -pc_taskdag_type " + type);
    const PetscEventPerfInfo after = event_info("TaskDAGApply");
    ASSERT_EQ(static_cast<int>(trick.code), 0) << trick.message;
    EXPECT_GT(trick.reason, 0);
    EXPECT_EQ(trick.iterations, plain.iterations);
    EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount);
    EXPECT_LE(after.CpuToGpuCount, before.CpuToGpuCount + 1);  // the right-hand side of the test
  }
#endif
}

TEST_F(DeviceData, ZeroPivotStopsTheSolve) {
  CsrMatrix csr = poisson();
  csr.values[static_cast<std::size_t>(0)] = 0.0;  // the first row's diagonal comes first
  const OwnedMat a = make_matrix(csr, MATAIJCUSPARSE);
  const Solve result = solve(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu");
  ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
  EXPECT_EQ(result.reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(result.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
}

}  // namespace
}  // namespace taskdag::test
