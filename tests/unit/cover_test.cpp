// Which rows share a thread block (kernels/sptrsv/schedules/blocks/cover.hpp).
#include "kernels/sptrsv/schedules/blocks/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/index.hpp"

namespace taskdag {
namespace {

using kernels::supersteps::Cover;
using kernels::supersteps::cover_blocks;
using kernels::supersteps::PortionRange;

/// Superstep of each position; fails where a position is in no portion or in two.
std::vector<Index> supersteps_by_position(const Cover& cover, Index rows) {
  std::vector<Index> superstep(at(rows), -1);
  for (Index s = 0; s < cover.supersteps(); ++s) {
    for (Index c = cover.superstep_offsets[at(s)]; c < cover.superstep_offsets[at(s + 1)]; ++c) {
      const PortionRange portion = cover.portions[at(c)];
      EXPECT_GT(portion.rows, 0);
      for (Index p = portion.first; p < portion.first + portion.rows; ++p) {
        EXPECT_EQ(superstep[at(p)], -1) << p;
        superstep[at(p)] = s;
      }
    }
  }
  EXPECT_EQ(std::ranges::count(superstep, -1), 0);
  return superstep;
}

TEST(Cover, EveryRowIsInOnePortionAndColoursKeepTheirOrder) {
  const RowBlocks blocks{{0, 5, 5, 9, 40, 43, 44}, {0, 3, 4, 6}};
  for (const Index most : {1, 4, 10, 100}) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(most);
      const Cover cover = cover_blocks(blocks, triangle, most);
      for (const PortionRange& portion : cover.portions) EXPECT_LE(portion.rows, most);
      std::vector<Index> superstep = supersteps_by_position(cover, blocks.rows());
      if (triangle == Triangle::upper) std::ranges::reverse(superstep);
      const std::vector<Index> ends = {9, 40, 44};
      for (std::size_t c = 0; c + 1 < ends.size(); ++c) {
        const auto begin = superstep.begin();
        const Index first = c == 0 ? 0 : ends[c - 1];
        const auto [low, high] = std::minmax_element(begin + first, begin + ends[c]);
        const auto [next_low, next_high] = std::minmax_element(begin + ends[c], begin + ends[c + 1]);
        if (triangle == Triangle::lower) {
          EXPECT_LT(*high, *next_low);
        } else {
          EXPECT_GT(*low, *next_high);
        }
      }
    }
  }
}

TEST(Cover, BothTrianglesHaveTheSamePortionsInTheOrderOfTheBlocks) {
  const RowBlocks blocks{{0, 5, 8, 9, 40, 43, 60}, {0, 3, 4, 6}};
  for (const Index most : {1, 4, 10, 100}) {
    SCOPED_TRACE(most);
    const Cover lower = cover_blocks(blocks, Triangle::lower, most);
    const Cover upper = cover_blocks(blocks, Triangle::upper, most);
    ASSERT_EQ(lower.supersteps(), upper.supersteps());
    for (Index s = 0; s < lower.supersteps(); ++s) {
      const Index other = upper.superstep_offsets[at(upper.supersteps() - 1 - s)];
      const Index first = lower.superstep_offsets[at(s)];
      const Index portions = lower.superstep_offsets[at(s + 1)] - first;
      ASSERT_EQ(upper.superstep_offsets[at(upper.supersteps() - s)] - other, portions);
      for (Index c = 0; c < portions; ++c) {
        const PortionRange& mine = lower.portions[at(first + c)];
        const PortionRange& mirrored = upper.portions[at(other + c)];
        EXPECT_EQ(mirrored.rows, mine.rows);
        EXPECT_EQ(mirrored.first, blocks.rows() - mine.first - mine.rows);
      }
    }
  }
}

TEST(Cover, SmallBlocksShareAPortionAndLargeOnesAreCutIntoPiecesOneAfterTheOther) {
  const Cover together = cover_blocks({{0, 3, 6, 9, 12}, {0, 4}}, Triangle::lower, 6);
  EXPECT_EQ(together.supersteps(), 1);
  EXPECT_EQ(together.portions.size(), 2U);
  const Cover pieces = cover_blocks({{0, 12, 16}, {0, 2}}, Triangle::lower, 6);
  EXPECT_EQ(pieces.supersteps(), 2);
  const std::vector<Index> superstep = supersteps_by_position(pieces, 16);
  EXPECT_LT(superstep[0], superstep[11]);
  EXPECT_EQ(superstep[12], superstep[15]);
}

TEST(Cover, NoRowsNoPortions) {
  const Cover cover = cover_blocks({}, Triangle::upper, 8);
  EXPECT_TRUE(cover.portions.empty());
  EXPECT_EQ(cover.supersteps(), 0);
}

}  // namespace
}  // namespace taskdag
