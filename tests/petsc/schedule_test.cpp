// Schedules by name, and tuning.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support.hpp"
#include "support/device_code.hpp"

namespace taskdag::test {
namespace {

/// A file name of this test's own, the file removed at the end.
class TuneFile {
 public:
  TuneFile() : path_(testing::TempDir() + "taskdag_petsc_tune_" + std::to_string(::getpid())) { remove(); }
  TuneFile(const TuneFile&) = delete;
  TuneFile& operator=(const TuneFile&) = delete;
  ~TuneFile() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool exists() const { return std::filesystem::exists(path_); }
  void write(const std::string& content) const { std::ofstream(path_) << content; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path_;
};

CsrMatrix convection() {
  return make_stencil(
      {.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11, .unknowns_per_node = 1, .wind = 0.5});
}

/// The line of the view that names the schedules.
std::string schedules_line(const std::string& view) {
  const std::size_t begin = view.find("schedules: ");
  return begin == std::string::npos ? "" : view.substr(begin, view.find('\n', begin) - begin);
}

void expect_all_schedules(Backend backend, const std::string& where) {
  const OwnedMat a = make_matrix(convection());
  const Solve reference =
      solve(a, std::string("-ksp_type gmres ") + (ranks() == 1 ? "-pc_type ilu" : "-pc_type bjacobi -sub_pc_type ilu"));
  for (const SolveSchedule schedule : solve_schedules(backend)) {
    const std::string name = to_string(schedule);
    if (name == "auto" || name == "blocks") continue;  // blocks: ordering_test.cpp
    if (name == "cells" && kOlderCode) continue;
    SCOPED_TRACE(name);
    const std::string option = words({where, "-pc_taskdag_schedule", name});
    const std::string line = words({"schedules: forward", name + ", backward", name});
    const Solve ours = solve(a, "-ksp_type gmres -pc_type taskdag " + option);
    ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_EQ(ours.iterations, reference.iterations);
    if (rank() == 0) {
      EXPECT_EQ(schedules_line(ours.view) + " ", line);
    }
    if (ranks() > 1) continue;
    const Solve package = solve(a, "-ksp_type gmres -pc_type ilu -pc_factor_mat_solver_type taskdag " + option);
    ASSERT_EQ(static_cast<int>(package.code), 0) << package.message;
    EXPECT_EQ(package.iterations, reference.iterations);
    EXPECT_EQ(schedules_line(package.view) + " ", line);
  }
}

TEST(Schedule, OfTheHostGivesTheIterationsOfPetscUnderEveryName) {
  expect_all_schedules(Backend::host, "-pc_taskdag_backend host -pc_taskdag_threads 3");
}

TEST(Schedule, OfCudaGivesTheIterationsOfPetscUnderEveryName) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  expect_all_schedules(Backend::cuda, "-pc_taskdag_backend cuda");
}

TEST(Schedule, ChosenByItselfIsNamedInTheView) {
  const OwnedMat a = make_matrix(convection());
  const Solve result = solve(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1");
  if (rank() != 0) return;
  EXPECT_EQ(schedules_line(result.view), "schedules: forward serial, backward serial (auto)");
}

TEST(Schedule, ChangedNameTakesEffectAfterASetup) {
  const OwnedMat a = make_matrix(convection());
  const std::string options = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 2 -pc_taskdag_schedule ";
  const OwnedPc pc = make_pc(a, options + "plan");
  const int symbolic = event_count("TaskDAGSymbolic");
  const ScopedOptions other(options + "level-set");
  PETSC_OK(PCSetFromOptions(pc));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1);
}

TEST(Schedule, OfAtaGivesTheIterationsOfTheHostWithEitherFlow) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_matrix(convection());
  for (const std::string type : {"ilu", "sor"}) {
    const std::string plain = words({"-ksp_type gmres -pc_type taskdag -pc_taskdag_type", type});
    const Solve reference = solve(a, words({plain, "-pc_taskdag_backend host"}));
    ASSERT_GT(reference.reason, 0) << reference.message;
    for (const std::string name : {"ata-concurrency", "ata-locality", "ata-greedy"}) {
      for (const std::string flow : {"pull", "push"}) {
        SCOPED_TRACE(words({type, name, flow}));
        const std::string option =
            words({"-pc_taskdag_backend cuda -pc_taskdag_schedule", name, "-pc_taskdag_ata_flow", flow});
        const Solve ours = solve(a, words({plain, option}));
        ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
        EXPECT_EQ(ours.iterations, reference.iterations);
        if (rank() == 0) {
          EXPECT_NE(ours.view.find("flow of values: " + flow + '\n'), std::string::npos) << ours.view;
          EXPECT_NE(ours.view.find("size of tasks: equations\n"), std::string::npos) << ours.view;
        }
        if (ranks() > 1 || type == "sor") continue;
        const Solve package =
            solve(a, words({"-ksp_type gmres -pc_type ilu -pc_factor_mat_solver_type taskdag", option}));
        ASSERT_EQ(static_cast<int>(package.code), 0) << package.message;
        EXPECT_EQ(package.iterations, reference.iterations);
        EXPECT_NE(package.view.find("flow of values: " + flow + '\n'), std::string::npos) << package.view;
      }
    }
  }
}

TEST(Schedule, OfAtaGivesTheIterationsOfTheHostWithEitherSize) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_matrix(convection());
  for (const auto& [type, which] :
       {std::pair<std::string, std::string>{"ilu", "schedule"}, {"ilu", "factor_schedule"}, {"sor", "schedule"}}) {
    const std::string plain = words({"-ksp_type gmres -pc_type taskdag -pc_taskdag_type", type});
    const Solve reference = solve(a, words({plain, "-pc_taskdag_ordering natural -pc_taskdag_backend host"}));
    ASSERT_GT(reference.reason, 0) << reference.message;
    for (const std::string name : {"ata-concurrency", "ata-locality", "ata-greedy"}) {
      for (const std::string size : {"equations", "warps_and_levels"}) {
        SCOPED_TRACE(words({type, which, name, size}));
        const Solve ours = solve(a, words({plain, "-pc_taskdag_ordering natural -pc_taskdag_backend cuda",
                                           "-pc_taskdag_" + which, name, "-pc_taskdag_ata_size", size}));
        ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
        EXPECT_EQ(ours.iterations, reference.iterations);
        if (rank() == 0) {
          EXPECT_NE(ours.view.find("size of tasks: " + size + '\n'), std::string::npos) << ours.view;
        }
      }
    }
  }
}

