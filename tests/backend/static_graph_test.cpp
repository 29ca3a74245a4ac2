// The schedule of the solvers as a program of the task engine: one task per row, in schedule order, never queued. The
// task's mathematics is the solvers' own (kernels/sptrsv/task.hpp).
#include "taskdag/engine/static_graph.hpp"

#include "backends.hpp"
#include "base/handover.hpp"
#include "kernels/sptrsv/task.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag {
namespace {

struct Triangular {
  const Index* row;  // of a position
  const Offset* offsets;
  const Index* columns;  // of the strict triangle
  const double* values;
  const double* pivot;  // 1 / diagonal
  const double* b;
  double* x;
  engine::TaskFlags done;  // by row
};

/// The entries of a row, dealt out to the lanes of its worker.
struct RowEntries {
  const Triangular& problem;
  Offset first;
  Offset last;
  Offset stride;
  [[nodiscard]] TASKDAG_HD Index count() const {
    return first < last ? static_cast<Index>((last - first + stride - 1) / stride) : 0;
  }
  TASKDAG_HD void load(Index at, Index (&column)[1], double (&value)[1]) const {
    const Offset entry = first + at * stride;
    column[0] = problem.columns[entry];
    value[0] = problem.values[entry];
  }
};
struct FlaggedOperands {
  const Triangular& problem;
  TASKDAG_HD void wait(const Index (&column)[1], double (&operand)[1]) const {
    problem.done.wait(static_cast<std::uint32_t>(column[0]));
    operand[0] = problem.x[column[0]];
  }
};

template <int Lanes>
struct SolveRow {
  using Item = std::uint32_t;
  static constexpr auto name = "solve row";
  static constexpr engine::WorkerSize worker{Lanes};
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& position) {
    const Triangular& problem = context.data();
    const auto& group = context.group();
    const Index row = problem.row[position];
    const RowEntries entries{problem, problem.offsets[row] + group.rank(), problem.offsets[row + 1], group.size()};
    const double x =
        kernels::sptrsv_row<1>(group, entries, FlaggedOperands{problem}, problem.b[row], problem.pivot[row]);
    if (group.rank() == 0) {
      problem.x[row] = x;
      problem.done.publish(static_cast<std::uint32_t>(row));
    }
  }
};

TASKDAG_BACKEND_SUITE(StaticGraphTest, test::once_per_backend());

template <int Lanes>
void solve_in_schedule_order(const Context& context, const CsrMatrix& a, engine::Scheduler scheduler, int blocks) {
  using Row = SolveRow<Lanes>;
  using Program = engine::Program<Triangular, engine::PhaseQueue<engine::Phaseless<Row>>, engine::OrderedQueue>;
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<double> values;
  std::vector<double> pivots;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = a.col_indices[static_cast<std::size_t>(e)];
      if (j == i) pivots.push_back(1.0 / a.values[static_cast<std::size_t>(e)]);
      if (j >= i) continue;
      columns.push_back(j);
      values.push_back(a.values[static_cast<std::size_t>(e)]);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  if (static_cast<Index>(pivots.size()) != a.rows) return;
  const Schedule schedule = make_level_schedule(a.pattern(), Triangle::lower);
  const auto rows = static_cast<std::size_t>(a.rows);

  const engine::Array<Index> d_row(context, schedule.order());
  const engine::Array<Offset> d_offsets(context, offsets);
  const engine::Array<Index> d_columns(context, columns);
  const engine::Array<double> d_values(context, values);
  const engine::Array<double> d_pivots(context, pivots);
  engine::Array<double> d_b(context, rows);
  const engine::Array<double> d_x(context, rows);
  const engine::Array<std::uint32_t> d_flags(context, rows);
  engine::Runner<Program> runner(context);
  for (std::uint32_t run = 1; run <= 2; ++run) {
    std::vector<double> b = test::right_hand_side(a.rows);
    for (double& value : b) value *= run;
    d_b.upload(b);
    runner.template order<Row>(static_cast<std::uint32_t>(a.rows));
    const engine::Report report = runner.run({d_row.data(),
                                              d_offsets.data(),
                                              d_columns.data(),
                                              d_values.data(),
                                              d_pivots.data(),
                                              d_b.data(),
                                              d_x.data(),
                                              {d_flags.data(), run}},
                                             {.scheduler = scheduler, .blocks = blocks, .watchdog_ms = 20000});
    ASSERT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), rows);
    EXPECT_LE(test::triangular_error(a, {}, b, d_x.download()), 1.0);
  }
}

TEST_P(StaticGraphTest, AScheduleIsAProgramOfTheEngine) {
  for (const test::Problem& problem : test::small_problems()) {
    for (const engine::Scheduler scheduler :
         {engine::Scheduler::megakernel, engine::Scheduler::timesliced, engine::Scheduler::device_controller}) {
      for (const int blocks : {0, 1}) {
        SCOPED_TRACE(problem.name + ", " + to_string(scheduler) + ", " + std::to_string(blocks) + " blocks");
        solve_in_schedule_order<1>(context(), problem.a, scheduler, blocks);
        solve_in_schedule_order<8>(context(), problem.a, scheduler, blocks);
        solve_in_schedule_order<32>(context(), problem.a, scheduler, blocks);
      }
    }
  }
}

TEST_P(StaticGraphTest, AnOrderIsRefusedWhileOneIsLeft) {
  using Program = engine::Program<Triangular, engine::PhaseQueue<engine::Phaseless<SolveRow<1>>>, engine::OrderedQueue>;
  engine::Runner<Program> runner(context());
  runner.order<SolveRow<1>>(3);
  EXPECT_THROW(runner.order<SolveRow<1>>(3), InvalidInput);
}

}  // namespace
}  // namespace taskdag
