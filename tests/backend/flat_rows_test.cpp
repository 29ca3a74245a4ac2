// The schedule flat on triangles of two levels, whose operands are computed where they are needed, and on rows so long
// that they are cut into parts, against the serial reference.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/handover.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"
#include "kernels/sptrsv/schedules/flat/parts.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/complex.hpp"

namespace taskdag {
namespace {

using kernels::FlatSweep;
using kernels::kPartEntries;
using test::inverse_diagonal;
using test::parts_of;
using test::Problem;
using test::upload;

using Number = std::complex<double>;
using Columns = std::vector<std::vector<Index>>;

/// A lower triangle with these columns left of the diagonal. The sums of long rows stay of the size of short ones'.
CsrMatrix lower_of(Columns columns) {
  CsrMatrix a{static_cast<Index>(columns.size()), static_cast<Index>(columns.size()), {0}, {}, {}};
  std::mt19937 random(11);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  for (auto& row : columns) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const Index j : row) {
      a.col_indices.push_back(j);
      a.values.push_back(value(random) / static_cast<double>(row.size()));
    }
    a.col_indices.push_back(static_cast<Index>(a.row_offsets.size()) - 1);
    a.values.push_back(1.5 + value(random) / 2);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

std::vector<Index> first_columns(Index count) {
  std::vector<Index> columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

/// `roots` rows without entries, then a row of each of these lengths.
CsrMatrix two_levels(Index roots, const std::vector<Index>& lengths) {
  Columns columns(static_cast<std::size_t>(roots));
  std::mt19937 random(5);
  std::vector<Index> all = first_columns(roots);
  for (const Index length : lengths) {
    for (Index k = 0; k < length; ++k) {
      std::swap(all[static_cast<std::size_t>(k)],
                all[static_cast<std::size_t>(std::uniform_int_distribution<Index>(k, roots - 1)(random))]);
    }
    columns.emplace_back(all.begin(), all.begin() + length);
  }
  return lower_of(std::move(columns));
}

/// Each row needs the one before it; the rows in `dense` need all before them, and are needed by the next.
CsrMatrix chain(Index rows, const std::vector<Index>& dense) {
  Columns columns(static_cast<std::size_t>(rows));
  for (Index i = 1; i < rows; ++i) columns[static_cast<std::size_t>(i)] = {i - 1};
  for (const Index i : dense) columns[static_cast<std::size_t>(i)] = first_columns(i);
  return lower_of(std::move(columns));
}

/// Levels that fill a device; some rows of each but the first have `longest` operands in the level before.
CsrMatrix wide_levels(Index width, int levels, Index longest) {
  Columns columns(static_cast<std::size_t>(width));
  std::mt19937 random(6);
  for (int level = 1; level < levels; ++level) {
    std::uniform_int_distribution<Index> before(width * (level - 1), width * level - 1);
    for (Index i = 0; i < width; ++i) {
      const Index length = i % (width / 3) == 1 ? longest : 2;
      std::vector<Index> row(static_cast<std::size_t>(length));
      for (Index& j : row) j = before(random);
      columns.push_back(std::move(row));
    }
  }
  return lower_of(std::move(columns));
}

std::vector<Index> lengths_of(Index rows, Index longest) {
  std::vector<Index> lengths(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + static_cast<Index>(i * 7) % longest;
  return lengths;
}

std::vector<Problem> two_level_problems() {
  constexpr Index kP = kPartEntries;
  return {
      {"no rows", lower_of({})},
      {"one row", two_levels(1, {})},
      {"two rows", two_levels(1, {1})},
      {"no entries", two_levels(3000, {})},
      {"many rows without entries", two_levels(100000, {})},
      {"all need one row", two_levels(1, std::vector<Index>(5000, 1))},
      {"many rows need a few", two_levels(18, lengths_of(90000, 11))},
      {"short rows of all lengths", two_levels(400, lengths_of(3000, 400))},
      {"one row needs all others", two_levels(20 * kP, {20 * kP})},
      {"a part exactly", two_levels(kP, {kP})},
      {"one entry more than a part", two_levels(kP + 1, {kP + 1})},
      {"multiples of a part, and one more",
       two_levels(8 * kP + 1, {kP, 2 * kP, 3 * kP, 8 * kP, kP + 1, 2 * kP + 1, 3 * kP + 1, 8 * kP + 1})},
      {"sums of many parts", two_levels(300 * kP, {300 * kP, 5, 200 * kP, 300 * kP})},
      {"long rows among many short ones", two_levels(30 * kP,
                                                     [] {
                                                       std::vector<Index> lengths = lengths_of(20000, 20);
                                                       for (std::size_t i = 0; i < lengths.size(); i += 1111)
                                                         lengths[i] = 30 * kP;
                                                       return lengths;
                                                     }())},
  };
}

std::vector<Problem> deep_problems() {
  constexpr Index kP = kPartEntries;
  constexpr Index kRows = 10 * kP;
  return {
      {"dense last row", chain(kRows, {kRows - 1})},
      {"dense rows in the middle", chain(kRows, {kRows / 2, kRows / 2 + 1, kRows - 1})},
      {"a part exactly, one entry more, a multiple", chain(3 * kP, {kP, kP + 1, 2 * kP})},
      {"wide levels", wide_levels(100000, 4, 5 * kP)},
      {"many wide levels", wide_levels(60000, 12, 2 * kP)},
  };
}

/// The same dependencies as an upper triangle.
CsrMatrix upper_of(const CsrMatrix& lower) {
  std::vector<Index> backwards(static_cast<std::size_t>(lower.rows));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  return test::permuted(lower, backwards, backwards);
}

/// The values turned, each by an angle of its own.
std::vector<Number> turned(const std::vector<double>& values) {
  std::vector<Number> numbers;
  for (std::size_t e = 0; e < values.size(); ++e)
    numbers.push_back(std::polar(values[e], 0.3 * static_cast<double>(e)));
  return numbers;
}

/// x_i = (b_i − Σ_j a_ij x_j) · pivot_i of a lower triangle, row after row.
std::vector<Number> solve_numbers(const CsrMatrix& a, const std::vector<Number>& values,
                                  const std::vector<Number>& pivots, std::vector<Number> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      const auto j = static_cast<std::size_t>(a.col_indices[e]);
      if (j < i) x[i] -= values[e] * x[j];
    }
    x[i] *= pivots[i];
  }
  return x;
}

class FlatRowsTest : public test::OnSweeps<> {
 protected:
  enum class Way { apart, in_place, inside };