TEST(Schedule, OfAtaAndLevelsGivesTheIterationsOfTheHostWithAWarpARow) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_matrix(convection());
  for (const std::string type : {"ilu", "sor"}) {
    const std::string plain = words({"-ksp_type gmres -pc_type taskdag -pc_taskdag_type", type});
    const Solve reference = solve(a, words({plain, "-pc_taskdag_backend host"}));
    ASSERT_GT(reference.reason, 0) << reference.message;
    for (const std::string name :
         {"level-launch", "level-graph", "level-barrier", "self", "ata-concurrency", "ata-locality", "ata-greedy"}) {
      for (const auto& [share, words_of_view] :
           {std::pair<std::string, std::string>{"true", "short rows share them"}, {"false", "one a row"}}) {
        SCOPED_TRACE(words({type, name, share}));
        const Solve ours = solve(a, words({plain, "-pc_taskdag_backend cuda -pc_taskdag_schedule", name,
                                           "-pc_taskdag_ata_rows_share_warps", share}));
        ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
        EXPECT_EQ(ours.iterations, reference.iterations);
        if (rank() == 0) {
          EXPECT_EQ(ours.view.find("warps of sweeps: " + words_of_view + '\n') != std::string::npos, name != "self")
              << ours.view;
        }
      }
    }
  }
}

