/// The problems that the benchmark program makes.
#include "problems.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace taskdag::benchmark {
namespace {

/// Position of (i, j). @pre it is there
std::size_t entry_of(const CsrMatrix& a, Index i, Index j) {
  auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
  while (a.col_indices.at(e) != j) ++e;
  return e;
}

struct Published {
  const char* name;
  Index rows;
  Offset entries;
};

TEST(RandomProblems, AreSymmetricDominantAndAsLargeAsMhives) {
  for (const auto& [name, rows, entries] :
       {Published{"dominant 10k 110k", 10000, 109976}, Published{"dominant 10k 210k", 10000, 209876},
        Published{"dominant 32k 432k", 32000, 431942}, Published{"dominant 20k 540k", 20000, 539824}}) {
    SCOPED_TRACE(name);
    bool repaired = true;
    const CsrMatrix a = make_problem(name, repaired);
    EXPECT_FALSE(repaired);
    EXPECT_EQ(set_of(name, a.rows), ProblemSet::random);
    EXPECT_NO_THROW(validate(a.pattern(), {.square = true}));
    ASSERT_EQ(a.rows, rows);
    ASSERT_EQ(a.entries(), entries);
    for (Index i = 0; i < a.rows; ++i) {
      double others = 0.0;
      double diagonal = 0.0;
      for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
        const Index j = a.col_indices[e];
        (j == i ? diagonal : others) += std::abs(a.values[e]);
        if (j < i) {
          ASSERT_EQ(a.values[e], a.values[entry_of(a, j, i)]);
        }
      }
      ASSERT_GT(diagonal, others);
    }
  }
}

}  // namespace
}  // namespace taskdag::benchmark
