// Block Jacobi on both backends.
#include "reference/block_jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

class BlockJacobiTest : public test::BackendTest {
 protected:
  [[nodiscard]] JacobiBlocks graph_blocks(const CsrMatrix& a, Index size) const {
    test::MatrixArrays arrays = place(a);
    return blocks_of_graph(context(), arrays.pattern(), space(), size, stream());
  }
  [[nodiscard]] BlockJacobi make(const CsrMatrix& a, const JacobiBlocks& blocks,
                                 const BlockJacobiOptions& options = {}) const {
    test::MatrixArrays arrays = place(a);
    return {context(), arrays.pattern(), space(), blocks, options, stream()};
  }
  [[nodiscard]] FactorStatus load(BlockJacobi& j, const CsrMatrix& a) const {
    test::MatrixArrays arrays = place(a);
    return j.update_values(arrays.view(), space(), stream());
  }
  [[nodiscard]] std::vector<double> apply(BlockJacobi& j, const std::vector<double>& b, bool transposed = false) const {
    test::Array<double> rhs = place(b);
    test::Array<double> x = place(std::vector<double>(b.size(), 7.0));
    j.apply(rhs.data(), x.data(), space(), transposed, stream());
    return x.read();
  }
};
INSTANTIATE_TEST_SUITE_P(On, BlockJacobiTest, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

/// Rows dealt out to blocks of all sizes, far from each other.
JacobiBlocks scattered_blocks(Index rows) {
  JacobiBlocks blocks;
  Index stride = 37;
  while (std::gcd(stride, std::max(rows, 1)) != 1) ++stride;
  for (Index k = 0; k < rows; ++k) {
    blocks.order.push_back(static_cast<Index>((std::int64_t{k} * stride + 5) % rows));
  }
  for (Index size = 1; blocks.offsets.back() < rows; size = size % kMostRowsOfJacobiBlock + 1) {
    blocks.offsets.push_back(std::min(blocks.offsets.back() + size, rows));
  }
  return blocks;
}

std::vector<std::pair<std::string, JacobiBlocks>> kinds_of_blocks(const JacobiBlocks& grown, Index rows) {
  return {{"graph", grown},
          {"single rows", consecutive_blocks(rows, 1)},
          {"three rows", consecutive_blocks(rows, 3)},
          {"as many as there may be", consecutive_blocks(rows, kMostRowsOfJacobiBlock)},
          {"scattered", scattered_blocks(rows)}};
}

/// The small problems, their diagonals away from 0, and one whose blocks need pivots from other rows.
std::vector<test::Problem> problems() {
  std::vector<test::Problem> result = test::small_problems();
  CsrMatrix turned = test::tridiagonal(200, 3, 0.25, -2);
  for (std::size_t e = 0; e < turned.values.size(); ++e) turned.values[e] += 0.01 * static_cast<double>(e % 7);
  result.push_back({"small diagonal", turned});
  return result;
}

TEST_P(BlockJacobiTest, SweepsMatchTheReference) {
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const auto& [kind, blocks] : kinds_of_blocks(graph_blocks(problem.a, 0), problem.a.rows)) {
      for (const int sweeps : test::kSanitized ? std::vector{1, 3} : std::vector{1, 2, 3}) {
        const BlockJacobiOptions options{.sweeps = sweeps, .damping = sweeps == 1 ? 1.0 : 0.6};
        BlockJacobi j = make(problem.a, blocks, options);
        const FactorStatus status = load(j, problem.a);
        SCOPED_TRACE(problem.name + ", " + kind + ", " + std::to_string(sweeps) + " sweeps");
        ASSERT_TRUE(status.ok()) << "row " << status.first_row;
        EXPECT_EQ(j.info().blocks, static_cast<Index>(blocks.offsets.size()) - 1);
        EXPECT_GT(j.info().bytes, problem.a.rows);
        for (const bool transposed : {false, true}) {
          const std::vector<double> x = apply(j, b, transposed);
          EXPECT_LE(
              test::difference(x, kernels::reference_block_jacobi(problem.a.view(), blocks, options, b, transposed)),
              test::kForwardBound)
              << (transposed ? "transposed" : "");
          EXPECT_TRUE(test::same_bits(apply(j, b, transposed), x));
        }
      }
    }
  }
}

