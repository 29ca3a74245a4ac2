// Triangular solves with several right-hand sides at once, on both backends: every column as by itself.
#include <algorithm>
#include <limits>

#include "backends.hpp"
#include "columns.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using test::at;
using test::column;
using test::columns;
using test::kGap;
using test::Problem;

TASKDAG_BACKEND_SUITE(ManyTriangularTest, test::everywhere());

const std::vector<Index> kCounts =
    test::kSanitized ? std::vector<Index>{3, 33, 8} : std::vector<Index>{3, 33, 2, 8, 32, 31, 70};

std::vector<TriangularOptions> all_options(Index prepared) {
  std::vector<TriangularOptions> result;
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    for (const bool unit : {false, true}) {
      for (const bool transposed : {false, true}) {
        result.push_back({.triangle = triangle, .unit_diagonal = unit, .transposed = transposed, .columns = prepared});
      }
    }
  }
  return result;
}

class ManyCase {
 public:
  ManyCase(TriangularSolver& t, MemorySpace space, Stream stream, test::DeviceStream* device)
      : t_(t), space_(space), stream_(stream), device_(device) {}

  std::vector<double> operator()(Index count, const std::vector<double>& b, std::ptrdiff_t ldb,
                                 std::ptrdiff_t ldx) const {
    test::Array<double> in(device_, b);
    test::Array<double> out(device_, std::vector<double>(static_cast<std::size_t>(at(count, ldx)), kGap));
    t_.solve_many(count, in.data(), ldb, out.data(), ldx, space_, stream_);
    return out.read();
  }
  std::vector<double> in_place(Index count, const std::vector<double>& b, std::ptrdiff_t ld) const {
    test::Array<double> both(device_, b);
    t_.solve_many(count, both.data(), ld, both.data(), ld, space_, stream_);
    return both.read();
  }

 private:
  TriangularSolver& t_;
  MemorySpace space_;
  Stream stream_;
  test::DeviceStream* device_;
};

TEST_P(ManyTriangularTest, EveryColumnIsSolved) {
  const bool cuda = context().backend() == Backend::cuda;
  for (const Problem& problem : test::small_problems()) {
    const Index n = problem.a.rows;
    if (n == 0) continue;
    const std::vector<double> all = columns(n, std::ranges::max(kCounts), n);
    for (const Index prepared : cuda ? std::vector<Index>{1, 32} : std::vector<Index>{1}) {
      for (const TriangularOptions& options : all_options(prepared)) {
        if (cuda && prepared == 1 && options.unit_diagonal) continue;  // one after the other, whatever the options
        TriangularSolver t = triangular(problem.a, options);
        const ManyCase run(t, space(), stream(), device());
        std::vector<std::vector<double>> alone;
        alone.reserve(static_cast<std::size_t>(std::ranges::max(kCounts)));
        for (Index k = 0; k < std::ranges::max(kCounts); ++k) alone.push_back(solve(t, column(all, k, n, n)));
        for (const Index count : cuda ? std::vector<Index>{3, 33, 8} : kCounts) {
          SCOPED_TRACE(problem.name + (options.transposed ? ", transposed, " : ", ") + std::to_string(count) +
                       " columns, prepared for " + std::to_string(prepared));
          const std::vector<double> b(all.begin(), all.begin() + at(count, n));
          const std::vector<double> x = run(count, b, n, n);
          for (Index k = 0; k < count; ++k) {
            const std::vector<double> mine = column(x, k, n, n);
            if (!cuda || prepared == 1) {
              ASSERT_TRUE(test::same_bits(mine, alone[static_cast<std::size_t>(k)])) << "column " << k;
              continue;
            }
            // With a unit diagonal some of the matrices let x grow without bound: then both overflow.
            ASSERT_EQ(test::all_finite(mine), test::all_finite(alone[static_cast<std::size_t>(k)]));
            if (!test::all_finite(mine)) continue;
            ASSERT_LE(test::triangular_error(problem.a, options, column(b, k, n, n), mine), 1.0) << "column " << k;
          }
          EXPECT_TRUE(test::same_bits(run(count, b, n, n), x)) << "again";
          EXPECT_TRUE(test::same_bits(run.in_place(count, b, n), x)) << "in place";
        }
      }
    }
  }
}

TEST_P(ManyTriangularTest, LeadingDimensionsLeaveGapsAlone) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 0.4});
  const std::ptrdiff_t ldb = a.rows + 3;
  const std::ptrdiff_t ldx = a.rows + 11;
  TriangularSolver t = triangular(a, {.triangle = Triangle::upper, .columns = 32});
  const ManyCase run(t, space(), stream(), device());
  for (const Index count : kCounts) {
    const std::vector<double> b = columns(a.rows, count, ldb);
    const std::vector<double> x = run(count, b, ldb, ldx);
    for (Index k = 0; k < count; ++k) {
      EXPECT_LE(test::difference(column(x, k, ldx, a.rows), solve(t, column(b, k, ldb, a.rows))), test::kForwardBound);
      for (std::ptrdiff_t gap = at(k, ldx) + a.rows; gap < at(k + 1, ldx); ++gap) {
        ASSERT_EQ(x[static_cast<std::size_t>(gap)], kGap) << "between the vectors, " << gap;
      }
    }
  }
}

