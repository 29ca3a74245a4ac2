// Numbers that a hand-over by value could mistake for something else, and numbers at the ends of the range, in each
// place of the input: every call ends and gives what the serial reference gives.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "backend/backends.hpp"
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "base/handover.hpp"
#include "fault/calls.hpp"
#include "fault/watchdog.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

class PayloadTest : public test::BackendTest {
 protected:
  ~PayloadTest() override { test::watch(""); }
};
INSTANTIATE_TEST_SUITE_P(On, PayloadTest, testing::ValuesIn(test::once_per_backend()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

struct Number {
  const char* name;
  std::uint64_t bits;
  /// Its inverse is so near the end of the range that rounding decides whether products overflow: no diagonal's.
  bool delicate_inverse = false;
};

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
constexpr Number kNumbers[] = {
    {"the reserved NaN", kNotYetBits},
    {"its negative", kNotYetBits ^ kSign},
    {"its signalling twin", kNotYetBits ^ kQuiet},
    {"the signalling twin's negative", kNotYetBits ^ kQuiet ^ kSign},
    {"the payload above", kNotYetBits + 1},
    {"the payload below", kNotYetBits - 1},
    {"its high word over zeros", kNotYetBits & 0xFFFFFFFF00000000ULL},
    {"its low word alone", kNotYetBits & 0x00000000FFFFFFFFULL},
    {"the default NaN", 0x7FF8000000000000ULL},
    {"all bits set", ~std::uint64_t{0}},
    {"infinity", 0x7FF0000000000000ULL},
    {"minus infinity", 0xFFF0000000000000ULL},
    {"the smallest subnormal", 1},
    {"minus the largest subnormal", kSign | 0x000FFFFFFFFFFFFFULL, true},
    {"minus zero", kSign},
};

double value_of(const Number& number) { return std::bit_cast<double>(number.bits); }

/// How a schedule computes rows, which shows where numbers are not finite.
/// as_they_are: NaN where the reference has one, infinities and zeros likewise.
/// scaled: multiplied by the inverse pivot before they are summed up, as the schedule cells does: where that is
/// infinite the sum of infinities may be a NaN. rewritten: what the reference finds not finite is not finite, and what
/// it finds finite is that number, or not finite since a rewritten row reads more operands.
enum class Rows : std::uint8_t { as_they_are, scaled, rewritten };

/// The same numbers but for rounding.
testing::AssertionResult like(const std::vector<double>& x, const std::vector<double>& reference, Rows rows) {
  double size = std::numeric_limits<double>::min();
  for (const double r : reference) {
    if (std::isfinite(r)) size = std::max(size, std::abs(r));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool close = std::isfinite(x[i]) && std::isfinite(reference[i]) &&
                       std::abs(x[i] - reference[i]) <= test::kForwardBound * size;
    const bool same = close || x[i] == reference[i] || (std::isnan(x[i]) && std::isnan(reference[i]));
    if (same || (rows == Rows::rewritten && !std::isfinite(x[i]))) continue;
    if (rows == Rows::scaled && std::isnan(x[i]) && !std::isfinite(reference[i])) continue;
    return testing::AssertionFailure() << "entry " << i << " is " << x[i] << ", the reference's is " << reference[i];
  }
  return testing::AssertionSuccess();
}

Rows rows_of(SolveSchedule schedule) {
  const bool rewrites =
      std::ranges::find(solve_schedule_catalogue(), schedule, &SolveScheduleInfo::schedule)->rewrites_rows;
  if (rewrites) return Rows::rewritten;
  return schedule == SolveSchedule::cells || schedule == SolveSchedule::automatic ? Rows::scaled : Rows::as_they_are;
}

SolveOutcome outcome_of(const std::vector<double>& x) {
  return test::all_finite(x) ? SolveOutcome::success : SolveOutcome::non_finite;
}

std::vector<test::Problem> problems() {
  std::vector<test::Problem> result;
  result.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20, .wind = 0.5})});
  result.push_back({"random", test::mirrored(make_erdos_renyi_lower(300, 0.02, 5), 0.75)});
  return result;
}

enum class Place { entry, diagonal, right_hand_side };
constexpr Place kPlaces[] = {Place::entry, Place::diagonal, Place::right_hand_side};
const char* name_of(Place place) {
  return place == Place::entry ? "an entry" : place == Place::diagonal ? "the diagonal" : "the right-hand side";
}

/// The place of row `row`'s entry in the values: the first beside the diagonal in the `triangle`, or, where that is
/// asked for or there is none, the one on the diagonal.
std::size_t entry_of(const CsrMatrix& a, Index row, bool diagonal, Triangle triangle) {
  std::size_t found = 0;
  for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
       e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++e) {
    const Index column = a.col_indices[e];
    if (!diagonal && (triangle == Triangle::lower ? column < row : column > row)) return e;
    if (column == row) found = e;
  }
  return found;
}

