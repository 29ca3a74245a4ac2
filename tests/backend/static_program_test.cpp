// A triangular solve as a static program: one task per row, in level order. The task's mathematics is the solvers' own
// (kernels/sptrsv/task.hpp).
#include "backends.hpp"
#include "base/handover.hpp"
#include "kernels/sptrsv/task.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/device_code.hpp"
#include "support/effort.hpp"
#include "taskdag/engine/static/flags.hpp"
#include "taskdag/engine/static_runner.hpp"

namespace taskdag {
namespace {

using engine::Dependencies;
using engine::Scheduler;

struct Triangular {
  const Index* row;  // of a position
  const Offset* offsets;
  const Index* columns;  // of the strict triangle
  const double* values;
  const double* pivot;  // 1 / diagonal
  const double* b;
  double* x;
  std::uint32_t* done;  // by row: runs in which it has ended
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
  engine::TaskFlags done;
  TASKDAG_HD void wait(const Index (&column)[1], double (&operand)[1]) const {
    done.wait(static_cast<std::uint32_t>(column[0]));
    operand[0] = problem.x[column[0]];
  }
};

template <int Lanes>
struct SolveRow {
  using Item = std::uint32_t;
  static constexpr auto name = "solve row";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& position) {
    const Triangular& problem = context.data();
    const auto& group = context.group();
    const engine::TaskFlags done{problem.done, context.run()};
    const Index row = problem.row[position];
    const RowEntries entries{problem, problem.offsets[row] + group.rank(), problem.offsets[row + 1], group.size()};
    const double x =
        kernels::sptrsv_row<1>(group, entries, FlaggedOperands{problem, done}, problem.b[row], problem.pivot[row]);
    if (group.rank() == 0) {
      problem.x[row] = x;
      done.publish(static_cast<std::uint32_t>(row));
    }
  }
};

TASKDAG_BACKEND_SUITE(StaticProgramTest, test::once_per_backend());

struct LowerTriangle {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<double> values;
  std::vector<double> pivots;
  std::vector<Index> order;
  engine::StaticOrder tasks;

  explicit LowerTriangle(const CsrMatrix& a) {
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
    const Schedule schedule = make_level_schedule(a.pattern(), Triangle::lower);
    order = {schedule.order().begin(), schedule.order().end()};
    for (std::size_t level = 1; level < schedule.level_offsets().size(); ++level) {
      tasks.level_end.push_back(static_cast<std::uint32_t>(schedule.level_offsets()[level]));
    }
    tasks.tasks = {static_cast<std::uint32_t>(a.rows)};
    std::vector<std::uint32_t> position(order.size());
    for (std::size_t p = 0; p < order.size(); ++p)
      position[static_cast<std::size_t>(order[p])] = static_cast<std::uint32_t>(p);
    std::vector<std::vector<std::uint32_t>> after(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (Offset e = offsets[i]; e < offsets[i + 1]; ++e) {
        after[position[static_cast<std::size_t>(columns[static_cast<std::size_t>(e)])]].push_back(position[i]);
      }
    }
    tasks.successor_begin.push_back(0);
    for (const auto& one : after) {
      tasks.successor.insert(tasks.successor.end(), one.begin(), one.end());
      tasks.successor_begin.push_back(static_cast<std::uint32_t>(tasks.successor.size()));
    }
  }
  [[nodiscard]] bool has_all_pivots(const CsrMatrix& a) const {
    return pivots.size() == static_cast<std::size_t>(a.rows);
  }
};

template <int Lanes>
void solve_by_rows(const Context& context, const CsrMatrix& a, const engine::StaticOptions& options) {
  using Row = SolveRow<Lanes>;
  using Program = engine::StaticProgram<Triangular, engine::Types<Row>>;
  const LowerTriangle triangle(a);
  if (!triangle.has_all_pivots(a)) return;
  const auto rows = static_cast<std::size_t>(a.rows);
  const engine::Array<Index> d_row(context, triangle.order);
  const engine::Array<Offset> d_offsets(context, triangle.offsets);
  const engine::Array<Index> d_columns(context, triangle.columns);
  const engine::Array<double> d_values(context, triangle.values);
  const engine::Array<double> d_pivots(context, triangle.pivots);
  engine::Array<double> d_b(context, rows);
  const engine::Array<double> d_x(context, rows);
  const engine::Array<std::uint32_t> d_flags(context, rows);
  engine::Runner<Program> runner(context, triangle.tasks, options);
  for (int run = 1; run <= 3; ++run) {
    std::vector<double> b = test::right_hand_side(a.rows);
    for (double& value : b) value *= run;
    d_b.upload(b);
    const engine::Report report = runner.run({d_row.data(), d_offsets.data(), d_columns.data(), d_values.data(),
                                              d_pivots.data(), d_b.data(), d_x.data(), d_flags.data()});
    ASSERT_TRUE(report.finished()) << describe(report);
    EXPECT_EQ(report.executed(), rows * static_cast<std::size_t>(run));
    const bool individual = options.dependencies == Dependencies::individual;
    const bool phases = options.dependencies == Dependencies::phases;
    EXPECT_EQ(report.predecessor_waits,
              individual ? triangle.tasks.successor.size() * static_cast<std::size_t>(run) : 0U);
    EXPECT_EQ(report.level_waits,
              phases && rows > 0 ? (triangle.tasks.level_end.size() - 1) * static_cast<std::size_t>(run) : 0U);
    EXPECT_LE(test::triangular_error(a, {}, b, d_x.download()), 1.0);
  }
}

TEST_P(StaticProgramTest, ATriangularSolveByRows) {
  int first = 0;
  for (const test::Problem& problem : test::small_problems()) {
    int number = first++;
    for (const Dependencies dependencies : {Dependencies::ordered, Dependencies::individual, Dependencies::phases}) {
      for (const Scheduler scheduler :
           test::built({Scheduler::megakernel, Scheduler::timesliced, Scheduler::device_controller})) {
        for (const int blocks : {0, 1}) {
          if (scheduler != Scheduler::megakernel && blocks != 0) continue;
          if (test::kSanitized && number++ % 3 != 0) continue;
          SCOPED_TRACE(problem.name + ", " + to_string(dependencies) + ", " + to_string(scheduler) + ", " +
                       std::to_string(blocks) + " blocks");
          const engine::StaticOptions options{scheduler, dependencies, blocks};
          solve_by_rows<32>(context(), problem.a, options);
          if (dependencies == Dependencies::individual) continue;
          solve_by_rows<1>(context(), problem.a, options);
          solve_by_rows<8>(context(), problem.a, options);
        }
      }
    }
  }
}

/// Two types: a sum of what the first ones have published, by all of the second ones.
struct Relay {
  std::uint32_t first_tasks;
  std::uint32_t* done;
  std::uint32_t* seen;
};
struct Publish {
  using Item = std::uint32_t;
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    engine::TaskFlags{context.data().done, context.run()}.publish(task);
  }
};
struct Look {
  using Item = std::uint32_t;
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    const Relay& relay = context.data();
    const engine::TaskFlags flags{relay.done, context.run()};
    for (std::uint32_t k = 0; k < relay.first_tasks; ++k) flags.wait(k);
    relay.seen[task] += relay.first_tasks;
    if (task == 3) context.fail(17);
  }
};
using RelayProgram = engine::StaticProgram<Relay, engine::Types<Publish, Look>>;