  /// The result of one solve. parts: doubles of a number.
  std::vector<double> solve_by(Way way, FlatSweep& sweep, const std::vector<double>& b, std::size_t parts = 1) {
    if (way == Way::apart) return solve(sweep, b);
    const auto rhs = upload(b, stream());
    run(sweep, rhs.data(), way == Way::in_place ? rhs.data() : nullptr);
    if (way == Way::in_place) return cuda::fetch_array(rhs.data(), b.size(), stream());
    return inside(sweep, b.size() / parts, parts);
  }

  std::vector<double> inside(const FlatSweep& sweep, std::size_t rows, std::size_t parts = 1) {
    if (rows == 0) return {};
    const std::vector<Index> index = cuda::fetch_array(sweep.result_index(), rows, stream());
    const auto extent = static_cast<std::size_t>(*std::max_element(index.begin(), index.end())) + 1;
    const std::vector<double> result = cuda::fetch_array(sweep.result(), extent * parts, stream());
    std::vector<double> x(rows * parts);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = result[static_cast<std::size_t>(index[i / parts]) * parts + i % parts];
    return x;
  }

  /// Solves in all ways, one after the other in many orders, give the same bits; values change between.
  void expect_right_every_way(CsrMatrix a, Triangle triangle) {
    const test::DeviceTriangle device(a, triangle, stream());
    FlatSweep sweep(device.input(), stream());
    const std::vector<Way> ways = {Way::apart,    Way::apart,    Way::in_place, Way::apart,    Way::inside,
                                   Way::in_place, Way::in_place, Way::inside,   Way::inside,   Way::apart,
                                   Way::in_place, Way::apart,    Way::apart,    Way::in_place, Way::inside};
    for (const bool unit : {false, true, false}) {
      a.values = test::other_values(a.values);
      load(sweep, a.values, unit ? std::vector<double>() : inverse_diagonal(a));
      for (const double scale : {1.0, -3.0}) {
        std::vector<double> b = test::right_hand_side(a.rows);
        for (double& value : b) value *= scale;
        std::vector<double> first;
        for (std::size_t k = 0; k < ways.size(); ++k) {
          SCOPED_TRACE("solve " + std::to_string(k));
          const std::vector<double> x = solve_by(ways[k], sweep, b);
          EXPECT_FALSE(non_finite_);
          if (k == 0) {
            first = x;
            ASSERT_LE(test::triangular_error(a, {.triangle = triangle, .unit_diagonal = unit}, b, x), 1.0);
          }
          ASSERT_TRUE(test::same_bits(x, first));
        }
      }
    }
  }

