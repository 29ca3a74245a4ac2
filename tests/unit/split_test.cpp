#include "dag/split.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dag/transpose.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

/// A's values by place: the lower triangle's, the upper one's, the diagonal's.
std::vector<double> by_place(const CsrMatrix& a) {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> diagonal;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto entry = static_cast<std::size_t>(e);
      const Index j = a.col_indices[entry];
      (j < i ? lower : j > i ? upper : diagonal).push_back(a.values[entry]);
    }
  }
  lower.insert(lower.end(), upper.begin(), upper.end());
  lower.insert(lower.end(), diagonal.begin(), diagonal.end());
  return lower;
}

TEST(Split, GivesBothTrianglesAsPatternsAndJoinPutsThemTogether) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 5, .wind = 0.5});
  const SplitPattern split = taskdag::split(a.pattern(), diagonal_entries(a.pattern()), SplitParts::both);
  EXPECT_EQ(split.entries(), a.entries());
  EXPECT_EQ(split.lower_entries(), split.upper_entries());
  EXPECT_NO_THROW(validate(split.lower(), {.square = true}));
  EXPECT_NO_THROW(validate(split.upper(), {.square = true}));
  const CsrMatrix joined = join(split, by_place(a).data());
  EXPECT_EQ(joined.row_offsets, a.row_offsets);
  EXPECT_EQ(joined.col_indices, a.col_indices);
  EXPECT_EQ(joined.values, a.values);
}

TEST(Split, LeavesTheLowerTriangleOut) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 4});
  const SplitPattern split = taskdag::split(a.pattern(), diagonal_entries(a.pattern()), SplitParts::upper);
  EXPECT_EQ(split.lower_entries(), 0);
  EXPECT_EQ(2 * split.upper_entries() + a.rows, a.entries());
}

TEST(Split, TakesEmptyPatternsAndRowsOfTheDiagonalAlone) {
  const CsrMatrix none;
  const SplitPattern empty = taskdag::split(none.pattern(), {}, SplitParts::both);
  EXPECT_EQ(empty.entries(), 0);
  EXPECT_EQ(join(empty, nullptr).rows, 0);
  const CsrMatrix identity{2, 2, {0, 1, 2}, {0, 1}, {3.0, 4.0}};
  const SplitPattern split = taskdag::split(identity.pattern(), diagonal_entries(identity.pattern()), SplitParts::both);
  EXPECT_EQ(split.lower_entries() + split.upper_entries(), 0);
  EXPECT_EQ(join(split, identity.values.data()).values, identity.values);
}

TEST(DiagonalEntries, AreFoundInShortAndLongRowsAndMissedByName) {
  CsrMatrix a;
  a.rows = a.cols = 40;
  for (Index i = 0; i < a.rows; ++i) {  // rows of 1 … 40 entries
    for (Index j = 0; j <= i; ++j) a.col_indices.push_back(j);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  const std::vector<Offset> diagonal = diagonal_entries(a.pattern());
  for (std::size_t i = 0; i < diagonal.size(); ++i) EXPECT_EQ(diagonal[i], a.row_offsets[i + 1] - 1);
  a.col_indices.pop_back();
  --a.row_offsets.back();
  EXPECT_THROW(static_cast<void>(diagonal_entries(a.pattern())), InvalidInput);
}

}  // namespace
}  // namespace taskdag