TEST_P(BlockJacobiTest, ChebyshevsWeightsAndAGuess) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 1.0});
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<double> guess = b;
  for (double& value : guess) value = 0.3 * value + 0.1;
  const JacobiBlocks blocks = graph_blocks(a, 8);
  for (const JacobiWeights weights : {JacobiWeights::constant, JacobiWeights::chebyshev}) {
    for (const int sweeps : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(sweeps) + " sweeps, " + to_string(weights));
      const BlockJacobiOptions options{.sweeps = sweeps, .damping = 0.5, .weights = weights, .keep_matrix = true};
      BlockJacobi j = make(a, blocks, options);
      ASSERT_TRUE(load(j, a).ok());
      test::Array<double> rhs = place(b);
      test::Array<double> x = place(guess);
      j.iterate(rhs.data(), x.data(), space(), stream());
      EXPECT_LE(test::difference(x.read(), kernels::reference_block_jacobi(a.view(), blocks, options, b, false, guess)),
                test::kForwardBound);
      EXPECT_LE(test::difference(apply(j, b), kernels::reference_block_jacobi(a.view(), blocks, options, b, false)),
                test::kForwardBound);
    }
  }
}

/// A row with many entries, which CUDA's thread blocks have to themselves.
TEST_P(BlockJacobiTest, LongRows) {
  constexpr Index kRows = 700;
  CsrMatrix a{kRows, kRows, {0}, {}, {}};
  for (Index i = 0; i < kRows; ++i) {
    for (Index c = 0; c < kRows; ++c) {
      if (i % 300 != 7 && c != i && c != 7) continue;
      a.col_indices.push_back(c);
      a.values.push_back(c == i ? 900.0 : 1.0 / (1.0 + c));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  const std::vector<double> b = test::right_hand_side(kRows);
  const JacobiBlocks blocks = consecutive_blocks(kRows, 8);
  for (const Index long_row : {0, 50}) {
    const BlockJacobiOptions options{.sweeps = 3, .damping = 0.9, .long_row = long_row};
    BlockJacobi j = make(a, blocks, options);
    ASSERT_TRUE(load(j, a).ok());
    for (const bool transposed : {false, true}) {
      EXPECT_LE(test::difference(apply(j, b, transposed),
                                 kernels::reference_block_jacobi(a.view(), blocks, options, b, transposed)),
                test::kForwardBound);
    }
  }
}

TEST_P(BlockJacobiTest, OneBlockIsASolve) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 8, .ny = 4, .wind = 1.0});
  const std::vector<double> b = test::right_hand_side(a.rows);
  BlockJacobi j = make(a, consecutive_blocks(a.rows, a.rows));
  ASSERT_TRUE(load(j, a).ok());
  for (const bool transposed : {false, true}) {
    const std::vector<double> x = apply(j, b, transposed);
    std::vector<double> product(b.size(), 0.0);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
           ++e) {
        const auto row = static_cast<std::size_t>(i);
        const auto column = static_cast<std::size_t>(a.col_indices[static_cast<std::size_t>(e)]);
        const double value = a.values[static_cast<std::size_t>(e)];
        transposed ? product[column] += value * x[row] : product[row] += value * x[column];
      }
    }
    EXPECT_LE(test::difference(product, b), test::kForwardBound);
  }
}

TEST_P(BlockJacobiTest, BlocksOfTheGraphAreSmallAndHoldAllRows) {
  for (const test::Problem& problem : test::small_problems()) {
    for (const Index size : {0, 1, 2, 8, 32}) {
      SCOPED_TRACE(problem.name + ", " + std::to_string(size));
      const JacobiBlocks blocks = graph_blocks(problem.a, size);
      BlockJacobi j = make(problem.a, blocks);  // looks at them
      EXPECT_LE(j.info().largest_block, std::min(2 * (size > 0 ? size : kDefaultRowsOfJacobiBlock), 32));
      EXPECT_EQ(blocks.offsets.back(), problem.a.rows);
    }
  }
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40});
  EXPECT_LE(graph_blocks(grid, 8).offsets.size(), 1600 / 5) << "not single rows";
  EXPECT_THROW(static_cast<void>(graph_blocks(grid, 33)), InvalidInput);
  EXPECT_THROW(static_cast<void>(graph_blocks(grid, -1)), InvalidInput);
  EXPECT_EQ(consecutive_blocks(7, 3).offsets, (std::vector<Index>{0, 3, 6, 7}));
  EXPECT_EQ(consecutive_blocks(0, 3).offsets, (std::vector<Index>{0}));
  EXPECT_THROW(static_cast<void>(consecutive_blocks(7, 0)), InvalidInput);
}

TEST_P(BlockJacobiTest, UpdatedValuesEqualAFreshObject) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 1.0});
  CsrMatrix other = a;
  other.values = test::other_values(a.values);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const JacobiBlocks blocks = graph_blocks(a, 8);
  for (const int sweeps : {1, 3}) {
    BlockJacobi used = make(a, blocks, {.sweeps = sweeps});
    ASSERT_TRUE(load(used, a).ok());
    const std::vector<double> before = apply(used, b);
    static_cast<void>(apply(used, b, true));
    BlockJacobi fresh = make(other, blocks, {.sweeps = sweeps});
    ASSERT_TRUE(load(fresh, other).ok());
    ASSERT_TRUE(load(used, other).ok());
    EXPECT_FALSE(test::same_bits(apply(used, b), before));
    for (const bool transposed : {false, true}) {
      EXPECT_TRUE(test::same_bits(apply(used, b, transposed), apply(fresh, b, transposed)));
    }
  }
}