void expect_all_factor_schedules(Backend backend) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7}));
  for (const auto& [type, ksp] :
       {std::pair<std::string, std::string>{"ilu", "gmres"}, {"icc", "cg"}, {"dilu", "gmres"}}) {
    const std::string plain = words({"-ksp_type", ksp, "-pc_type taskdag -pc_taskdag_type", type});
    const Solve reference = solve(a, words({plain, "-pc_taskdag_ordering natural -pc_taskdag_backend host"}));
    ASSERT_GT(reference.reason, 0) << reference.message;
    for (const FactorSchedule schedule : factor_schedules(backend)) {
      const std::string name = to_string(schedule);
      SCOPED_TRACE(words({type, name}));
      const std::string option =
          words({"-pc_taskdag_backend", to_string(backend), "-pc_taskdag_factor_schedule", name});
      const Solve ours = solve(a, words({plain, "-pc_taskdag_ordering natural", option}));
      ASSERT_EQ(static_cast<int>(ours.code), 0) << ours.message;
      EXPECT_EQ(ours.iterations, reference.iterations);
      const bool says = schedule != FactorSchedule::automatic && schedule != FactorSchedule::engine;
      if (rank() == 0) {
        EXPECT_EQ(ours.view.find("schedule of the numeric factorisation: " + name + '\n') != std::string::npos, says)
            << ours.view;
      }
      if (ranks() > 1 || type == "dilu") continue;
      const Solve package =
          solve(a, words({"-ksp_type", ksp, "-pc_type", type, "-pc_factor_mat_solver_type taskdag", option}));
      ASSERT_EQ(static_cast<int>(package.code), 0) << package.message;
      EXPECT_EQ(package.iterations, reference.iterations);
    }
  }
}

TEST(Schedule, OfTheFactorisationOnTheHostGivesTheSameIterations) { expect_all_factor_schedules(Backend::host); }

TEST(Schedule, OfTheFactorisationOnCudaGivesTheIterationsOfTheHost) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  expect_all_factor_schedules(Backend::cuda);
}

TEST(Schedule, OfTheFactorisationThatTheHostLacksIsRefusedInWords) {
  const OwnedMat a = make_matrix(convection());
  const std::string options = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_factor_schedule ";
  for (const FactorSchedule schedule : factor_schedules(Backend::cuda)) {
    const Solve solved = solve(a, options + to_string(schedule));
    if (std::ranges::count(factor_schedules(Backend::host), schedule) > 0) {
      EXPECT_EQ(static_cast<int>(solved.code), 0) << solved.message;
      continue;
    }
    EXPECT_NE(static_cast<int>(solved.code), 0) << to_string(schedule);
    EXPECT_NE(solved.message.find(std::string("the schedule ") + to_string(schedule) +
                                  " of a factorisation is not one of the host backend, which has auto, lists, engine"),
              std::string::npos)
        << solved.message;
  }
}

TEST(Schedule, OfTheFactorisationIsSetAndGotByName) {
  const OwnedMat a = make_matrix(convection());
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  for (const FactorSchedule schedule : factor_schedules(Backend::automatic)) {
    const char* got = nullptr;
    PETSC_OK(PCTaskDAGSetFactorSchedule(pc, to_string(schedule)));
    PETSC_OK(PCTaskDAGGetFactorSchedule(pc, &got));
    EXPECT_STREQ(got, to_string(schedule));
  }
}

TEST(Schedule, OtherThanAtaHasNoFlowNoSizeAndNoWarps) {
  const OwnedMat a = make_matrix(convection());
  const std::string options =
      "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ata_flow push "
      "-pc_taskdag_ata_size warps_and_levels -pc_taskdag_ata_rows_share_warps false";
  const Solve plain = solve(a, options);
  ASSERT_EQ(static_cast<int>(plain.code), 0) << plain.message;
  EXPECT_EQ(plain.view.find("flow of values"), std::string::npos) << plain.view;
  EXPECT_EQ(plain.view.find("size of tasks"), std::string::npos) << plain.view;
  EXPECT_EQ(plain.view.find("warps of sweeps"), std::string::npos) << plain.view;
  const Solve refused = solve(a, options + " -pc_taskdag_schedule ata-greedy");
  EXPECT_NE(static_cast<int>(refused.code), 0);
  EXPECT_NE(refused.message.find("ata-greedy"), std::string::npos) << refused.message;
}

TEST(Schedule, SizesOfAtaAreTwoAndOthersAreRefusedInWords) {
  const OwnedMat a = make_matrix(convection());
  const std::string options = "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ata_size ";
  for (const char* const size : {"equations", "warps_and_levels"}) {
    const OwnedPc pc = make_pc(a, options + size);
    const char* got = nullptr;
    PETSC_OK(PCTaskDAGGetATASize(pc, &got));
    EXPECT_STREQ(got, size);
  }
  for (const char* const size : {"paper", "warps", "2"}) {
    const Solve refused = solve(a, options + size);
    EXPECT_NE(static_cast<int>(refused.code), 0) << size;
    for (const char* const word : {"-pc_taskdag_ata_size", size, "equations", "warps_and_levels"}) {
      EXPECT_NE(refused.message.find(word), std::string::npos) << refused.message;
    }
  }
}

