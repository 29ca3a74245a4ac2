// Applications to several right-hand sides at once, on both backends: every column as by itself.
#include <algorithm>
#include <cmath>
#include <cstddef>
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

TASKDAG_BACKEND_SUITE(ManyTest, test::everywhere_and_one_block());

const std::vector<Index> kCounts =
    test::kSanitized ? std::vector<Index>{1, 3, 8, 33} : std::vector<Index>{1, 2, 3, 7, 8, 31, 32, 33, 70};
constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

std::vector<Apply> parts_of(FactorKind kind) {
  if (kind == FactorKind::ilu) return {Apply::full, Apply::transposed};
  return {Apply::full, Apply::transposed, Apply::symmetric_left, Apply::symmetric_right};
}

/// A permutation that mixes rows of all levels.
std::vector<Index> mixed(Index rows) {
  std::vector<Index> order;
  for (Index first = 0; first < 3; ++first) {
    for (Index i = first; i < rows; i += 3) order.push_back(i);
  }
  return order;
}

class ManyCase {
 public:
  ManyCase(Factorization& f, Apply part, MemorySpace space, Stream stream, test::DeviceStream* device)
      : f_(f), part_(part), space_(space), stream_(stream), device_(device) {}

  std::vector<double> operator()(Index count, const std::vector<double>& b, std::ptrdiff_t ldb,
                                 std::ptrdiff_t ldx) const {
    test::Array<double> in(device_, b);
    test::Array<double> out(device_, std::vector<double>(static_cast<std::size_t>(at(count, ldx)), kGap));
    f_.apply_many(part_, count, in.data(), ldb, out.data(), ldx, space_, stream_);
    return out.read();
  }
  std::vector<double> in_place(Index count, const std::vector<double>& b, std::ptrdiff_t ld) const {
    test::Array<double> both(device_, b);
    f_.apply_many(part_, count, both.data(), ld, both.data(), ld, space_, stream_);
    return both.read();
  }

 private:
  Factorization& f_;
  Apply part_;
  MemorySpace space_;
  Stream stream_;
  test::DeviceStream* device_;
};

TEST_P(ManyTest, EveryColumnEqualsASingleSolve) {
  for (const Problem& problem : test::small_problems()) {
    const Index n = problem.a.rows;
    if (n == 0) continue;
    for (const FactorKind kind : kKinds) {
      Factorization f = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(f, problem.a.values).ok());
      for (const Apply part : parts_of(kind)) {
        const ManyCase run(f, part, space(), stream(), device());
        const std::vector<double> b = columns(n, std::ranges::max(kCounts), n);
        std::vector<std::vector<double>> wanted;
        for (Index k = 0; k < std::ranges::max(kCounts); ++k) wanted.push_back(apply(f, part, column(b, k, n, n)));
        for (const Index count : kCounts) {
          SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", ic0" : ", ilu0") + ", part " +
                       std::to_string(static_cast<int>(part)) + ", " + std::to_string(count) + " columns");
          const std::vector<double> first(b.begin(), b.begin() + at(count, n));
          const std::vector<double> x = run(count, first, n, n);
          for (Index k = 0; k < count; ++k) {
            const std::vector<double>& alone = wanted[static_cast<std::size_t>(k)];
            ASSERT_LE(test::difference(column(x, k, n, n), alone), test::kForwardBound) << "column " << k;
            if (context().backend() == Backend::host) {
              EXPECT_TRUE(test::same_bits(column(x, k, n, n), alone)) << "column " << k;
            }
          }
          EXPECT_TRUE(test::same_bits(run(count, first, n, n), x)) << "again";
          EXPECT_TRUE(test::same_bits(run.in_place(count, first, n), x)) << "in place";
        }
      }
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(ManyTest, LeadingDimensionsLeaveGapsAlone) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 0.4});
  const std::ptrdiff_t ldb = a.rows + 3;
  const std::ptrdiff_t ldx = a.rows + 11;
  Factorization f = factorization(a, {}, mixed(a.rows), mixed(a.rows));
  ASSERT_TRUE(factor(f, a.values).ok());
  for (const Apply part : {Apply::full, Apply::transposed}) {
    const ManyCase run(f, part, space(), stream(), device());
    for (const Index count : kCounts) {
      const std::vector<double> b = columns(a.rows, count, ldb);
      const std::vector<double> x = run(count, b, ldb, ldx);
      for (Index k = 0; k < count; ++k) {
        EXPECT_LE(test::difference(column(x, k, ldx, a.rows), apply(f, part, column(b, k, ldb, a.rows))),
                  test::kForwardBound);
        for (std::ptrdiff_t gap = at(k, ldx) + a.rows; gap < at(k + 1, ldx); ++gap) {
          ASSERT_EQ(x[static_cast<std::size_t>(gap)], kGap) << "between the vectors, " << gap;
        }
      }
    }
  }
}

TEST_P(ManyTest, DifferentRowAndColumnOrders) {
  const CsrMatrix wanted = make_stencil({.stencil = Stencil::five_point, .nx = 13, .ny = 11});
  const Index n = wanted.rows;
  const std::vector<Index> rows = mixed(n);
  std::vector<Index> cols = rows;
  std::ranges::rotate(cols, cols.begin() + 5);
  const CsrMatrix a = test::permuted(wanted, rows, cols);
  Factorization f = factorization(a, {}, invert_permutation(rows), invert_permutation(cols));
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> b = columns(n, 12, n);
  for (const Apply part : {Apply::full, Apply::transposed}) {
    const std::vector<double> x = ManyCase(f, part, space(), stream(), device())(12, b, n, n);
    for (Index k = 0; k < 12; ++k) {
      EXPECT_LE(test::difference(column(x, k, n, n), apply(f, part, column(b, k, n, n))), test::kForwardBound);
    }
  }
}