TEST_P(ManyTriangularTest, ANanStaysInItsColumn) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 23, .ny = 19});
  const Index n = a.rows;
  TriangularSolver t = triangular(a, {.columns = 32});
  const ManyCase run(t, space(), stream(), device());
  for (const Index count : {5, 32}) {
    std::vector<double> b = columns(n, count, n);
    const std::vector<double> clean = run(count, b, n, n);
    EXPECT_EQ(t.outcome(), SolveOutcome::success);
    const Index bad = count / 2;
    b[static_cast<std::size_t>(at(bad, n))] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> x = run(count, b, n, n);
    EXPECT_EQ(t.outcome(), SolveOutcome::non_finite);
    for (Index k = 0; k < count; ++k) {
      if (k == bad) {
        EXPECT_FALSE(test::all_finite(column(x, k, n, n)));
      } else {
        EXPECT_TRUE(test::same_bits(column(x, k, n, n), column(clean, k, n, n))) << "column " << k;
      }
    }
    EXPECT_TRUE(test::same_bits(run(count, columns(n, count, n), n, n), clean)) << "afterwards";
    EXPECT_EQ(t.outcome(), SolveOutcome::success);
  }
}

TEST_P(ManyTriangularTest, NewValuesAreTaken) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4});
  CsrMatrix other = a;
  other.values = test::other_values(a.values);
  for (const TriangularOptions& options : all_options(9)) {
    const std::vector<double> b = columns(a.rows, 9, a.rows);
    TriangularSolver used = triangular(a, options);
    TriangularSolver fresh = triangular(other, options);
    const std::vector<double> before = ManyCase(used, space(), stream(), device())(9, b, a.rows, a.rows);
    test::Array<double> values = place(other.values);
    used.update_values(values.data(), space(), stream());
    const std::vector<double> after = ManyCase(used, space(), stream(), device())(9, b, a.rows, a.rows);
    EXPECT_FALSE(test::same_bits(after, before));
    EXPECT_TRUE(test::same_bits(after, ManyCase(fresh, space(), stream(), device())(9, b, a.rows, a.rows)));
  }
}

// Rows long enough to be summed in parts, and strides that change.
TEST_P(ManyTriangularTest, LongRows) {
  const CsrMatrix a = test::arrow(1500);
  for (const TriangularOptions& options : all_options(32)) {
    if (options.unit_diagonal) continue;  // x grows without bound
    TriangularSolver t = triangular(a, options);
    const ManyCase run(t, space(), stream(), device());
    for (const Index count : {4, 16, 9, 32, 32, 4}) {
      const std::vector<double> b = columns(a.rows, count, a.rows);
      const std::vector<double> x = run(count, b, a.rows, a.rows);
      for (Index k = 0; k < count; ++k) {
        EXPECT_LE(test::triangular_error(a, options, column(b, k, a.rows, a.rows), column(x, k, a.rows, a.rows)), 1.0);
      }
    }
  }
}

TEST_P(ManyTriangularTest, AnyScheduleOfTheSingleSweep) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 80});
  const std::vector<double> b = columns(a.rows, 11, a.rows);
  for (const SolveSchedule schedule : test::runnable_schedules(context().backend())) {
    if (schedule == SolveSchedule::blocks) continue;  // needs RowBlocks
    SCOPED_TRACE(to_string(schedule));
    const TriangularOptions options{.triangle = Triangle::upper, .schedule = schedule, .columns = 32};
    TriangularSolver t = triangular(a, options);
    const std::vector<double> x = ManyCase(t, space(), stream(), device())(11, b, a.rows, a.rows);
    for (Index k = 0; k < 11; ++k) {
      EXPECT_LE(test::triangular_error(a, options, column(b, k, a.rows, a.rows), column(x, k, a.rows, a.rows)), 1.0);
    }
  }
}

// What is prepared is seen in the memory: without `columns`, CUDA holds nothing for several of them.
TEST_P(ManyTriangularTest, MemoryIsTakenOnce) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 20, .ny = 20, .nz = 20});
  TriangularSolver alone = triangular(a, {});
  TriangularSolver t = triangular(a, {.columns = 32});
  const bool cuda = context().backend() == Backend::cuda;
  EXPECT_EQ(t.info().bytes > alone.info().bytes, cuda);
  for (TriangularSolver* const solver : {&t, &alone}) {
    const ManyCase run(*solver, space(), stream(), device());
    const std::int64_t before = solver->info().bytes;
    static_cast<void>(run(32, columns(a.rows, 32, a.rows), a.rows, a.rows));
    const std::int64_t after = solver->info().bytes;
    EXPECT_EQ(after > before, !cuda || solver == &t);
    for (const Index count : {32, 5, 70}) {
      static_cast<void>(run(count, columns(a.rows, count, a.rows), a.rows, a.rows));
      EXPECT_EQ(solver->info().bytes, after);
    }
  }
}

TEST_P(ManyTriangularTest, MisuseIsRefused) {
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  test::Array<double> x = place(std::vector<double>(12, 1.0));
  EXPECT_THROW(triangular(a, {.columns = 0}), InvalidInput);
  TriangularSolver t = triangular(a, {.columns = 2});
  EXPECT_THROW(t.solve_many(2, x.data(), 5, x.data(), 6, space(), stream()), InvalidInput);
  EXPECT_THROW(t.solve_many(2, x.data(), 6, x.data(), 5, space(), stream()), InvalidInput);
  EXPECT_THROW(t.solve_many(-1, x.data(), 6, x.data(), 6, space(), stream()), InvalidInput);
  EXPECT_THROW(t.solve_many(2, nullptr, 6, x.data(), 6, space(), stream()), InvalidInput);
  EXPECT_THROW(t.solve_many(2, x.data(), 6, nullptr, 6, space(), stream()), InvalidInput);
  t.solve_many(0, nullptr, 6, nullptr, 6, space(), stream());
  EXPECT_EQ(x.read(), std::vector<double>(12, 1.0));
}

}  // namespace
}  // namespace taskdag