/// Another value of an option of ATA needs another analysis.
void expect_setup_after(const std::string& option, const std::string& first, const std::string& second) {
  const OwnedMat a = make_matrix(convection());
  const bool device = probe_devices().devices > 0;
  const std::string options = words({"-pc_type taskdag",
                                     device ? "-pc_taskdag_backend cuda -pc_taskdag_schedule ata-greedy"
                                            : "-pc_taskdag_backend host -pc_taskdag_schedule plan",
                                     option + " "});
  const OwnedPc pc = make_pc(a, options + first);
  const int symbolic = event_count("TaskDAGSymbolic");
  const ScopedOptions other(options + second);
  PETSC_OK(PCSetFromOptions(pc));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1) << option;
}

TEST(Schedule, ChangedFlowTakesEffectAfterASetup) { expect_setup_after("-pc_taskdag_ata_flow", "pull", "push"); }

TEST(Schedule, ChangedSizeTakesEffectAfterASetup) {
  expect_setup_after("-pc_taskdag_ata_size", "equations", "warps_and_levels");
}

TEST(Schedule, ChangedWarpsTakeEffectAfterASetup) {
  expect_setup_after("-pc_taskdag_ata_rows_share_warps", "true", "false");
}

class Tuning : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_RANKS(ranks() == 1, "1 rank"); }
};

TEST_F(Tuning, NamesWhatItHasFoundAndKeepsIt) {
  const OwnedMat a = make_matrix(convection());
  const TuneFile file;
  for (const std::string& ours :
       {std::string("-pc_type taskdag"), std::string("-pc_type ilu -pc_factor_mat_solver_type taskdag")}) {
    const std::string options =
        "-ksp_type gmres -pc_taskdag_backend host -pc_taskdag_threads 2 -pc_taskdag_tune_file " + file.path() + " " +
        ours;
    const Solve tuned = solve(a, options + " -pc_taskdag_tune");
    ASSERT_EQ(static_cast<int>(tuned.code), 0) << tuned.message;
    ASSERT_TRUE(file.exists());
    const std::string content = file.content();
    const Solve again = solve(a, options);
    ASSERT_EQ(static_cast<int>(again.code), 0) << again.message;
    EXPECT_EQ(schedules_line(again.view), schedules_line(tuned.view));
    EXPECT_EQ(again.iterations, tuned.iterations);
    EXPECT_EQ(file.content(), content);
  }
}

TEST_F(Tuning, TakesWhatTheFileHoldsWithoutTrials) {
  const OwnedMat a = make_matrix(convection());
  const TuneFile file;
  const std::string options =
      "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 2 -pc_taskdag_tune "
      "-pc_taskdag_tune_file " +
      file.path();
  ASSERT_EQ(static_cast<int>(solve(a, options).code), 0);
  // Whatever has been found: from now on it is something else.
  std::string content = file.content();
  const std::string key = "\"schedule\": \"";
  for (std::size_t at = content.find(key); at != std::string::npos; at = content.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    content.replace(begin, content.find('"', begin) - begin, "hdagg");
  }
  file.write(content);
  const Solve result = solve(a, options);
  ASSERT_EQ(static_cast<int>(result.code), 0) << result.message;
  EXPECT_EQ(schedules_line(result.view), "schedules: forward hdagg, backward hdagg (auto)");
}

TEST_F(Tuning, FileThatIsNoneIsAnErrorThatNamesIt) {
  const OwnedMat a = make_matrix(convection());
  const TuneFile file;
  file.write("{}");
  const Solve result =
      solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_tune -pc_taskdag_tune_file " + file.path());
  EXPECT_EQ(static_cast<int>(result.code), PETSC_ERR_LIB);
  EXPECT_NE(result.message.find(file.path()), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("not a file of tuned schedules"), std::string::npos) << result.message;
  EXPECT_EQ(file.content(), "{}");
}

}  // namespace
}  // namespace taskdag::test