TEST_P(ManyTest, ANanStaysInItsColumn) {
  for (const Problem& problem : test::small_problems()) {
    const Index n = problem.a.rows;
    if (n < 2) continue;
    SCOPED_TRACE(problem.name);
    for (const FactorKind kind : kKinds) {
      Factorization f = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(f, problem.a.values).ok());
      for (const Apply part : parts_of(kind)) {
        const ManyCase run(f, part, space(), stream(), device());
        for (const Index count : {5, 32}) {
          std::vector<double> b = columns(n, count, n);
          const std::vector<double> clean = run(count, b, n, n);
          EXPECT_EQ(f.outcome(), SolveOutcome::success);
          const Index bad = count / 2;
          b[static_cast<std::size_t>(at(bad, n))] = std::nan("");
          b[static_cast<std::size_t>(at(bad, n) + n - 1)] = std::numeric_limits<double>::infinity();
          const std::vector<double> x = run(count, b, n, n);
          EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
          EXPECT_EQ(f.outcome(), SolveOutcome::success);
          for (Index k = 0; k < count; ++k) {
            if (k == bad) {
              EXPECT_FALSE(test::all_finite(column(x, k, n, n)));
            } else {
              EXPECT_TRUE(test::same_bits(column(x, k, n, n), column(clean, k, n, n))) << "column " << k;
            }
          }
          EXPECT_TRUE(test::same_bits(run(count, columns(n, count, n), n, n), clean)) << "afterwards";
        }
      }
    }
  }
}

TEST_P(ManyTest, NewValuesAreTaken) {
  for (const FactorKind kind : kKinds) {
    const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4});
    CsrMatrix other = a;
    other.values = test::other_values(a.values);
    other = test::made_dominant(other);
    const std::vector<double> b = columns(a.rows, 9, a.rows);
    Factorization used = factorization(a, {.kind = kind});
    Factorization fresh = factorization(a, {.kind = kind});
    ASSERT_TRUE(factor(used, a.values).ok());
    for (const Apply part : parts_of(kind)) {
      static_cast<void>(ManyCase(used, part, space(), stream(), device())(9, b, a.rows, a.rows));
    }
    ASSERT_TRUE(factor(used, other.values).ok());
    ASSERT_TRUE(factor(fresh, other.values).ok());
    for (const Apply part : parts_of(kind)) {
      EXPECT_TRUE(test::same_bits(ManyCase(used, part, space(), stream(), device())(9, b, a.rows, a.rows),
                                  ManyCase(fresh, part, space(), stream(), device())(9, b, a.rows, a.rows)));
    }
  }
}

TEST_P(ManyTest, MemoryIsTakenOnce) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40});
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  const ManyCase run(f, Apply::full, space(), stream(), device());
  const std::int64_t before = f.info().bytes;
  static_cast<void>(run(32, columns(a.rows, 32, a.rows), a.rows, a.rows));
  const std::int64_t after = f.info().bytes;
  if (GetParam().one_block) {
    EXPECT_EQ(after, before);
  } else {
    EXPECT_GT(after, before);
  }
  for (const Index count : {32, 5, 70}) {
    static_cast<void>(run(count, columns(a.rows, count, a.rows), a.rows, a.rows));
    EXPECT_EQ(f.info().bytes, after);
  }
}

// Every schedule of the backend, and a matrix that is large enough for several of its cells or threads.
TEST_P(ManyTest, AnyScheduleOfTheSingleSweep) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 80});
  const std::vector<double> b = columns(a.rows, 11, a.rows);
  for (const SolveSchedule schedule : test::runnable_schedules(context().backend())) {
    if (schedule == SolveSchedule::blocks) continue;  // needs RowBlocks
    SCOPED_TRACE(to_string(schedule));
    FactorOptions options;
    options.schedule = schedule;
    Factorization f = factorization(a, options);
    ASSERT_TRUE(factor(f, a.values).ok());
    const CsrMatrix computed = f.copy_factor();
    for (const bool transposed : {false, true}) {
      const ManyCase run(f, transposed ? Apply::transposed : Apply::full, space(), stream(), device());
      const std::vector<double> x = run(11, b, a.rows, a.rows);
      for (Index k = 0; k < 11; ++k) {
        EXPECT_LE(test::apply_error(computed, FactorKind::ilu, transposed, column(b, k, a.rows, a.rows),
                                    column(x, k, a.rows, a.rows)),
                  1.0);
      }
    }
  }
}

// Rows long enough to be summed in parts.
TEST_P(ManyTest, LongRows) {
  const CsrMatrix a = test::arrow(1500);
  for (const FactorKind kind : kKinds) {
    Factorization f = factorization(a, {.kind = kind});
    ASSERT_TRUE(factor(f, a.values).ok());
    const CsrMatrix computed = f.copy_factor();
    for (const bool transposed : {false, true}) {
      const ManyCase run(f, transposed ? Apply::transposed : Apply::full, space(), stream(), device());
      for (const Index count : {4, 16, 9, 32}) {  // strides that change
        const std::vector<double> b = columns(a.rows, count, a.rows);
        const std::vector<double> x = run(count, b, a.rows, a.rows);
        for (Index k = 0; k < count; ++k) {
          EXPECT_LE(
              test::apply_error(computed, kind, transposed, column(b, k, a.rows, a.rows), column(x, k, a.rows, a.rows)),
              1.0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
