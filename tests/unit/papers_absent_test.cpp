// Without libtaskdag_papers its names say what to install, and a choice that was not asked for them does without.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/papers/papers.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/engine/trace.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/ordering.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {
namespace {

const Context& context() {
  static const Context one = Context::create({.backend = Backend::host, .threads = 2});
  return one;
}

TriangularSolver make(const TriangularOptions& options) {
  return {context(), make_stencil({.nx = 20, .ny = 20}).view(), MemorySpace::host, options};
}

/// What the call throws; empty: nothing.
template <class Call>
std::string words(const Call& call) {
  try {
    call();
  } catch (const Unsupported& error) {
    return error.what();
  }
  return {};
}

TEST(PapersAbsent, SchedulesSayWhatToInstall) {
  ASSERT_FALSE(kernels::has_papers());
  for (const SolveSchedule schedule : solve_schedules(Backend::host)) {
    const std::string said = words([&] { make({.schedule = schedule}); });
    if (!kernels::is_of_papers(Backend::host, schedule)) {
      EXPECT_EQ(said, "") << to_string(schedule);
      continue;
    }
    EXPECT_NE(said.find(std::string("the schedule ") + to_string(schedule)), std::string::npos) << said;
    EXPECT_NE(said.find("libtaskdag_papers.so"), std::string::npos) << said;
    EXPECT_NE(said.find("install it"), std::string::npos) << said;
  }
}

TEST(PapersAbsent, OrderingByTasksSaysWhatToInstall) {
  const CsrMatrix a = make_stencil({.nx = 5, .ny = 5});
  std::vector<Index> order(static_cast<std::size_t>(a.rows));
  const std::string said = words([&] {
    reverse_cuthill_mckee(context(), a.pattern(), MemorySpace::host, order.data(), MemorySpace::host,
                          OrderingOptions{.form = RcmForm::tasks});
  });
  EXPECT_NE(said.find("form tasks of reverse Cuthill-McKee"), std::string::npos) << said;
  EXPECT_NE(said.find("libtaskdag_papers.so"), std::string::npos) << said;
}

TEST(PapersAbsent, ColouringByTasksSaysWhatToInstall) {
  const CsrMatrix a = make_stencil({.nx = 5, .ny = 5});
  const std::string said =
      words([&] { multicolour(context(), a.pattern(), MemorySpace::host, {.form = ColourForm::speculative}); });
  EXPECT_NE(said.find("form speculative of a colouring"), std::string::npos) << said;
  EXPECT_NE(said.find("libtaskdag_papers.so"), std::string::npos) << said;
}

TEST(PapersAbsent, APlotSaysWhatToInstall) {
  const std::string said = words([] { engine::write_plot({}, Backend::host, "plot.svg"); });
  EXPECT_NE(said.find("the plot of a trace"), std::string::npos) << said;
  EXPECT_NE(said.find("libtaskdag_papers.so"), std::string::npos) << said;
}

TEST(PapersAbsent, JacobiByTasksSaysWhatToInstall) {
  const CsrMatrix a = make_stencil({.nx = 5, .ny = 5});
  const std::string said = words(
      [&] { const Jacobi jacobi(context(), a.view(), MemorySpace::host, {.sweeps = 5, .form = JacobiForm::stages}); });
  EXPECT_NE(said.find("form stages of Jacobi sweeps"), std::string::npos) << said;
  EXPECT_NE(said.find("libtaskdag_papers.so"), std::string::npos) << said;
}

TEST(PapersAbsent, TrialsLeaveThemOut) {
  EXPECT_EQ(words([] { make({.tune = true}); }), "");
}

}  // namespace
}  // namespace taskdag
