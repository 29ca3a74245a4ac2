// Numbers of every kind in triangles, factors and Jacobi: every call ends and gives what the serial reference gives.
#include "fault/payload.hpp"

#include <memory>
#include <utility>

#include "fault/calls.hpp"

namespace taskdag::test {
namespace {

class PayloadTest : public PayloadFixture {};
INSTANTIATE_TEST_SUITE_P(On, PayloadTest, testing::ValuesIn(once_per_backend()),
                         [](const auto& parameter) { return name_of(parameter.param); });

TEST_P(PayloadTest, TrianglesGiveWhatTheReferenceGives) {
  for (const Problem& problem : problems()) {
    const CsrMatrix& a = problem.a;
    const std::vector<double> good = right_hand_side(a.rows);
    for (const SolveSchedule schedule : runnable_schedules(GetParam().backend)) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        TriangularOptions options;
        options.schedule = schedule;
        options.triangle = triangle;
        TriangularSolver solver = triangular(a, options);
        const Rows rows = rows_of(solver.info().schedule);
        for_each_number(a, triangle,
                        [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                          const std::string where = problem.name + ", " + to_string(schedule) + ", " + what;
                          watch(where);
                          CsrMatrix changed = a;
                          changed.values = values;
                          const std::vector<double> reference = reference_solve(changed, options, b);
                          Array<double> array = place(values);
                          solver.update_values(array.data(), space(), stream());
                          const std::vector<double> x = solve(solver, b);
                          EXPECT_TRUE(like(x, reference, rows)) << where;
                          EXPECT_EQ(solver.outcome(), outcome_of(rows == Rows::rewritten ? x : reference)) << where;
                          EXPECT_EQ(solver.outcome(), SolveOutcome::success) << where << ": asked again";
                        });
        // Nothing of it stays.
        Array<double> values = place(a.values);
        solver.update_values(values.data(), space(), stream());
        EXPECT_LE(triangular_error(a, options, good, solve(solver, good)), 1.0) << to_string(schedule);
        EXPECT_EQ(solver.outcome(), SolveOutcome::success) << to_string(schedule);
      }
    }
  }
}

TEST_P(PayloadTest, FactorsGiveWhatTheReferenceGives) {
  for (const Problem& problem : problems()) {
    const CsrMatrix& a = problem.a;
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      for (const SolveSchedule schedule : test::factor_schedules(GetParam().backend)) {
        if (schedule == SolveSchedule::cells && !device_has_cells()) continue;
        FactorOptions options;
        options.kind = kind;
        options.schedule = schedule;
        CsrMatrix ordered = a;
        if (schedule == SolveSchedule::blocks) {
          BlockOrdering blocks = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}),
                                                   a.pattern(), MemorySpace::host, {.block_size = 16});
          ordered = permuted(a, blocks.order, blocks.order);
          options.blocks = std::make_shared<const RowBlocks>(std::move(blocks.blocks));
        }
        Factorization f = factorization(ordered, options);
        const Rows rows = std::max(rows_of(f.info().lower_schedule), rows_of(f.info().upper_schedule));
        for_each_number(ordered, Triangle::upper,
                        [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                          const std::string where = problem.name + (kind == FactorKind::ic ? ", IC, " : ", ILU, ") +
                                                    to_string(schedule) + ", " + what;
                          watch(where);
                          CsrMatrix changed = ordered;
                          changed.values = values;
                          FactorStatus expected;
                          const CsrMatrix reference = reference_factor(changed, options, 0.0, expected);
                          const FactorStatus status = factor(f, values);
                          EXPECT_EQ(status.outcome, expected.outcome) << where;
                          EXPECT_EQ(status.first_row, expected.first_row) << where;
                          EXPECT_EQ(status.last_row, expected.last_row) << where;
                          const CsrMatrix computed = f.copy_factor();
                          // Rows that only sweeps hold, times a pivot that is not finite, do not come back.
                          const Rows entries = rows == Rows::scaled ? Rows::rewritten : Rows::as_they_are;
                          EXPECT_TRUE(like(computed.values, reference.values, entries)) << where << ": the factor";
                          for (const bool transposed : {false, true}) {
                            const std::vector<double> x = apply(f, transposed ? Apply::transposed : Apply::full, b);
                            const std::vector<double> right = reference_apply(computed, kind, transposed, b);
                            EXPECT_TRUE(like(x, right, rows)) << where << (transposed ? ", transposed" : "");
                            EXPECT_EQ(f.outcome(), outcome_of(rows == Rows::rewritten ? x : right))
                                << where << (transposed ? ", transposed" : "");
                          }
                        });
        EXPECT_TRUE(factor(f, ordered.values).ok()) << to_string(schedule);
        EXPECT_TRUE(all_finite(apply(f, Apply::full, right_hand_side(a.rows)))) << to_string(schedule);
        EXPECT_EQ(f.outcome(), SolveOutcome::success) << to_string(schedule);
      }
    }
  }
}

/// Sweeps as PETSc's: the first one is the diagonal's alone, so that entries do not meet a vector of zeros.
std::vector<double> jacobi_reference(const CsrMatrix& a, const JacobiOptions& options, const std::vector<double>& b) {
  std::vector<double> d(b.size());
  std::vector<double> x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    d[i] = a.values[entry_of(a, static_cast<Index>(i), true, Triangle::lower)];
    if (d[i] == 0.0) d[i] = 1.0;
    x[i] = b[i] / d[i];
  }
  for (int sweep = 1; sweep < options.sweeps; ++sweep) {
    std::vector<double> residual(b.size());
    multiply(a.view(), x, residual);
    for (std::size_t i = 0; i < b.size(); ++i) residual[i] = b[i] - residual[i];
    for (std::size_t i = 0; i < b.size(); ++i) x[i] += residual[i] / d[i];
  }
  return x;
}

TEST_P(PayloadTest, JacobiGivesWhatTheReferenceGives) {
  for (const Problem& problem : problems()) {
    for (const int sweeps : {1, 3}) {
      const JacobiOptions options{.sweeps = sweeps};
      Jacobi j = jacobi(problem.a, options);
      for_each_number(problem.a, Triangle::upper,
                      [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                        const std::string where = problem.name + ", " + std::to_string(sweeps) + " sweeps, " + what;
                        watch(where);
                        CsrMatrix changed = problem.a;
                        changed.values = values;
                        MatrixArrays arrays = place(changed);
                        j.update_values(arrays.view(), space(), stream());
                        EXPECT_TRUE(like(apply(j, b), jacobi_reference(changed, options, b), Rows::as_they_are))
                            << where;
                      });
    }
  }
}

}  // namespace
}  // namespace taskdag::test