  /// Both triangles.
  void expect_right_every_way(const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      SCOPED_TRACE(problem.name);
      expect_right_every_way(problem.a, Triangle::lower);
      expect_right_every_way(upper_of(problem.a), Triangle::upper);
      if (HasFatalFailure()) return;
    }
  }

  /// A result is finite in the same rows as the reference, and the flag says whether all are.
  void expect_finite_where_the_reference_is(FlatSweep& sweep, const CsrMatrix& a, const std::vector<double>& b) {
    const std::vector<double> expected = test::reference_solve(a, {}, b);
    for (const Way way : {Way::apart, Way::in_place, Way::inside}) {
      const std::vector<double> x = solve_by(way, sweep, b);
      EXPECT_EQ(non_finite_, !test::all_finite(expected));
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
      }
    }
  }
};

TEST_F(FlatRowsTest, TwoLevelsGiveTheSameBitsInPlaceAndNot) { expect_right_every_way(two_level_problems()); }

TEST_F(FlatRowsTest, LongRowsGiveTheSameBitsAmongManyLevels) { expect_right_every_way(deep_problems()); }

TEST_F(FlatRowsTest, VectorsAndValuesGoThroughTheirMaps) {
  std::vector<Problem> problems = two_level_problems();
  for (Problem& deep : deep_problems()) problems.push_back(std::move(deep));
  std::mt19937 random(3);
  const auto shuffled = [&](std::size_t size) {
    std::vector<Index> order = first_columns(static_cast<Index>(size));
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.name);
    const CsrMatrix& a = problem.a;
    const auto rows = static_cast<std::size_t>(a.rows);
    const std::vector<Index> from = shuffled(rows);
    const std::vector<Index> to = shuffled(rows);
    const std::vector<Index> place = shuffled(a.values.size());
    const auto rhs_index = upload(from, stream());
    const auto x_index = upload(to, stream());
    const auto source_entry = upload(std::vector<Offset>(place.begin(), place.end()), stream());
    const test::DeviceTriangle device(a, Triangle::lower, stream());
    kernels::SweepInput input = device.input();
    input.rhs_index = rhs_index.data();
    input.x_index = x_index.data();
    input.source_entry = source_entry.data();
    FlatSweep sweep(input, stream());
    std::vector<double> values(a.values.size());
    for (std::size_t e = 0; e < values.size(); ++e) values[static_cast<std::size_t>(place[e])] = a.values[e];
    load(sweep, values, inverse_diagonal(a));
    const std::vector<double> b = test::right_hand_side(a.rows);
    std::vector<double> scattered(rows);
    for (std::size_t i = 0; i < rows; ++i) scattered[static_cast<std::size_t>(from[i])] = b[i];
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::vector<double> result = solve(sweep, scattered);
      std::vector<double> x(rows);
      for (std::size_t i = 0; i < rows; ++i) x[i] = result[static_cast<std::size_t>(to[i])];
      ASSERT_LE(test::triangular_error(a, {}, b, x), 1.0);
      ASSERT_TRUE(test::same_bits(x, solve_by(Way::inside, sweep, scattered)));
      EXPECT_FALSE(non_finite_);
    }
  }
}

