// Where host sweeps keep the result of the row before at hand.
#include "kernels/sptrsv/host/row_before.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taskdag::kernels {
namespace {

bool follow(const std::vector<Index>& nearest, bool backward = false) {
  const auto rows = static_cast<Index>(nearest.size());
  const auto row_at = [&](Index p) { return backward ? rows - 1 - p : p; };
  return rows_follow(
      rows, [&](Index p) { return nearest[static_cast<std::size_t>(p)]; }, row_at);
}

TEST(RowsFollow, WhereMostNeedTheRowBefore) {
  std::vector<Index> chain(5000);
  for (Index p = 0; p < 5000; ++p) chain[static_cast<std::size_t>(p)] = p - 1;
  EXPECT_TRUE(follow(chain));
  std::vector<Index> backward(5000);
  for (Index p = 0; p < 5000; ++p) backward[static_cast<std::size_t>(p)] = 5000 - p;
  EXPECT_TRUE(follow(backward, true));
  EXPECT_FALSE(follow(backward));
  // A grid: the first row of each line of 64 does not.
  std::vector<Index> grid = chain;
  for (std::size_t p = 64; p < grid.size(); p += 64) grid[p] = static_cast<Index>(p) - 64;
  EXPECT_TRUE(follow(grid));
}

TEST(RowsFollow, NotWhereManyNeedOthers) {
  std::vector<Index> half(5000);
  for (Index p = 0; p < 5000; ++p) half[static_cast<std::size_t>(p)] = p % 8 < 4 ? p - 1 : p - 3;
  EXPECT_FALSE(follow(half));
}

TEST(RowsFollow, RowsWithoutOperandsDoNotCount) {
  std::vector<Index> few(3000, -1);
  for (std::size_t p = 1; p < few.size(); p += 3) few[p] = static_cast<Index>(p) - 1;
  EXPECT_TRUE(follow(few));
  EXPECT_TRUE(follow({}));
  EXPECT_TRUE(follow({-1, -1}));  // nothing to choose
}

}  // namespace
}  // namespace taskdag::kernels
