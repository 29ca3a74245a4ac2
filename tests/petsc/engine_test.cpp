// The preconditioner as a program of the task engine: whatever the scheduler and the kind of dependencies, the
// iterations are PETSc's own.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support.hpp"
#include "support/device_code.hpp"

namespace taskdag::test {
namespace {

CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 10, .nz = 9, .wind = 0.5});
}
CsrMatrix poisson() { return make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 10, .nz = 9}); }

void expect_iterations_of_petsc(const std::string& where, MatType type) {
  for (const std::string kind : {"ilu", "icc"}) {
    const CsrMatrix csr = kind == "icc" ? poisson() : convection();
    const OwnedMat host = make_matrix(csr);
    const OwnedMat a = make_matrix(csr, type);
    const std::string ksp = kind == "icc" ? "-ksp_type cg" : "-ksp_type gmres";
    for (const std::string ordering : {"natural", "taskdag_rcm", "taskdag_bmc"}) {
      const bool one = ranks() == 1;
      const Solve theirs =
          solve(host, words({ksp, one ? "-pc_type " + kind : "-pc_type bjacobi -sub_pc_type " + kind,
                             one ? "-pc_factor_mat_ordering_type" : "-sub_pc_factor_mat_ordering_type", ordering}));
      ASSERT_GT(theirs.reason, 0);
      for (const std::string scheduler : {"megakernel", "controller", "timesliced"}) {
        if (scheduler == "controller" && !kDeviceLink) continue;
        for (const std::string dependencies : {"ordered", "individual", "phases"}) {
          SCOPED_TRACE(words({kind, ordering, scheduler, dependencies}));
          const std::string option = words(
              {where, "-pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine -pc_taskdag_engine_scheduler",
               scheduler, "-pc_taskdag_engine_dependencies", dependencies, "-pc_factor_mat_ordering_type", ordering});
          const Solve ours = solve(a, words({ksp, "-pc_type taskdag -pc_taskdag_type", kind, option}));
          ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
          EXPECT_EQ(ours.iterations, theirs.iterations);
          if (rank() == 0) {
            EXPECT_NE(ours.view.find("numeric factorisation; both sweeps as one program, scheduler " + scheduler +
                                     ", dependencies " + dependencies),
                      std::string::npos)
                << ours.view;
          }
          if (!one) continue;
          const Solve package = solve(a, words({ksp, "-pc_factor_mat_solver_type taskdag -pc_type", kind, option}));
          ASSERT_EQ(static_cast<int>(package.code), 0) << package.message;
          EXPECT_EQ(package.iterations, theirs.iterations);
        }
      }
    }
  }
}

TEST(Engine, OnHostThreadsGivesTheIterationsOfPetsc) {
  expect_iterations_of_petsc("-pc_taskdag_backend host -pc_taskdag_threads 3", MATAIJ);
}

TEST(Engine, OnCudaGivesTheIterationsOfPetsc) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  expect_iterations_of_petsc("-pc_taskdag_backend cuda", MATAIJ);
}

#if defined(PETSC_HAVE_CUDA)
/// How often the program of both sweeps has run on rank 0, as the preconditioner's view has it from the engine's
/// report.
int runs_in_view(PC pc) {
  OwnedKsp ksp;
  EXPECT_EQ(static_cast<int>(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetPC(ksp, pc)), 0);
  const std::string view = view_text(ksp);
  const std::string line = "application: ";
  const std::size_t at = view.find(line);
  return at == std::string::npos ? 0 : std::atoi(view.c_str() + at + line.size());
}

TEST(Engine, CopiesNothingOfDeviceVectors) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_matrix(convection(), MATAIJCUSPARSE);
  for (const std::string dependencies : {"ordered", "individual", "phases"}) {
    const OwnedPc pc = make_pc(a,
                               "-pc_type taskdag -pc_taskdag_backend cuda -pc_taskdag_schedule engine "
                               "-pc_taskdag_engine_dependencies " +
                                   dependencies);
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    PETSC_OK(PCApply(pc, b, x));  // brings b to the device
    const int runs_before = runs_in_view(pc);
    const int programs_before = event_count("TaskDAGProgram");
    const PetscEventPerfInfo before = event_info("TaskDAGApply");
    for (int k = 0; k < 5; ++k) PETSC_OK(PCApply(pc, b, x));
    const PetscEventPerfInfo after = event_info("TaskDAGApply");
    EXPECT_EQ(after.count, before.count + 5);
    EXPECT_EQ(event_count("TaskDAGProgram"), programs_before + 5) << dependencies;
    const int runs_after = runs_in_view(pc);  // on all ranks
    EXPECT_EQ(runs_after - runs_before, rank() == 0 ? 5 : 0) << dependencies;
    EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount) << dependencies;
    EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount) << dependencies;
  }
}
#endif

TEST(Engine, ViewSaysWhatTasksWaitedFor) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix csr = poisson();
  const OwnedMat a = make_matrix(csr);
  for (const std::string backend : {"host", "cuda"}) {
    if (backend == "cuda" && probe_devices().devices == 0) continue;
    for (const auto& [dependencies, said] :
         {std::pair{"ordered", "waits: for values, in the tasks"},
          std::pair{"individual", " for the ends of predecessors"}, std::pair{"phases", " for the ends of levels"}}) {
      const Solve solved =
          solve(a, words({"-ksp_type richardson -ksp_max_it 3 -ksp_convergence_test skip -pc_type taskdag",
                          "-pc_taskdag_schedule engine -pc_taskdag_backend", backend, "-pc_taskdag_engine_dependencies",
                          dependencies}));
      ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
      const std::size_t line = solved.view.find("application: ");
      ASSERT_NE(line, std::string::npos) << solved.view;
      const std::string shown = solved.view.substr(line, solved.view.find('\n', line) - line);
      EXPECT_NE(shown.find(said), std::string::npos) << shown;
    }
  }
}