/// Calls body(description, values, b) for each number in each place of some rows.
template <class Body>
void for_each_number(const CsrMatrix& a, Triangle triangle, const Body& body) {
  const std::vector<double> good = test::right_hand_side(a.rows);
  int count = 0;
  for (const Number& number : kNumbers) {
    for (const Place place : kPlaces) {
      if (place == Place::diagonal && number.delicate_inverse) continue;
      for (const Index row : {Index{0}, a.rows / 2, a.rows - 1}) {
        if (place == Place::entry && row == (triangle == Triangle::lower ? 0 : a.rows - 1)) continue;  // has none
        if (++count % (test::kSanitized ? 7 : 1) != 0) continue;
        std::vector<double> values = a.values;
        std::vector<double> b = good;
        if (place == Place::right_hand_side) {
          b[static_cast<std::size_t>(row)] = value_of(number);
        } else {
          values[entry_of(a, row, place == Place::diagonal, triangle)] = value_of(number);
        }
        body(std::string(number.name) + " in " + name_of(place) + " of row " + std::to_string(row), values, b);
      }
    }
  }
}

TEST_P(PayloadTest, TrianglesGiveWhatTheReferenceGives) {
  for (const test::Problem& problem : problems()) {
    const CsrMatrix& a = problem.a;
    const std::vector<double> good = test::right_hand_side(a.rows);
    for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        TriangularOptions options;
        options.schedule = schedule;
        options.triangle = triangle;
        TriangularSolver solver = triangular(a, options);
        const Rows rows = rows_of(solver.info().schedule);
        for_each_number(a, triangle,
                        [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                          const std::string where = problem.name + ", " + to_string(schedule) + ", " + what;
                          test::watch(where);
                          CsrMatrix changed = a;
                          changed.values = values;
                          const std::vector<double> reference = test::reference_solve(changed, options, b);
                          test::Array<double> array = place(values);
                          solver.update_values(array.data(), space(), stream());
                          const std::vector<double> x = solve(solver, b);
                          EXPECT_TRUE(like(x, reference, rows)) << where;
                          EXPECT_EQ(solver.outcome(), outcome_of(rows == Rows::rewritten ? x : reference)) << where;
                          EXPECT_EQ(solver.outcome(), SolveOutcome::success) << where << ": asked again";
                        });
        // Nothing of it stays.
        test::Array<double> values = place(a.values);
        solver.update_values(values.data(), space(), stream());
        EXPECT_LE(test::triangular_error(a, options, good, solve(solver, good)), 1.0) << to_string(schedule);
        EXPECT_EQ(solver.outcome(), SolveOutcome::success) << to_string(schedule);
      }
    }
  }
}

TEST_P(PayloadTest, FactorsGiveWhatTheReferenceGives) {
  for (const test::Problem& problem : problems()) {
    const CsrMatrix& a = problem.a;
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      for (const SolveSchedule schedule : test::factor_schedules(GetParam().backend)) {
        if (schedule == SolveSchedule::cells && !test::device_has_cells()) continue;
        FactorOptions options;
        options.kind = kind;
        options.schedule = schedule;
        CsrMatrix ordered = a;
        if (schedule == SolveSchedule::blocks) {
          BlockOrdering blocks = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}),
                                                   a.pattern(), MemorySpace::host, {.block_size = 16});
          ordered = test::permuted(a, blocks.order, blocks.order);
          options.blocks = std::make_shared<const RowBlocks>(std::move(blocks.blocks));
        }
        Factorization f = factorization(ordered, options);
        const Rows rows = std::max(rows_of(f.info().lower_schedule), rows_of(f.info().upper_schedule));
        for_each_number(ordered, Triangle::upper,
                        [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                          const std::string where = problem.name + (kind == FactorKind::ic ? ", IC, " : ", ILU, ") +
                                                    to_string(schedule) + ", " + what;
                          test::watch(where);
                          CsrMatrix changed = ordered;
                          changed.values = values;
                          FactorStatus expected;
                          const CsrMatrix reference = test::reference_factor(changed, options, 0.0, expected);
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
                            const std::vector<double> right = test::reference_apply(computed, kind, transposed, b);
                            EXPECT_TRUE(like(x, right, rows)) << where << (transposed ? ", transposed" : "");
                            EXPECT_EQ(f.outcome(), outcome_of(rows == Rows::rewritten ? x : right))
                                << where << (transposed ? ", transposed" : "");
                          }
                        });
        EXPECT_TRUE(factor(f, ordered.values).ok()) << to_string(schedule);
        EXPECT_TRUE(test::all_finite(apply(f, Apply::full, test::right_hand_side(a.rows)))) << to_string(schedule);
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
  for (const test::Problem& problem : problems()) {
    for (const int sweeps : {1, 3}) {
      const JacobiOptions options{.sweeps = sweeps};
      Jacobi j = jacobi(problem.a, options);
      for_each_number(problem.a, Triangle::upper,
                      [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
                        const std::string where = problem.name + ", " + std::to_string(sweeps) + " sweeps, " + what;
                        test::watch(where);
                        CsrMatrix changed = problem.a;
                        changed.values = values;
                        test::MatrixArrays arrays = place(changed);
                        j.update_values(arrays.view(), space(), stream());
                        EXPECT_TRUE(like(apply(j, b), jacobi_reference(changed, options, b), Rows::as_they_are))
                            << where;
                      });
    }
  }
}

}  // namespace
}  // namespace taskdag
