// Patterns of fill levels against the usual row by row rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/factor/fill/levels.hpp"
#include "support/effort.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

constexpr int kNoLevel = 1 << 20;

/// Whether rows i and j are in one block; without blocks all are.
bool together(const RowBlocks* blocks, std::size_t i, std::size_t j) {
  if (blocks == nullptr) return true;
  const auto block = [&](std::size_t row) {
    return std::ranges::upper_bound(blocks->block_offsets, static_cast<Index>(row));
  };
  return block(i) == block(j);
}

/// Levels of all entries of a dense array, by elimination: level(i, j) = min over k of level(i, k) + level(k, j) + 1.
/// Fill that couples two of `blocks` is dropped as soon as it comes up.
std::vector<std::vector<int>> levels_by_elimination(const CsrPattern& pattern, int most, const RowBlocks* blocks) {
  const auto n = static_cast<std::size_t>(pattern.rows);
  std::vector<std::vector<int>> level(n, std::vector<int>(n, kNoLevel));
  for (std::size_t i = 0; i < n; ++i) {
    for (Offset e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
      level[i][static_cast<std::size_t>(pattern.col_indices[e])] = 0;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (level[i][k] > most) continue;
      for (std::size_t j = k + 1; j < n; ++j) {
        if (level[i][j] == 0 || !together(blocks, i, j)) continue;
        level[i][j] = std::min(level[i][j], level[i][k] + level[k][j] + 1);
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (level[i][j] > most) level[i][j] = kNoLevel;  // dropped: it takes no part from here on
    }
  }
  return level;
}

MappedPattern mapped(const CsrMatrix& a) {
  MappedPattern result{a.rows, a.cols, a.row_offsets, a.col_indices, {}};
  result.source_entry.resize(a.col_indices.size());
  std::iota(result.source_entry.begin(), result.source_entry.end(), Offset{0});
  return result;
}

CsrMatrix random_pattern(Index n, double density, unsigned seed, bool symmetric) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<std::vector<char>> present(static_cast<std::size_t>(n), std::vector<char>(static_cast<std::size_t>(n)));
  for (std::size_t i = 0; i < present.size(); ++i) {
    for (std::size_t j = 0; j < present.size(); ++j) present[i][j] = i == j || uniform(random) < density ? 1 : 0;
  }
  CsrMatrix a;
  a.rows = a.cols = n;
  for (std::size_t i = 0; i < present.size(); ++i) {
    for (std::size_t j = 0; j < present.size(); ++j) {
      if (present[i][j] || (symmetric && present[j][i])) a.col_indices.push_back(static_cast<Index>(j));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

/// Blocks of up to `most` rows, some of them empty, of one row, or as large as that.
RowBlocks random_blocks(Index rows, Index most, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<Index> uniform(0, most);
  RowBlocks blocks;
  while (blocks.rows() < rows) blocks.block_offsets.push_back(std::min(rows, blocks.rows() + uniform(random)));
  blocks.colour_offsets.push_back(blocks.blocks());
  return blocks;
}

void expect_pattern(const MappedPattern& found, const CsrMatrix& a, int most, bool upper_only,
                    const RowBlocks* blocks = nullptr) {
  const auto level = levels_by_elimination(a.pattern(), most, blocks);
  ASSERT_EQ(found.rows, a.rows);
  ASSERT_EQ(found.row_offsets.size(), static_cast<std::size_t>(a.rows) + 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    std::vector<Index> expected;
    for (std::size_t j = upper_only ? i : 0; j < static_cast<std::size_t>(a.rows); ++j) {
      if (level[i][j] <= most) expected.push_back(static_cast<Index>(j));
    }
    const std::vector<Index> columns(found.col_indices.begin() + found.row_offsets[i],
                                     found.col_indices.begin() + found.row_offsets[i + 1]);
    ASSERT_EQ(columns, expected) << "row " << i << ", fill level " << most;
    for (auto e = static_cast<std::size_t>(found.row_offsets[i]);
         e < static_cast<std::size_t>(found.row_offsets[i + 1]); ++e) {
      const auto j = static_cast<std::size_t>(found.col_indices[e]);
      const Offset source = found.source_entry[e];
      EXPECT_EQ(source<0, level[i][j]> 0) << "row " << i << ", column " << j;
      if (source < 0) continue;
      EXPECT_EQ(a.col_indices[static_cast<std::size_t>(source)], found.col_indices[e]);
      EXPECT_GE(source, a.row_offsets[i]);
      EXPECT_LT(source, a.row_offsets[i + 1]);
    }
  }
}

TEST(Fill, IsThatOfTheRowByRowRule) {
  host::ThreadPool pool(3);
  for (unsigned seed = 0; seed < (test::kSanitized ? 2 : 6); ++seed) {
    for (const double density : {0.02, 0.05, 0.15}) {
      const CsrMatrix a = random_pattern(60, density, seed, seed % 2 == 0);
      for (const Index levels : {0, 1, 2, 3, 60})
        expect_pattern(fill_pattern(mapped(a), levels, nullptr, pool), a, levels, false);
    }
  }
}

TEST(Fill, OfASymmetricPatternNeedsItsUpperTriangleAlone) {
  host::ThreadPool pool(3);
  for (unsigned seed = 0; seed < 6; ++seed) {
    const CsrMatrix a = random_pattern(60, 0.03, seed, true);
    MappedPattern upper = upper_triangle(a.pattern());
    for (const Index levels : {0, 1, 2, 3, 60}) {
      expect_pattern(fill_upper_pattern(upper, levels, nullptr, pool), a, levels, true);
    }
  }
}

TEST(Fill, InsideBlocksIsThatOfTheRuleThatDropsTheRest) {
  host::ThreadPool pool(3);
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const double density : {0.02, 0.05, 0.15}) {
      const CsrMatrix a = random_pattern(60, density, seed, seed % 2 == 0);
      for (const Index rows : {1, 7, 25, 60}) {
        const RowBlocks blocks = random_blocks(a.rows, rows, seed);
        for (const Index levels : {0, 1, 2, 3, 60}) {
          expect_pattern(fill_pattern(mapped(a), levels, &blocks, pool), a, levels, false, &blocks);
          if (seed % 2 != 0) continue;
          expect_pattern(fill_upper_pattern(upper_triangle(a.pattern()), levels, &blocks, pool), a, levels, true,
                         &blocks);
        }
      }
    }
  }
}

TEST(Fill, InsideOneBlockIsFillEverywhere) {
  host::ThreadPool pool(2);
  const CsrMatrix a = random_pattern(200, 0.01, 3, false);
  const RowBlocks one{{0, 200}, {0, 1}};
  EXPECT_EQ(fill_pattern(mapped(a), 2, &one, pool).col_indices, fill_pattern(mapped(a), 2, nullptr, pool).col_indices);
}

TEST(Fill, InsideBlocksOfOneRowIsNone) {
  host::ThreadPool pool(2);
  const CsrMatrix a = random_pattern(50, 0.1, 3, false);
  RowBlocks single;
  while (single.rows() < a.rows) single.block_offsets.push_back(single.rows() + 1);
  EXPECT_EQ(fill_pattern(mapped(a), 3, &single, pool).col_indices, a.col_indices);
}

TEST(Fill, OfLevelZeroIsThePatternItself) {
  host::ThreadPool pool(2);
  const CsrMatrix a = random_pattern(300, 0.01, 7, false);
  const MappedPattern found = fill_pattern(mapped(a), 0, nullptr, pool);
  EXPECT_EQ(found.row_offsets, a.row_offsets);
  EXPECT_EQ(found.col_indices, a.col_indices);
  EXPECT_EQ(found.source_entry, mapped(a).source_entry);
}

TEST(Fill, DoesNotDependOnTheThreads) {
  const CsrMatrix a = make_stencil(
      {.stencil = Stencil::seven_point, .nx = 13, .ny = 12, .nz = 11, .unknowns_per_node = 1, .wind = 1.0});
  host::ThreadPool one(1);
  host::ThreadPool four(4);
  const MappedPattern first = fill_pattern(mapped(a), 2, nullptr, one);
  const MappedPattern second = fill_pattern(mapped(a), 2, nullptr, four);
  EXPECT_GT(first.col_indices.size(), a.col_indices.size());
  EXPECT_EQ(first.row_offsets, second.row_offsets);
  EXPECT_EQ(first.col_indices, second.col_indices);
  EXPECT_EQ(first.source_entry, second.source_entry);
}

TEST(Fill, OfNoRowsIsEmpty) {
  host::ThreadPool pool(2);
  const MappedPattern none{0, 0, {0}, {}, {}};
  EXPECT_TRUE(fill_pattern(none, 2, nullptr, pool).col_indices.empty());
  EXPECT_TRUE(fill_upper_pattern(none, 2, nullptr, pool).col_indices.empty());
}

}  // namespace
}  // namespace taskdag