TEST_F(FlatRowsTest, ComplexNumbersGiveTheSameBitsEveryWay) {
  std::vector<Problem> problems = two_level_problems();
  for (Problem& deep : deep_problems()) problems.push_back(std::move(deep));
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.name);
    const CsrMatrix& a = problem.a;
    const test::DeviceTriangle device(a, Triangle::lower, stream());
    kernels::SweepInput input = device.input();
    input.complex_numbers = true;
    FlatSweep sweep(input, stream());
    const std::vector<Number> values = turned(a.values);
    std::vector<Number> pivots = turned(inverse_diagonal(a));
    const auto source = upload(real_blocks(values), stream());
    std::vector<Number> b = turned(test::right_hand_side(a.rows));
    for (const bool unit : {false, true}) {
      if (unit) std::fill(pivots.begin(), pivots.end(), 1.0);
      const auto given = upload(parts_of(pivots), stream());
      sweep.load_values(source.data(), unit ? nullptr : given.data(), stream());
      for (int round = 0; round < 2; ++round) {
        const std::vector<double> expected = parts_of(solve_numbers(a, values, pivots, b));
        std::vector<double> first;
        for (const Way way : {Way::apart, Way::apart, Way::in_place, Way::inside, Way::inside, Way::apart,
                              Way::in_place, Way::apart, Way::apart, Way::in_place}) {
          const std::vector<double> x = solve_by(way, sweep, parts_of(b), 2);
          EXPECT_FALSE(non_finite_);
          if (first.empty()) first = x;
          ASSERT_LE(test::difference(x, expected), test::kForwardBound);
          ASSERT_TRUE(test::same_bits(x, first));
        }
        for (Number& number : b) number *= Number(-0.5, 2.0);
      }
    }
  }
}

// Of a number that is not finite each part is a result, and what needs it ends.
TEST_F(FlatRowsTest, ComplexNumbersThatAreNotFiniteAreHandedOver) {
  const CsrMatrix a = chain(600, {400, 599});
  const test::DeviceTriangle device(a, Triangle::lower, stream());
  kernels::SweepInput input = device.input();
  input.complex_numbers = true;
  FlatSweep sweep(input, stream());
  const auto source = upload(real_blocks(turned(a.values)), stream());
  sweep.load_values(source.data(), nullptr, stream());
  constexpr std::size_t kBad = 300;
  for (const double bad : {std::numeric_limits<double>::infinity(), not_yet(), std::nan("")}) {
    for (const std::size_t part : {0U, 1U}) {
      std::vector<double> b = parts_of(turned(test::right_hand_side(a.rows)));
      b[2 * kBad + part] = bad;
      const std::vector<double> x = solve_by(Way::apart, sweep, b, 2);
      EXPECT_TRUE(non_finite_);
      EXPECT_TRUE(test::all_finite({x.begin(), x.begin() + 2 * kBad}));
      for (std::size_t i = kBad; i < x.size() / 2; ++i)
        ASSERT_FALSE(std::isfinite(x[2 * i]) && std::isfinite(x[2 * i + 1])) << "row " << i;
    }
  }
}

