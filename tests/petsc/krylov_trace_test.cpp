// -taskdag_ksp_trace: the file of a recorded iteration, and a solve that is no other one for it. On any number of
// ranks.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

/// A file's name, the same on all ranks, and what the plugin makes of it on this one.
class TraceFiles {
 public:
  TraceFiles() {
    name_ = std::filesystem::temp_directory_path() / ("taskdag_ksp_trace_" + std::to_string(number()) + ".json");
    mine_ = ranks() > 1 ? name_ + "." + std::to_string(rank()) : name_;
  }
  TraceFiles(const TraceFiles&) = delete;
  TraceFiles& operator=(const TraceFiles&) = delete;
  ~TraceFiles() { remove(); }
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(mine_, ignored);
    std::filesystem::remove(mine_ + ".svg", ignored);
  }
  [[nodiscard]] std::string option() const { return " -taskdag_ksp_trace " + name_ + " "; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(mine_); }
  [[nodiscard]] nlohmann::json content() const {
    std::ifstream file(mine_, std::ios::binary);
    return nlohmann::json::parse(file);
  }

 private:
  /// The first rank's process.
  static int number() {
    int number = static_cast<int>(::getpid());
    EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, 0, PETSC_COMM_WORLD), MPI_SUCCESS);
    return number;
  }
  std::string name_;
  std::string mine_;
};

class KrylovTrace : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
    const Outcome any = solve_of(poisson(), type(), kOurs + "-ksp_type cg -pc_type jacobi");
    if (any.view.find("share a GPU") != std::string::npos) GTEST_SKIP() << any.view;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovTrace, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

/// Names of the spans, in the order of the file, which is that of their starts.
std::vector<std::string> names_in(const nlohmann::json& trace) {
  std::vector<std::string> names;
  double before = 0.0;
  for (const nlohmann::json& e : trace.at("traceEvents")) {
    if (e.at("ph") != "X") continue;
    EXPECT_GE(e.at("ts").get<double>(), before);
    EXPECT_GE(e.at("dur").get<double>(), 0.0);
    before = e.at("ts").get<double>();
    names.push_back(e.at("name").get<std::string>());
  }
  return names;
}

void expect_same_bits(const Outcome& traced, const Outcome& plain) {
  EXPECT_EQ(traced.loops, plain.loops);
  EXPECT_EQ(traced.reason, plain.reason);
  EXPECT_EQ(traced.iterations, plain.iterations);
  EXPECT_EQ(traced.history, plain.history);
}

TEST_P(KrylovTrace, IsWrittenForEveryMethodWhoseSolveStaysTheSame) {
  const TraceFiles files;
  for (const Kind& kind : kinds()) {
    for (const char* const pc : {"jacobi", "taskdag -pc_taskdag_type ilu"}) {
      const std::string options = kOurs + kind.chosen() + " -ksp_norm_type " + kind.norms[0] + " -ksp_pc_side " +
                                  kind.sides[0] + " -pc_type " + pc;
      SCOPED_TRACE(options);
      const CsrMatrix csr = kind.symmetric ? poisson() : convection();
      const Outcome plain = solve_of(csr, type(), options);
      if (!is_there(plain)) continue;
      ASSERT_EQ(plain.loops, 1) << plain.view;
      EXPECT_FALSE(files.is_there());
      expect_same_bits(solve_of(csr, type(), options + files.option()), plain);
      ASSERT_TRUE(files.is_there());

      const nlohmann::json trace = files.content();
      EXPECT_EQ(trace.at("otherData").at("dropped_events"), 0);
      const std::vector<std::string> names = names_in(trace);
      EXPECT_EQ(names.size(), trace.at("otherData").at("events").get<std::size_t>());
      for (const std::string& name : names) EXPECT_TRUE(name.starts_with("iteration: ")) << name;
      const auto applications = std::ranges::count(names, "iteration: preconditioner");
      const bool calls = std::string(pc) != "jacobi";
      EXPECT_EQ(applications, !calls ? 0 : kind.name == "bcgs" ? 2 : 1);
      const std::set<std::string> all(names.begin(), names.end());
      EXPECT_GE(all.size(), calls ? 2U : 1U);
      files.remove();
    }
  }
}

PetscErrorCode count_calls(KSP /*ksp*/, PetscInt /*iteration*/, PetscReal /*norm*/, void* calls) {
  ++*static_cast<int*>(calls);
  return static_cast<PetscErrorCode>(0);
}

/// Then iterations are made one by one, and the first of them alone is recorded.
TEST_P(KrylovTrace, IsThatOfTheFirstIterationWhereAMonitorHasItsTurn) {
  const TraceFiles files;
  const std::string options =
      kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2";
  const Outcome plain = solve_of(poisson(), type(), options);
  const Case with = make_case(poisson(), type(), options);
  int calls = 0;
  PETSC_OK(KSPMonitorSet(with.ksp, count_calls, &calls, nullptr));
  expect_same_bits(solve_in(with, options + files.option()), plain);
  EXPECT_EQ(calls, plain.iterations + 1);
  ASSERT_TRUE(files.is_there());
  const std::vector<std::string> names = names_in(files.content());
  EXPECT_EQ(std::ranges::count(names, "iteration: preconditioner"), 1);
}

TEST_P(KrylovTrace, IsAskedForWithThePrefixOfTheKsp) {
  const TraceFiles files;
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(KSPSetOptionsPrefix(with.ksp, "inner_"));
  EXPECT_EQ(solve_in(with, options + files.option()).loops, 1);
  EXPECT_FALSE(files.is_there());
  EXPECT_EQ(solve_in(with, options + " -inner_taskdag_ksp_trace " + files.name()).loops, 1);
  EXPECT_TRUE(files.is_there());
}

TEST_P(KrylovTrace, IsNotWrittenForASolveWithoutIterations) {
  const TraceFiles files;
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(VecSet(with.b, 0.0));
  const Outcome outcome = solve_in(with, options + files.option());
  EXPECT_EQ(outcome.loops, 1);
  EXPECT_EQ(outcome.iterations, 0);
  EXPECT_FALSE(files.is_there());
}

/// Also where one rank alone is told to write one.
TEST_P(KrylovTrace, ThatCannotBeWrittenIsAnErrorOnAllRanks) {
  const QuietErrors errors;
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const std::string mine = rank() == ranks() - 1 ? " -taskdag_ksp_trace /no/such/folder/trace.json" : "";
  const Case with = make_case(poisson(), type(), options);
  EXPECT_NE(static_cast<int>(solve_in(with, options + mine).code), 0);
  EXPECT_EQ(solve_in(with, options).loops, 1);  // the KSP is of use all the same
}

TEST_P(KrylovTrace, NeedsTheNameOfAFile) {
  const QuietErrors errors;
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  EXPECT_EQ(static_cast<int>(solve_in(with, options + " -taskdag_ksp_trace").code), PETSC_ERR_ARG_OUTOFRANGE);
}

}  // namespace
}  // namespace taskdag::test
