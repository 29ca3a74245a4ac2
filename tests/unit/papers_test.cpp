// With libtaskdag_papers beside libtaskdag its names work as any others: through the installed libraries' interface
// alone.
#include <gtest/gtest.h>

#include <vector>

#include "taskdag/block_ordering.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/ordering.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {
namespace {

std::vector<double> solve(SolveSchedule schedule) {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = make_stencil({.nx = 20, .ny = 20});
  TriangularSolver solver(context, a.view(), MemorySpace::host, {.schedule = schedule});
  std::vector<double> x(static_cast<std::size_t>(a.rows), 1.0);
  solver.solve(x.data(), x.data(), MemorySpace::host);
  return x;
}

TEST(PapersLibrary, SchedulesOfItGiveTheBitsOfOneThread) {
  const std::vector<double> expected = solve(SolveSchedule::serial);
  for (const SolveSchedule schedule :
       {SolveSchedule::pivotal_path, SolveSchedule::hdagg, SolveSchedule::level_set, SolveSchedule::point_to_point}) {
    EXPECT_EQ(solve(schedule), expected) << to_string(schedule);
  }
}

TEST(PapersLibrary, OrderingByTasksIsTheSerialOne) {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = make_stencil({.nx = 30, .ny = 30});
  const auto order = [&](RcmForm form) {
    std::vector<Index> result(static_cast<std::size_t>(a.rows));
    reverse_cuthill_mckee(context, a.pattern(), MemorySpace::host, result.data(), MemorySpace::host,
                          OrderingOptions{.form = form});
    return result;
  };
  EXPECT_EQ(order(RcmForm::tasks), order(RcmForm::walk));
}

TEST(PapersLibrary, ColouringByTasksColoursAGrid) {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = make_stencil({.nx = 30, .ny = 30});
  const BlockOrdering made = multicolour(context, a.pattern(), MemorySpace::host, {.form = ColourForm::speculative});
  EXPECT_EQ(made.order.size(), static_cast<std::size_t>(a.rows));
  EXPECT_GE(made.blocks.colour_offsets.size(), 3U);
}

TEST(PapersLibrary, JacobiByTasksGivesTheBitsOfKernels) {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = make_stencil({.nx = 30, .ny = 30});
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
  const auto sweeps = [&](JacobiForm form) {
    Jacobi jacobi(context, a.view(), MemorySpace::host, {.sweeps = 5, .form = form});
    std::vector<double> x(b.size());
    jacobi.apply(b.data(), x.data(), MemorySpace::host);
    return x;
  };
  const std::vector<double> expected = sweeps(JacobiForm::kernels);
  for (const JacobiForm form :
       {JacobiForm::stages_phases, JacobiForm::stages, JacobiForm::checkpoints, JacobiForm::autonomous}) {
    EXPECT_EQ(sweeps(form), expected) << to_string(form);
  }
}

}  // namespace
}  // namespace taskdag