/// Solves that follow one another without a wait between them may overlap on the device.
TEST_F(FlatRowsTest, SolvesInARowDoNotDisturbEachOther) {
  constexpr Index kP = kPartEntries;
  const std::vector<Problem> problems = {
      {"short rows", two_levels(18, lengths_of(90000, 11))},
      {"long rows", two_levels(60 * kP, {5, 60 * kP, 59 * kP, 3, 60 * kP})},
      {"long rows, many levels", wide_levels(10000, 6, 3 * kP)},
  };
  constexpr std::size_t kRounds = 3;
  constexpr std::size_t kSolves = 40;
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.name);
    CsrMatrix a = problem.a;
    const auto rows = static_cast<std::size_t>(a.rows);
    const test::DeviceTriangle device(a, Triangle::lower, stream());
    FlatSweep sweep(device.input(), stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    std::vector<CsrMatrix> matrices;
    std::vector<cuda::DeviceArray<double>> values;
    std::vector<cuda::DeviceArray<double>> pivots;
    std::vector<std::vector<double>> b;
    std::vector<cuda::DeviceArray<double>> rhs;
    std::vector<cuda::DeviceArray<double>> x;
    for (std::size_t r = 0; r < kRounds; ++r) {
      matrices.push_back(a);
      values.push_back(upload(a.values, stream()));
      pivots.push_back(upload(inverse_diagonal(a), stream()));
      for (double& value : a.values) value *= -1.5;
      for (std::size_t k = 0; k < kSolves; ++k) {
        b.push_back(test::right_hand_side(a.rows));
        for (double& value : b.back()) value *= 1.0 + static_cast<double>(b.size());
        rhs.push_back(upload(b.back(), stream()));
        x.push_back(upload(std::vector<double>(rows, -7.0), stream()));
      }
    }
    // Runs of either way, and either way between two of the other.
    const auto in_place = [](std::size_t k) { return k % 10 == 3 || k % 10 == 4 || k % 10 == 6; };
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (k % kSolves == 0) {
        sweep.load_values(values[k / kSolves].data(), pivots[k / kSolves].data(), stream());
      }
      sweep.solve(rhs[k].data(), in_place(k) ? rhs[k].data() : x[k].data(), flag.data(), stream());
    }
    EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto result = cuda::fetch_array((in_place(k) ? rhs[k] : x[k]).data(), rows, stream());
      ASSERT_LE(test::triangular_error(matrices[k / kSolves], {}, b[k], result), 1.0) << "solve " << k;
    }
  }
}

TEST_F(FlatRowsTest, NumbersThatAreNotFiniteReachTheRowsThatNeedThem) {
  constexpr Index kP = kPartEntries;
  const std::vector<Problem> problems = {
      {"short rows", two_levels(18, lengths_of(5000, 11))},
      {"long rows", two_levels(20 * kP, {20 * kP, 3, kP + 1, 10 * kP})},
      {"long rows, many levels", chain(5 * kP, {3 * kP, 5 * kP - 1})},
  };
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.name);
    CsrMatrix a = problem.a;
    const auto rows = static_cast<std::size_t>(a.rows);
    const test::DeviceTriangle device(a, Triangle::lower, stream());
    FlatSweep sweep(device.input(), stream());
    const std::vector<double> good = test::right_hand_side(a.rows);
    const auto pivots = inverse_diagonal(a);
    load(sweep, a.values, pivots);
    const auto last_entry = static_cast<std::size_t>(a.row_offsets[rows] - 2);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), not_yet(), -not_yet()}) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{7}, rows / 2, rows - 1}) {
        std::vector<double> b = good;
        b[i] = bad;
        expect_finite_where_the_reference_is(sweep, a, b);
        expect_finite_where_the_reference_is(sweep, a, good);
      }
      CsrMatrix changed = a;
      changed.values[last_entry] = bad;
      load(sweep, changed.values, pivots);
      expect_finite_where_the_reference_is(sweep, changed, good);
      load(sweep, a.values, pivots);
      expect_finite_where_the_reference_is(sweep, a, good);
    }
  }
}

}  // namespace
}  // namespace taskdag
