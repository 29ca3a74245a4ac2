#include "dag/split.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dag/transpose.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

/// A's values, part by part.
struct Parts {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> diagonal;
};

Parts parts_of(const CsrMatrix& a) {
  Parts parts;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto entry = static_cast<std::size_t>(e);
      const Index j = a.col_indices[entry];
      (j < i ? parts.lower : j > i ? parts.upper : parts.diagonal).push_back(a.values[entry]);
    }
  }
  return parts;
}

/// A square pattern with these columns in its rows.
CsrMatrix with_rows(const std::vector<std::vector<Index>>& rows) {
  CsrMatrix a;
  a.rows = a.cols = static_cast<Index>(rows.size());
  for (const std::vector<Index>& columns : rows) {
    a.col_indices.insert(a.col_indices.end(), columns.begin(), columns.end());
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

std::vector<Index> columns_of(const SplitPattern& split) {
  return {split.columns.get(), split.columns.get() + split.lower_entries() + split.upper_entries()};
}

std::vector<Offset> offsets_of(const SplitPattern& split) {
  return {split.offsets.get(), split.offsets.get() + 2 * (split.rows + 1)};
}

void expect_equal(const SplitPattern& a, const SplitPattern& b) {
  ASSERT_EQ(a.rows, b.rows);
  EXPECT_EQ(offsets_of(a), offsets_of(b));
  EXPECT_EQ(columns_of(a), columns_of(b));
}

TEST(Split, GivesBothTrianglesAsPatternsAndJoinPutsThemTogether) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 5, .wind = 0.5});
  const SplitPattern split = taskdag::split(a.pattern());
  EXPECT_EQ(split.entries(), a.entries());
  EXPECT_EQ(split.lower_entries(), split.upper_entries());
  EXPECT_NO_THROW(validate(split.lower(), {.square = true}));
  EXPECT_NO_THROW(validate(split.upper(), {.square = true}));
  const Parts parts = parts_of(a);
  const CsrMatrix joined = join(split, parts.lower.data(), parts.upper.data(), parts.diagonal.data());
  EXPECT_EQ(joined.row_offsets, a.row_offsets);
  EXPECT_EQ(joined.col_indices, a.col_indices);
  EXPECT_EQ(joined.values, a.values);
  const CsrMatrix upper = join(split, nullptr, parts.upper.data(), parts.diagonal.data());
  EXPECT_EQ(upper.entries(), split.upper_entries() + a.rows);
  EXPECT_EQ(upper.col_indices.front(), 0);
  EXPECT_EQ(upper.values.back(), a.values.back());
}

TEST(Split, TakesEmptyPatternsAndRowsOfTheDiagonalAlone) {
  const CsrMatrix none;
  EXPECT_EQ(split(none.pattern()).entries(), 0);
  EXPECT_EQ(split_symmetric(none.pattern())->entries(), 0);
  EXPECT_EQ(mirror_upper(none.pattern(), {}).entries(), 0);
  EXPECT_EQ(join(split(none.pattern()), nullptr, nullptr, nullptr).rows, 0);
  const CsrMatrix identity{2, 2, {0, 1, 2}, {0, 1}, {3.0, 4.0}};
  const SplitPattern split = taskdag::split(identity.pattern());
  EXPECT_EQ(split.lower_entries() + split.upper_entries(), 0);
  EXPECT_EQ(join(split, nullptr, nullptr, identity.values.data()).values, identity.values);
  EXPECT_EQ(split_symmetric(identity.pattern())->entries(), 2);
}

TEST(Split, NamesTheRowThatLacksItsDiagonalEntry) {
  const CsrMatrix first = with_rows({{1}, {0, 1}});
  const CsrMatrix last = with_rows({{0, 1}, {0}});
  const CsrMatrix empty = with_rows({{0}, {}, {2}});
  for (const CsrMatrix* a : {&first, &last, &empty}) {
    EXPECT_THROW(static_cast<void>(split(a->pattern())), InvalidInput);
    EXPECT_THROW(static_cast<void>(split_symmetric(a->pattern())), InvalidInput);
  }
}

TEST(Split, OfAPermutedPatternNamesTheRowByItsOldNumber) {
  const CsrMatrix a = with_rows({{0}, {0, 1}, {1}});  // row 2 lacks its own
  const std::vector<Index> order = {0, 2, 1};
  const MappedPattern permuted = permute_pattern(a.pattern(), order, order);
  try {
    static_cast<void>(split(permuted.view(), {order}));
    ADD_FAILURE() << "not refused";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "row 2 has no diagonal entry");
  }
}

TEST(Split, OfASymmetricPatternIsThatOfItsUpperTriangle) {
  for (const Stencil stencil : {Stencil::five_point, Stencil::seven_point, Stencil::twenty_seven_point}) {
    const CsrMatrix a =
        make_stencil({.stencil = stencil, .nx = 6, .ny = 5, .nz = stencil == Stencil::five_point ? 1 : 4});
    const auto symmetric = split_symmetric(a.pattern());
    ASSERT_TRUE(symmetric.has_value());
    expect_equal(*symmetric, split(a.pattern()));
    expect_equal(*symmetric, mirror_upper(a.pattern(), diagonal_entries(a.pattern())));
  }
}

/// All patterns of four rows with a diagonal.
TEST(Split, FindsOutWhetherAPatternIsSymmetric) {
  constexpr Index n = 4;
  for (unsigned bits = 0; bits < 1U << (n * n); ++bits) {
    const auto has = [&](Index i, Index j) { return i == j || ((bits >> (i * n + j)) & 1U) != 0; };
    if ((bits & 0x8421U) != 0) continue;  // the diagonal is there anyway
    std::vector<std::vector<Index>> rows(n);
    bool symmetric = true;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        if (has(i, j)) rows[static_cast<std::size_t>(i)].push_back(j);
        symmetric &= has(i, j) == has(j, i);
      }
    }
    const CsrMatrix a = with_rows(rows);
    const auto split = split_symmetric(a.pattern());
    ASSERT_EQ(split.has_value(), symmetric) << bits;
    const SplitPattern mirrored = mirror_upper(a.pattern(), diagonal_entries(a.pattern()));
    if (split) expect_equal(*split, mirrored);
    ASSERT_EQ(columns_of(mirrored).size(), 2 * static_cast<std::size_t>(mirrored.upper_entries()));
    EXPECT_NO_THROW(validate(mirrored.lower(), {.square = true}));
    const Transposed turned = transpose(mirrored.upper());
    for (Index i = 0; i <= n; ++i)
      ASSERT_EQ(turned.row_offsets[static_cast<std::size_t>(i)], mirrored.lower_offsets()[i]);
    for (std::size_t e = 0; e < turned.col_indices.size(); ++e) ASSERT_EQ(turned.col_indices[e], mirrored.columns[e]);
  }
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