TEST_P(BlockJacobiTest, OneSweepWorksInPlace) {
  const CsrMatrix a = test::tridiagonal(1025, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(a.rows);
  BlockJacobi j = make(a, graph_blocks(a, 8));
  ASSERT_TRUE(load(j, a).ok());
  for (const bool transposed : {false, true}) {
    test::Array<double> both = place(b);
    j.apply(both.data(), both.data(), space(), transposed, stream());
    EXPECT_TRUE(test::same_bits(both.read(), apply(j, b, transposed)));
  }
}

double& diagonal(CsrMatrix& a, Index row) {
  const auto begin = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(row)];
  return a.values[static_cast<std::size_t>(std::find(begin, a.col_indices.end(), row) - a.col_indices.begin())];
}

TEST_P(BlockJacobiTest, SingularBlocksAndBadValuesAreNamed) {
  const CsrMatrix a = test::tridiagonal(1000, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const JacobiBlocks blocks = consecutive_blocks(a.rows, 5);
  BlockJacobi j = make(a, blocks);
  const auto expect = [&](const CsrMatrix& bad, FactorOutcome outcome, Index row, Index last, const std::string& what) {
    SCOPED_TRACE(what);
    const FactorStatus status = load(j, bad);
    EXPECT_EQ(status.outcome, outcome);
    EXPECT_EQ(status.first_row, row);
    EXPECT_EQ(status.last_row, last);
    // Other blocks are as they should be.
    const std::vector<double> x = apply(j, b);
    EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(row)]));
    EXPECT_EQ(std::isfinite(x[0]), row > 4);
  };
  CsrMatrix bad = a;
  const auto entries_of = [&](Index row) {
    return std::pair(bad.row_offsets[static_cast<std::size_t>(row)],
                     bad.row_offsets[static_cast<std::size_t>(row) + 1]);
  };
  for (Offset e = entries_of(503).first; e < entries_of(503).second; ++e) bad.values[static_cast<std::size_t>(e)] = 0.0;
  expect(bad, FactorOutcome::zero_pivot, 504, 504, "a row of zeros: its last column finds no pivot");
  bad = a;
  for (double& value : bad.values) value = value == 4.0 ? 0.0 : value;  // of five rows: singular, all of them
  expect(bad, FactorOutcome::zero_pivot, 4, 999, "all");
}

TEST_P(BlockJacobiTest, NaNsInBlocksAreNamedAndOthersPlayNoPart) {
  const CsrMatrix a = test::tridiagonal(1000, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    for (const auto& [row, from_diagonal] :
         {std::pair<Index, int>{500, 0}, {502, 0}, {504, 0}, {502, -1}, {502, 1}}) {  // of the block of rows 500 to 504
      CsrMatrix bad = a;
      (&diagonal(bad, row))[from_diagonal] = value;
      BlockJacobi j = make(a, consecutive_blocks(a.rows, 5));
      const FactorStatus status = load(j, bad);
      EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
      EXPECT_EQ(status.first_row, row);
      EXPECT_EQ(status.last_row, -1);
      const std::vector<double> x = apply(j, b);
      for (Index i = 0; i < a.rows; ++i) {
        EXPECT_EQ(std::isnan(x[static_cast<std::size_t>(i)]), i / 5 == 100) << i;
      }
      ASSERT_TRUE(load(j, a).ok()) << "it recovers";
    }
    CsrMatrix bad = a;
    (&diagonal(bad, 504))[1] = value;  // row 504, column 505: between blocks
    BlockJacobi j = make(a, consecutive_blocks(a.rows, 5));
    EXPECT_TRUE(load(j, bad).ok());
  }
}

TEST_P(BlockJacobiTest, NumbersThatGetTooLargeAreNamed) {
  const CsrMatrix a = test::tridiagonal(1000, -1, 4, -1);
  CsrMatrix tiny = a;
  for (double& entry : tiny.values) entry *= std::numeric_limits<double>::denorm_min();
  for (const Index size : {1, 5}) {
    BlockJacobi j = make(a, consecutive_blocks(a.rows, size));
    const FactorStatus status = load(j, tiny);
    EXPECT_EQ(status.outcome, FactorOutcome::non_finite) << "the inverse has no room";
    EXPECT_EQ(status.first_row, 0);
    for (const double value : apply(j, test::right_hand_side(a.rows))) EXPECT_TRUE(std::isnan(value));
  }
  // An infinity in the first step, from which a NaN comes.
  const CsrMatrix steep{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1e-200, 1e200, 0, 1}};
  BlockJacobi j = make(steep, consecutive_blocks(2, 2));
  const FactorStatus status = load(j, steep);
  EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
  EXPECT_EQ(status.first_row, 1);
}