TEST_P(StaticProgramTest, TypesFollowEachOtherWithoutWaitingForTheHost) {
  constexpr std::uint32_t kFirst = 70;
  constexpr std::uint32_t kSecond = 45;
  for (const Scheduler scheduler :
       test::built({Scheduler::megakernel, Scheduler::timesliced, Scheduler::device_controller})) {
    for (const Dependencies dependencies : {Dependencies::ordered, Dependencies::phases}) {
      SCOPED_TRACE(std::string(to_string(scheduler)) + ", " + to_string(dependencies));
      const engine::Array<std::uint32_t> done(context(), kFirst);
      const engine::Array<std::uint32_t> seen(context(), kSecond);
      engine::Runner<RelayProgram> runner(context(), {{kFirst, kSecond}, {kFirst, kFirst + kSecond}},
                                          {scheduler, dependencies});
      for (int run = 0; run < 100; ++run) runner.enqueue_run({kFirst, done.data(), seen.data()});
      const engine::Report report = runner.report();
      EXPECT_EQ(report.outcome, engine::Outcome::task_failed);
      EXPECT_NE(report.message.find("17"), std::string::npos) << report.message;
      ASSERT_EQ(report.types.size(), 2U);
      EXPECT_EQ(report.types[0].executed, 100U * kFirst);
      EXPECT_EQ(report.types[1].executed, 100U * kSecond);
      EXPECT_EQ(report.slices, 100U);
      EXPECT_EQ(seen.download(), std::vector<std::uint32_t>(kSecond, 100U * kFirst));
      EXPECT_EQ(done.download(), std::vector<std::uint32_t>(kFirst, 100U));
    }
  }
}

TEST_P(StaticProgramTest, AnOrderWithoutTasksRuns) {
  engine::Runner<RelayProgram> runner(context(), {{0, 0}, {}});
  EXPECT_TRUE(runner.run({}).finished());
}

TEST_P(StaticProgramTest, AWrongOrderIsRefused) {
  const auto refused = [&](const engine::StaticOrder& order, Dependencies dependencies) {
    EXPECT_THROW(engine::Runner<RelayProgram>(context(), order, {Scheduler::megakernel, dependencies}), InvalidInput);
  };
  refused({{1}}, Dependencies::ordered);                            // one type of two
  refused({{2, 2}, {3, 2, 4}}, Dependencies::ordered);              // levels do not ascend
  refused({{2, 2}, {2, 3}}, Dependencies::ordered);                 // levels end early
  refused({{2, 2}}, Dependencies::phases);                          // no levels
  refused({{2, 2}}, Dependencies::individual);                      // no successors
  refused({{1, 1}, {}, {0, 1, 1}, {0}}, Dependencies::individual);  // its own successor
  refused({{1, 1}, {}, {0, 0, 1}, {0}}, Dependencies::individual);  // a successor with a smaller number
  refused({{1, 1}, {}, {0, 1, 1}, {2}}, Dependencies::individual);  // no task
  refused({{1U << 30U, 1}}, Dependencies::ordered);                 // too many
}

}  // namespace
}  // namespace taskdag