TEST(Engine, WritesWhatItsTasksDid) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(convection());
  const std::string file = testing::TempDir() + "taskdag_trace_" + std::to_string(::getpid()) + ".json";
  for (const std::string ours : {"-pc_type taskdag", "-pc_type ilu -pc_factor_mat_solver_type taskdag"}) {
    for (const std::string backend : {"host", "cuda"}) {
      if (backend == "cuda" && probe_devices().devices == 0) continue;
      SCOPED_TRACE(words({ours, backend}));
      const Solve solved =
          solve(a, words({"-ksp_type gmres", ours, "-pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine",
                          "-pc_taskdag_backend", backend, "-pc_taskdag_trace", file}));
      ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
      EXPECT_NE(solved.view.find("numeric factorisation: 1 runs"), std::string::npos) << solved.view;
      EXPECT_NE(solved.view.find("application: "), std::string::npos) << solved.view;
      std::ifstream trace(file);
      const std::string text{std::istreambuf_iterator<char>(trace), {}};
      EXPECT_NE(text.find("application: backward rows"), std::string::npos);
      EXPECT_NE(text.find("numeric factorisation: "), std::string::npos);
      EXPECT_NE(text.find("\"dropped_events\":0"), std::string::npos);
      EXPECT_TRUE(std::filesystem::exists(file + ".svg"));
      std::filesystem::remove(file);
      std::filesystem::remove(file + ".svg");
    }
  }
}

TEST(Engine, JacobiGivesTheSameIterationsInEveryForm) {
  const CsrMatrix csr = poisson();
  for (const std::string backend : {"host", "cuda"}) {
    if (backend == "cuda" && probe_devices().devices == 0) continue;
    const OwnedMat a = make_matrix(csr);
    const std::string jacobi =
        words({"-ksp_type cg -pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 3",
               "-pc_taskdag_jacobi_damping 0.7 -pc_taskdag_backend", backend});
    const Solve plain = solve(a, words({jacobi, "-pc_taskdag_jacobi_form kernels"}));
    ASSERT_GT(plain.reason, 0) << plain.message;
    for (const std::string form : {"stages-phases", "stages", "checkpoints", "autonomous", "tiles", "resident"}) {
      const bool program = form != "tiles" && form != "resident";
      for (const std::string scheduler : {"megakernel", "controller", "timesliced"}) {
        if (!program && scheduler != "megakernel") continue;
        SCOPED_TRACE(words({backend, form, scheduler}));
        const Solve ours =
            solve(a, words({jacobi, "-pc_taskdag_jacobi_form", form, "-pc_taskdag_jacobi_part_entries 100",
                            "-pc_taskdag_engine_scheduler", scheduler}));
        ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
        EXPECT_EQ(ours.iterations, plain.iterations);
        if (rank() != 0) continue;
        EXPECT_NE(ours.view.find("form: " + form), std::string::npos) << ours.view;
        EXPECT_EQ(ours.view.find("engine: the sweeps as one program, scheduler " + scheduler) != std::string::npos,
                  program)
            << ours.view;
        EXPECT_EQ(ours.view.find("tasks \"sweep a part\"") != std::string::npos, program) << ours.view;
      }
    }
  }
}

TEST(Engine, TracesJacobi) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(poisson());
  const std::string file = testing::TempDir() + "taskdag_jacobi_trace_" + std::to_string(::getpid()) + ".json";
  const Solve solved = solve(a,
                             "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 3 "
                             "-pc_taskdag_jacobi_form autonomous -pc_taskdag_trace " +
                                 file);
  ASSERT_EQ(static_cast<int>(solved.code), 0) << solved.message;
  std::ifstream trace(file);
  const std::string text{std::istreambuf_iterator<char>(trace), {}};
  EXPECT_NE(text.find("sweeps: sweep a part"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(file + ".svg"));
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".svg");
}

TEST(Engine, RunsOfProgramsAreAnEvent) {
  const auto count = [] { return event_count("TaskDAGProgram"); };
  const OwnedMat a = make_matrix(convection());
  for (const auto& [options, runs] : std::vector<std::pair<std::string, int>>{
           {"-pc_taskdag_schedule engine -pc_taskdag_factor_schedule engine", 4},
           {"-pc_taskdag_schedule engine", 3},
           {"-pc_taskdag_schedule auto", 0},
           {"-pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_form stages", 3},
           {"-pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_form kernels", 0}}) {
    const int before = count();
    const OwnedPc pc = make_pc(a, words({"-pc_type taskdag -pc_taskdag_backend host", options}));
    const OwnedVec b = make_vector(a);
    const OwnedVec x = make_vector(a);
    for (int k = 0; k < 3; ++k) PETSC_OK(PCApply(pc, b, x));
    EXPECT_EQ(count() - before, runs) << options;
  }
}

TEST(Engine, RefusesATraceOfNoProgram) {
  const OwnedMat a = make_matrix(convection());
  const Solve refused = solve(a, "-pc_type taskdag -pc_taskdag_trace nowhere.json");
  EXPECT_NE(static_cast<int>(refused.code), 0);
  EXPECT_NE(refused.message.find("-pc_taskdag_schedule engine"), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace taskdag::test