TEST_P(BlockJacobiTest, PivotsAreTheLargestOfTheirColumn) {
  const CsrMatrix a{4, 4, {0, 2, 4, 6, 8}, {0, 1, 0, 1, 2, 3, 2, 3}, {1e-14, 1, 2, 3, 0, 5, 1e-13, 7}};
  const std::vector<double> b = {1, 2, 3, 4};
  const JacobiBlocks blocks = consecutive_blocks(4, 2);
  BlockJacobi j = make(a, blocks);
  ASSERT_TRUE(load(j, a).ok());
  for (const bool transposed : {false, true}) {
    const std::vector<double> x = apply(j, b, transposed);
    const std::vector<double> expected = kernels::reference_block_jacobi(a.view(), blocks, {}, b, transposed);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-12 * std::abs(expected[i])) << i;
  }
}

TEST_P(BlockJacobiTest, NaNsInTheVectorStayInTheirBlock) {
  const CsrMatrix a = test::tridiagonal(100, -1, 4, -1);
  std::vector<double> b = test::right_hand_side(a.rows);
  b[51] = std::nan("");
  BlockJacobi j = make(a, consecutive_blocks(a.rows, 5));
  ASSERT_TRUE(load(j, a).ok());
  for (const bool transposed : {false, true}) {
    const std::vector<double> x = apply(j, b, transposed);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(x[i]), i / 5 == 10) << i;
  }
}

TEST_P(BlockJacobiTest, NoRows) {
  const CsrMatrix none{0, 0, {0}, {}, {}};
  for (const int sweeps : {1, 2}) {
    BlockJacobi j = make(none, graph_blocks(none, 8), {.sweeps = sweeps});
    EXPECT_TRUE(load(j, none).ok());
    EXPECT_TRUE(apply(j, {}).empty());
    EXPECT_EQ(j.info().blocks, 0);
  }
}

TEST_P(BlockJacobiTest, RefusesWhatItCannotDo) {
  const CsrMatrix a = test::tridiagonal(40, -1, 4, -1);
  const JacobiBlocks good = consecutive_blocks(40, 8);
  EXPECT_THROW(make(a, good, {.sweeps = 0}), InvalidInput);
  EXPECT_THROW(make(a, good, {.damping = 0.0}), InvalidInput);
  EXPECT_THROW(make(a, good, {.damping = std::nan("")}), InvalidInput);
  EXPECT_THROW(make(a, good, {.long_row = -1}), InvalidInput);
  EXPECT_THROW(make(a, consecutive_blocks(39, 8)), InvalidInput);
  EXPECT_THROW(make(a, consecutive_blocks(40, 33)), InvalidInput);
  EXPECT_THROW(make(a, {{}, {0, 8, 8, 40}}), InvalidInput) << "an empty block";
  EXPECT_THROW(make(a, {{}, {0, 20, 10, 40}}), InvalidInput) << "they descend";
  EXPECT_THROW(make(a, {{}, {}}), InvalidInput);
  EXPECT_THROW(make(a, {std::vector<Index>(40, 3), good.offsets}), InvalidInput) << "no permutation";
  EXPECT_THROW(make(a, {{0, 1}, good.offsets}), InvalidInput);
  CsrMatrix wide = a;
  wide.cols = 41;
  EXPECT_THROW(make(wide, good), InvalidInput);

  BlockJacobi j = make(a, good);
  const std::vector<double> b = test::right_hand_side(a.rows);
  test::Array<double> rhs = place(b);
  test::Array<double> x = place(b);
  EXPECT_THROW(j.apply(rhs.data(), x.data(), space(), false, stream()), InvalidInput) << "no values";
  ASSERT_TRUE(load(j, a).ok());
  EXPECT_THROW(j.apply(nullptr, x.data(), space(), false, stream()), InvalidInput);
  EXPECT_THROW(j.iterate(rhs.data(), x.data(), space(), stream()), InvalidInput) << "the matrix is not kept";
  EXPECT_THROW(static_cast<void>(load(j, test::tridiagonal(41, -1, 4, -1))), InvalidInput);
  BlockJacobi keeps = make(a, good, {.keep_matrix = true});
  ASSERT_TRUE(load(keeps, a).ok());
  EXPECT_THROW(keeps.iterate(rhs.data(), rhs.data(), space(), stream()), InvalidInput);
}

}  // namespace
}  // namespace taskdag
