// Exceptions, validation of patterns, products and offset checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "base/index.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

CsrMatrix three_by_three() {
  return {.rows = 3,
          .cols = 3,
          .row_offsets = {0, 2, 3, 5},
          .col_indices = {0, 2, 1, 0, 2},
          .values = {1.0, 2.0, 3.0, 4.0, 5.0}};
}

void expect_refused(const CsrMatrix& a, const std::string& message, CsrRequirements requirements = {}) {
  try {
    validate(a.pattern(), requirements);
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(ParseErrorTest, MessageStartsWithFileAndLine) {
  const ParseError error("a.mtx", 17, "too short");
  EXPECT_STREQ(error.what(), "a.mtx:17: too short");
  EXPECT_EQ(error.line(), 17);
}

TEST(IndexTest, PiecesEndWithinTheCountAndBelowTheLargestIndex) {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  EXPECT_EQ(end_of_piece(0, 256, 1000), 256);
  EXPECT_EQ(end_of_piece(768, 256, 1000), 1000);
  EXPECT_EQ(end_of_piece(768, 256, 1024), 1024);
  EXPECT_EQ(end_of_piece(0, 256, 0), 0);
  EXPECT_EQ(end_of_piece(kMost - 255, 256, kMost), kMost);
  EXPECT_EQ(end_of_piece(kMost - 256, 256, kMost), kMost);
}

TEST(ErrorTest, EveryKindIsCaughtAsError) {
  EXPECT_THROW(throw InvalidInput("x"), Error);
  EXPECT_THROW(throw ParseError("f", 0, "x"), Error);
  EXPECT_THROW(throw Unsupported("x"), Error);
  EXPECT_THROW(throw DeviceError("x"), Error);
  EXPECT_THROW(throw OutOfMemory("x"), Error);
}

TEST(ValidateTest, AcceptsValidPatterns) {
  EXPECT_NO_THROW(validate(three_by_three().pattern(), {.square = true, .diagonal = true}));
  EXPECT_NO_THROW(validate(CsrMatrix{}.pattern(), {.square = true, .diagonal = true}));
  EXPECT_NO_THROW(validate(CsrPattern{}));
  EXPECT_NO_THROW(validate(CsrPattern{.rows = 0, .cols = 5}));
}

TEST(ValidateTest, AcceptsEmptyRowsAndRectangles) {
  const CsrMatrix a{.rows = 3, .cols = 9, .row_offsets = {0, 0, 1, 1}, .col_indices = {8}, .values = {1.0}};
  EXPECT_NO_THROW(validate(a.pattern()));
}

TEST(ValidateTest, RefusesShapes) {
  CsrMatrix a = three_by_three();
  a.cols = 4;
  expect_refused(a, "the matrix is not square: 3 x 4", {.square = true});
  a.rows = -1;
  expect_refused(a, "the shape -1 x 4 is negative");
}

TEST(ValidateTest, RefusesMissingArrays) {
  EXPECT_THROW(validate(CsrPattern{.rows = 1, .cols = 1}), InvalidInput);
  const std::vector<Offset> offsets = {0, 1};
  EXPECT_THROW(validate(CsrPattern{.rows = 1, .cols = 1, .row_offsets = offsets.data()}), InvalidInput);
}

TEST(ValidateTest, NamesTheFirstRowWithBadOffsets) {
  CsrMatrix a = three_by_three();
  a.row_offsets = {1, 2, 3, 5};
  expect_refused(a, "row 0 starts at offset 1, not at 0");
  // The offset of row 1 lies far behind the entries: nothing may be read there before the offsets are known to be good.
  a.row_offsets = {0, 1000000000, 3, 2};
  expect_refused(a, "row 1 ends at offset 3, before its start at 1000000000");
}

TEST(ValidateTest, NamesTheFirstRowWithBadColumns) {
  CsrMatrix a = three_by_three();
  a.col_indices = {0, 2, 3, 0, 7};
  expect_refused(a, "row 1 has column 3, outside 0 … 2");
  a.col_indices = {0, 2, -1, 0, 7};
  expect_refused(a, "row 1 has column -1, outside 0 … 2");
  a.col_indices = {0, 2, 1, 2, 2};
  expect_refused(a, "row 2 holds column 2 twice");
  a.col_indices = {0, 2, 1, 2, 0};
  expect_refused(a,
                 "row 2 has column 0 after 2, not ascending: sort the entries of each row (in PETSc before "
                 "MatCreateSeqAIJWithArrays() and the like, MatSetValues() sorts)");
}

TEST(ValidateTest, FindsAFaultInAnyPlace) {
  // Rows of 0, 1, 2, … 9 entries from column 3 on.
  CsrMatrix a{10, 20, {0}, {}, {}};
  for (Index row = 0; row < a.rows; ++row) {
    for (Index k = 0; k < row; ++k) a.col_indices.push_back(3 + k);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.values.resize(a.col_indices.size());
  EXPECT_NO_THROW(validate(a.pattern()));
  for (Index& column : a.col_indices) {
    const Index right = column;
    for (const Index wrong : {-1, 20, std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()}) {
      column = wrong;
      EXPECT_THROW(validate(a.pattern()), InvalidInput);
    }
    column = right > 3 ? right - 1 : right;  // the one before, where there is one
    if (right > 3) {
      EXPECT_THROW(validate(a.pattern()), InvalidInput);
    } else {
      EXPECT_NO_THROW(validate(a.pattern()));
    }
    column = right;
  }
}

TEST(ValidateTest, NamesTheFirstRowWithoutDiagonal) {
  CsrMatrix a = three_by_three();
  a.col_indices = {0, 2, 2, 0, 1};
  EXPECT_NO_THROW(validate(a.pattern(), {.square = true}));
  expect_refused(a, "row 1 has no diagonal entry", {.diagonal = true});
}

TEST(MultiplyTest, IsTheProductOfEachRow) {
  const CsrMatrix a = three_by_three();
  const std::vector<double> x = {1.0, 10.0, 100.0};
  std::vector<double> y(3, -1.0);
  multiply(a.view(), x, y);
  EXPECT_THAT(y, testing::ElementsAre(201.0, 30.0, 504.0));
}

TEST(MultiplyTest, RefusesVectorsOfOtherLengths) {
  const CsrMatrix a = three_by_three();
  std::vector<double> three(3);
  std::vector<double> two(2);
  EXPECT_THROW(multiply(a.view(), two, three), InvalidInput);
  EXPECT_THROW(multiply(a.view(), three, two), InvalidInput);
}

TEST(CheckedOffsetTest, ConvertsWhatFitsAndNamesWhatDoesNot) {
  EXPECT_EQ(checked_offset(0, "m"), 0);
  EXPECT_EQ(checked_offset(2147483647, "m"), std::numeric_limits<Offset>::max());
  try {
    checked_offset(2147483648, "the matrix");
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "the matrix has 2147483648 entries, more than 32-bit offsets can address");
  }
  EXPECT_THROW(checked_offset(-1, "m"), InvalidInput);
}

}  // namespace
}  // namespace taskdag
