// Which ranks are put together, from what they say of themselves. PETSc is not started here.
#include "mat/rank_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace taskdag::petsc {
namespace {

std::vector<RankCard> cards(const std::vector<std::string_view>& texts, double entries, double most) {
  std::vector<RankCard> all;
  for (const std::string_view text : texts) {
    RankCard card{.rank = static_cast<int>(all.size()), .entries = entries, .most_entries = most};
    std::ranges::copy(text, card.text.begin());
    all.push_back(card);
  }
  return all;
}

constexpr double kMost = 2147483647.0;

TEST(RankGroups, AreOfTheSameTextInRunsOfTheWantedSize) {
  const std::vector<RankCard> four = cards({"a", "b", "a", "a"}, 1.0, kMost);
  EXPECT_EQ(group_of(four, four[2], 0).members, (std::vector<PetscMPIInt>{0, 2, 3}));
  EXPECT_EQ(group_of(four, four[1], 0).members, (std::vector<PetscMPIInt>{1}));
  EXPECT_EQ(group_of(four, four[0], 2).members, (std::vector<PetscMPIInt>{0, 2}));
  EXPECT_EQ(group_of(four, four[3], 2).members, (std::vector<PetscMPIInt>{3}));
  EXPECT_TRUE(group_of(four, four[0], 0).leads());
  EXPECT_FALSE(group_of(four, four[3], 0).leads());
}

TEST(RankGroups, RanksWithoutATextAreAlone) {
  const std::vector<RankCard> three = cards({"", "", ""}, 2e9, kMost);
  for (const RankCard& card : three) {
    EXPECT_EQ(group_of(three, card, 0).members, std::vector<PetscMPIInt>{card.rank});
    EXPECT_TRUE(group_of(three, card, 0).fits());
  }
}

/// A block has 32-bit offsets: two ranks whose blocks are fine alone may have too many entries together.
TEST(RankGroups, FitWhereTheOneThatLeadsHasRoomForAllEntries) {
  const std::vector<RankCard> large = cards({"a", "a", "a"}, 1.2e9, kMost);
  for (const RankCard& card : large) {
    EXPECT_FALSE(group_of(large, card, 0).fits()) << card.rank;
    EXPECT_EQ(group_of(large, card, 0).entries, 3.6e9);
    EXPECT_TRUE(group_of(large, card, 1).fits()) << card.rank;
  }
  EXPECT_FALSE(group_of(large, large[0], 2).fits());
  EXPECT_TRUE(group_of(large, large[2], 2).fits()) << "it is alone";

  const std::vector<RankCard> exact = cards({"a", "a"}, kMost / 2.0, kMost);
  EXPECT_TRUE(group_of(exact, exact[1], 0).fits());

  // Each rank may see other free memory meanwhile: that of the first one counts for all.
  std::vector<RankCard> full = cards({"a", "a"}, 1e6, 1e9);
  full[0].most_entries = 1e6;
  for (const RankCard& card : full) EXPECT_FALSE(group_of(full, card, 0).fits()) << card.rank;
}

}  // namespace
}  // namespace taskdag::petsc
