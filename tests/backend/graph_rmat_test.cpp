// The scale-free generator.
#include <gtest/gtest.h>

#include <algorithm>

#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

TEST(Rmat, IsASymmetricPatternWithoutLoops) {
  const CsrMatrix a = make_rmat({.scale = 9, .edges_per_vertex = 8});
  validate(a.pattern(), {.square = true});
  const auto has = [&](Index row, Index column) {
    return std::binary_search(a.col_indices.begin() + a.row_offsets.data()[row],
                              a.col_indices.begin() + a.row_offsets.data()[row + 1], column);
  };
  for (Index row = 0; row < a.rows; ++row) {
    EXPECT_FALSE(has(row, row));
    for (Offset e = a.row_offsets.data()[row]; e < a.row_offsets.data()[row + 1]; ++e) {
      EXPECT_TRUE(has(a.col_indices.data()[e], row));
    }
  }
  EXPECT_EQ(a.rows, 512);
  EXPECT_LE(a.entries(), 2 * 8 * 512);
  EXPECT_GT(a.entries(), 8 * 512);
}

TEST(Rmat, TheSeedDecides) {
  const auto columns = [](std::uint64_t seed) { return make_rmat({.scale = 8, .seed = seed}).col_indices; };
  EXPECT_EQ(columns(1), columns(1));
  EXPECT_NE(columns(1), columns(2));
}

TEST(Rmat, DegreesAreUnequalUnlessTheQuadrantsAreEqual) {
  const auto most = [](const RmatSpec& spec) {
    const CsrMatrix a = make_rmat(spec);
    Offset degree = 0;
    for (Index row = 0; row < a.rows; ++row) {
      degree = std::max(degree, a.row_offsets.data()[row + 1] - a.row_offsets.data()[row]);
    }
    return degree;
  };
  EXPECT_GT(most({.scale = 11}), 300);
  EXPECT_LT(most({.scale = 11, .a = 0.25, .b = 0.25, .c = 0.25}), 80);
}

TEST(Rmat, RefusesWhatMakesNoSense) {
  EXPECT_THROW(make_rmat({.scale = 0}), InvalidInput);
  EXPECT_THROW(make_rmat({.scale = 29}), InvalidInput);
  EXPECT_THROW(make_rmat({.edges_per_vertex = -1}), InvalidInput);
  EXPECT_THROW(make_rmat({.a = 0.6, .b = 0.3, .c = 0.3}), InvalidInput);
  EXPECT_THROW(make_rmat({.scale = 28, .edges_per_vertex = 16}), InvalidInput);
}

}  // namespace
}  // namespace taskdag
