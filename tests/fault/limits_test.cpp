// Counts at the end of 32 bits, where arrays of that size are not needed.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "backend/backends.hpp"
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "backends/host/seam.hpp"
#include "base/index.hpp"
#include "kernels/ordering/colouring/aggregation.hpp"
#include "kernels/ordering/colouring/block_colouring.hpp"

namespace taskdag {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

TEST(LimitsTest, PiecesOfEveryCount) {
  EXPECT_EQ(pieces_of(0, kMost), 0);
  EXPECT_EQ(pieces_of(1, kMost), 1);
  EXPECT_EQ(pieces_of(kMost, kMost), 1);
  EXPECT_EQ(pieces_of(kMost, kMost - 1), 2);
  EXPECT_EQ(pieces_of(kMost, 256), 1 << 23);
  EXPECT_EQ(pieces_of(kMost - 255, 256), (1 << 23) - 1);  // a multiple of 256
  EXPECT_EQ(pieces_of(kMost - 254, 256), 1 << 23);
  EXPECT_EQ(pieces_of(kMost, 1), kMost);
}

TEST(LimitsTest, TicketsOfEveryCountAreDrawnOnce) {
  for (const Index chunk : {Index{1} << 30, kMost}) {
    host::TicketCounter tickets;
    std::int64_t drawn = 0;
    Index first = 0;
    Index last = 0;
    while (tickets.take(kMost, chunk, first, last)) {
      EXPECT_EQ(first, drawn);
      EXPECT_GT(last, first);
      drawn = last;
    }
    EXPECT_EQ(drawn, kMost);
    EXPECT_FALSE(tickets.take(kMost, chunk, first, last));
  }
}

TEST(LimitsTest, BlocksOfManyRowsAreCutEvenly) {
  const Index rows[] = {kMost};
  for (const Index block_size : {Index{1} << 29, (Index{1} << 30) - 1, Index{1} << 30, kMost}) {
    const std::vector<Index> offsets = kernels::cut_blocks(rows, block_size);
    const bool whole = kMost <= 2 * std::int64_t{block_size};
    EXPECT_EQ(offsets.size(), whole ? 2U : at(pieces_of(kMost, block_size)) + 1);
    EXPECT_EQ(offsets.front(), 0);
    EXPECT_EQ(offsets.back(), kMost);
    EXPECT_TRUE(std::ranges::is_sorted(offsets));
  }
}

TEST(LimitsTest, RulesOfBlocksTakeEverySize) {
  EXPECT_EQ(default_block_size(kMost), 256);
  for (const Index block_size : {Index{1}, Index{256}, kMost}) {
    const Index balls = kernels::ball_count(kMost, block_size);
    EXPECT_GE(balls, 1);
    EXPECT_LE(balls, 64);
    for (const Index ball : {Index{0}, balls - 1}) {
      EXPECT_GE(kernels::ball_centre(kMost, balls, ball), 0);
      EXPECT_LT(kernels::ball_centre(kMost, balls, ball), kMost);
    }
    EXPECT_GE(kernels::hub_degree(kMost, 2 * std::int64_t{kMost}, block_size), block_size);
  }
}

TASKDAG_BACKEND_SUITE(LimitsEverywhereTest, test::once_per_backend());

TEST_P(LimitsEverywhereTest, BlocksAsLargeAsThereAre) {
  // Coupled rows, and some that are alone.
  CsrMatrix a = test::arrow(300);
  const CsrMatrix diagonal = test::tridiagonal(50, 0, 2, 0);
  for (Index row = 0; row < diagonal.rows; ++row) {
    a.col_indices.push_back(a.rows + row);
    a.values.push_back(2.0);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  a.rows = a.cols = a.rows + diagonal.rows;
  for (const CsrMatrix& matrix : {a, diagonal, test::tridiagonal(100, -1, 3, -1)}) {
    for (const Index block_size : {kMost, kMost - 1, Index{1} << 30}) {
      test::MatrixArrays arrays = place(matrix);
      const BlockOrdering ordering =
          block_multicolour(context(), arrays.pattern(), space(), {.block_size = block_size}, stream());
      EXPECT_EQ(find_fault(ordering.blocks, matrix.pattern(), ordering.order), std::nullopt);
      EXPECT_LE(ordering.blocks.blocks(), matrix.rows);
    }
  }
}

TEST(LimitsTest, VectorsFartherApartThan32Bits) {
  const CsrMatrix a = test::tridiagonal(20, -1, 3, -1);
  constexpr std::int64_t kApart = (std::int64_t{1} << 31) + 5;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kApart + 20) * sizeof(double);
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "17 GB of addresses are not to be had";
  auto* const x = static_cast<double*>(memory);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const std::int64_t column : {std::int64_t{0}, kApart}) std::ranges::copy(b, x + column);
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  TriangularSolver solver(context, a.view(), MemorySpace::host, {});
  solver.solve_many(2, x, kApart, x, kApart, MemorySpace::host);
  const std::vector<double> reference = test::reference_solve(a, {}, b);
  for (const std::int64_t column : {std::int64_t{0}, kApart}) {
    const std::vector<double> result(x + column, x + column + a.rows);
    EXPECT_LE(test::difference(result, reference), test::kForwardBound);
  }
  EXPECT_EQ(::munmap(memory, kBytes), 0);
}

}  // namespace
}  // namespace taskdag
