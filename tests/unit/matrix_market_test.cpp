// The Matrix Market parser: what it accepts, what comes out, and how it refuses.
#include "taskdag/io/matrix_market.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <span>

#include "scratch_file.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using testing::ElementsAre;

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string kArray = "%%MatrixMarket matrix array real general\n";

CsrMatrix parse(const std::string& text) {
  CsrMatrix a = parse_matrix_market(text.data(), text.size(), "f");
  validate(a.pattern());
  return a;
}

template <class Refusal = ParseError>
void expect_refused(const std::string& text, const std::string& message) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Refusal& error) {
    EXPECT_EQ(error.what(), message) << text;
  }
}

void expect_matrix(const CsrMatrix& a, const std::vector<Offset>& offsets, const std::vector<Index>& columns,
                   const std::vector<double>& values) {
  EXPECT_EQ(a.row_offsets, offsets);
  EXPECT_EQ(a.col_indices, columns);
  EXPECT_EQ(a.values, values);
}

TEST(ParseTest, RowMajorFileKeepsItsOrder) {
  const CsrMatrix a = parse(kReal + "2 3 3\n1 1 1.5\n1 3 -2e-3\n2 2 .25\n");
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.cols, 3);
  expect_matrix(a, {0, 2, 3}, {0, 2, 1}, {1.5, -2e-3, 0.25});
}

TEST(ParseTest, AnyOrderOfEntriesGivesTheSameMatrix) {
  expect_matrix(parse(kReal + "2 3 4\n2 2 4\n1 3 2\n2 1 3\n1 1 1\n"), {0, 2, 4}, {0, 2, 0, 1}, {1, 2, 3, 4});
  expect_matrix(parse(kReal + "2 3 4\n1 1 1\n2 1 3\n2 2 4\n1 3 2\n"), {0, 2, 4}, {0, 2, 0, 1}, {1, 2, 3, 4});
}

TEST(ParseTest, DuplicatesAreSummedInFileOrder) {
  expect_matrix(parse(kReal + "1 2 4\n1 2 1e100\n1 1 7\n1 2 -1e100\n1 2 1\n"), {0, 2}, {0, 1}, {7, 1});
  expect_matrix(parse(kReal + "2 2 3\n1 1 1\n1 1 2\n2 2 5\n"), {0, 1, 2}, {0, 1}, {3, 5});
}

TEST(ParseTest, IntegerAndPatternFieldsBecomeDoubles) {
  expect_matrix(parse(kInteger + "1 3 3\n1 1 -7\n1 2 +8\n1 3 9007199254740992\n"), {0, 3}, {0, 1, 2},
                {-7, 8, 9007199254740992.0});
  expect_matrix(parse(kInteger + "1 2 2\n1 1 -9007199254740992\n1 2 -0\n"), {0, 2}, {0, 1}, {-9007199254740992.0, 0});
  expect_matrix(parse(kPattern + "2 2 2\n1 2\n2 1\n"), {0, 1, 2}, {1, 0}, {1, 1});
}

TEST(ParseTest, SymmetricFilesAreMirroredFromEitherTriangle) {
  const std::vector<Offset> offsets = {0, 2, 4, 6};
  const std::vector<Index> columns = {0, 1, 0, 2, 1, 2};
  const std::vector<double> values = {1, 2, 2, 3, 3, 4};
  expect_matrix(parse(kSymmetric + "3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n"), offsets, columns, values);
  expect_matrix(parse(kSymmetric + "3 3 4\n1 1 1\n1 2 2\n2 3 3\n3 3 4\n"), offsets, columns, values);
  expect_matrix(parse(kSymmetric + "3 3 4\n3 3 4\n1 2 2\n3 2 3\n1 1 1\n"), offsets, columns, values);
}

TEST(ParseTest, SymmetricPairGivenTwiceIsADuplicate) {
  expect_matrix(parse(kSymmetric + "2 2 2\n2 1 3\n1 2 4\n"), {0, 1, 2}, {1, 0}, {7, 7});
}

TEST(ParseTest, SkewSymmetricFilesAreMirroredWithTheOtherSign) {
  expect_matrix(parse(kSkew + "3 3 2\n2 1 3\n1 3 4\n"), {0, 2, 3, 4}, {1, 2, 0, 0}, {-3, 4, 3, -4});
}

TEST(ParseTest, SymmetricPatternIsMirrored) {
  expect_matrix(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"), {0, 1, 2}, {1, 0}, {1, 1});
}

TEST(ParseTest, BannerWordsHaveAnyCaseAndSpacing) {
  expect_matrix(parse("%%matrixmarket  MATRIX\tCoordinate REAL General \n1 1 1\n1 1 2\n"), {0, 1}, {0}, {2});
}

TEST(ParseTest, CommentsBlankLinesAndCrLfArePassedOver) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n   % indented\r\n \t\r\n 2 2 2 \r\n"
      "%between\r\n\r\n\t1 1\t1 \r\n  2   2 2\r\n\r\n% end\r\n";
  expect_matrix(parse(text), {0, 1, 2}, {0, 1}, {1, 2});
}

TEST(ParseTest, LastLineNeedsNoEnd) {
  expect_matrix(parse(kReal + "1 1 1\n1 1 2"), {0, 1}, {0}, {2});
  expect_matrix(parse(kReal + "1 1 1\n1 1 2\r"), {0, 1}, {0}, {2});
  expect_matrix(parse(kPattern + "9 9 1\n1 9"), {0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {8}, {1});
}

TEST(ParseTest, EmptyMatricesAreMatrices) {
  expect_matrix(parse(kReal + "0 0 0\n"), {0}, {}, {});
  expect_matrix(parse(kReal + "2 3 0"), {0, 0, 0}, {}, {});
}

TEST(ParseTest, NonFiniteAndExtremeValuesAreTakenAsTheyAre) {
  const CsrMatrix a = parse(kReal + "1 6 6\n1 1 nan\n1 2 -inf\n1 3 Infinity\n1 4 4.9e-324\n1 5 -0\n1 6 +1.5E+2\n");
  EXPECT_TRUE(std::isnan(a.values[0]));
  EXPECT_EQ(a.values[1], -HUGE_VAL);
  EXPECT_EQ(a.values[2], HUGE_VAL);
  EXPECT_EQ(a.values[3], 4.9e-324);
  EXPECT_TRUE(std::signbit(a.values[4]));
  EXPECT_EQ(a.values[5], 150.0);
}

TEST(ParseTest, ValuesTooSmallForADoubleAreZeros) {
  const std::string many_zeros(500, '0');
  const CsrMatrix a = parse(kReal + "1 6 6\n1 1 1e-400\n1 2 -1.5E-400\n1 3 2e-324\n1 4 0." + many_zeros +
                            "1\n1 5 1e-99999999999999999999\n1 6 1" + many_zeros + "e-900\n");
  EXPECT_EQ(a.values, std::vector<double>(6, 0.0));
  EXPECT_FALSE(std::signbit(a.values[0]));
  EXPECT_TRUE(std::signbit(a.values[1]));
}

TEST(ParseTest, FortranExponentsAreExponents) {
  const CsrMatrix a = parse(kReal + "1 6 6\n1 1 1.5D+03\n1 2 -2d-1\n1 3 1D5\n1 4 +.5D0\n1 5 1D-400\n1 6 7.D0\n");
  EXPECT_EQ(a.values, (std::vector<double>{1500, -0.2, 1e5, 0.5, 0, 7}));
}

TEST(ParseTest, ByteOrderMarkIsPassedOver) {
  expect_matrix(parse("\xEF\xBB\xBF" + kReal + "1 1 1\n1 1 2\n"), {0, 1}, {0}, {2});
}

TEST(ParseTest, AgreesWithACompletelySeparateSumOnRandomFiles) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 1 + random() % 12;
    const std::size_t entries = random() % 120;
    std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
    const bool symmetric = round % 2 == 0;
    std::string text = (symmetric ? kSymmetric : kReal) + std::to_string(n) + " " + std::to_string(n) + " " +
                       std::to_string(entries) + "\n";
    for (std::size_t e = 0; e < entries; ++e) {
      const std::size_t i = random() % n;
      const std::size_t j = random() % n;
      const int value = 1 + static_cast<int>(random() % 9);
      text += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(value) + "\n";
      dense[i][j] += value;
      if (symmetric && i != j) dense[j][i] += value;
    }
    const CsrMatrix a = parse(text);
    std::size_t e = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (dense[i][j] == 0.0) continue;  // all values are positive: zero means absent
        ASSERT_EQ(static_cast<std::size_t>(a.col_indices.at(e)), j);
        ASSERT_EQ(a.values.at(e), dense[i][j]);
        ++e;
      }
      ASSERT_EQ(static_cast<std::size_t>(a.row_offsets.at(i + 1)), e);
    }
  }
}

TEST(ParseRefusalTest, Banner) {
  expect_refused("", "f:1: the file does not start with '%%MatrixMarket'");
  expect_refused("1 1 1\n1 1 1\n", "f:1: the file does not start with '%%MatrixMarket'");
  expect_refused("\n" + kReal + "0 0 0\n", "f:1: the file does not start with '%%MatrixMarket'");
  expect_refused("%%MatrixMarket matrix coordinate\n", "f:1: the banner ends before the field");
  expect_refused("%%MatrixMarket matrix coordinate real\n", "f:1: the banner ends before the symmetry");
  expect_refused("%%MatrixMarket tensor coordinate real general\n", "f:1: unknown object in the banner: 'tensor'");
  expect_refused("%%MatrixMarket matrix list real general\n", "f:1: unknown format in the banner: 'list'");
  expect_refused("%%MatrixMarket matrix coordinate quad general\n", "f:1: unknown field in the banner: 'quad'");
  expect_refused("%%MatrixMarket matrix coordinate real banded\n", "f:1: unknown symmetry in the banner: 'banded'");
  expect_refused("%%MatrixMarket matrix coordinate real general x\n",
                 "f:1: unexpected text at the end of the line: 'x'");
  expect_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
                 "f:1: a pattern has no signs, it cannot be skew-symmetric");
  expect_refused("%%MatrixMarket matrix array pattern general\n", "f:1: an array has values, no pattern");
}

using Number = std::complex<double>;
const std::string kComplex = "%%MatrixMarket matrix coordinate complex ";

ComplexMatrix parse_complex(const std::string& text) {
  ComplexMatrix a = parse_complex_matrix_market(text.data(), text.size(), "f");
  validate(a.pattern());
  return a;
}

TEST(ComplexTest, EachSymmetryFillsTheOtherTriangle) {
  const std::string entries = "2 2 3\n1 1 3 0\n2 1 1 -2\n2 2 4 0\n";
  const auto values = [](const std::string& text) { return parse_complex(text).values; };
  EXPECT_THAT(values(kComplex + "general\n" + entries), ElementsAre(3.0, Number(1, -2), 4.0));
  EXPECT_THAT(values(kComplex + "symmetric\n" + entries), ElementsAre(3.0, Number(1, -2), Number(1, -2), 4.0));
  EXPECT_THAT(values(kComplex + "hermitian\n" + entries), ElementsAre(3.0, Number(1, 2), Number(1, -2), 4.0));
  EXPECT_THAT(values(kComplex + "skew-symmetric\n2 2 1\n2 1 1 -2\n"), ElementsAre(Number(-1, 2), Number(1, -2)));
  EXPECT_THAT(values(kSymmetric + "2 2 2\n1 1 3\n2 1 5\n"), ElementsAre(3.0, 5.0, 5.0));
}

TEST(ComplexTest, DuplicatesAreSummed) {
  const ComplexMatrix a = parse_complex(kComplex + "general\n1 2 3\n1 2 1 1\n1 1 5 0\n1 2 2 -4\n");
  EXPECT_THAT(a.col_indices, ElementsAre(0, 1));
  EXPECT_THAT(a.values, ElementsAre(5.0, Number(3, -3)));
}

TEST(ComplexTest, WhatIsWrongIsRefused) {
  EXPECT_THROW(parse_complex(kComplex + "general\n1 1 1\n1 1 1\n"), ParseError);
  EXPECT_THROW(parse_complex(kComplex + "general\n1 1 9\n1 1 1 1\n"), ParseError);
  EXPECT_THROW(parse_complex(kComplex + "hermitian\n1 1 1\n1 1 1 1\n"), ParseError);
  EXPECT_THROW(parse_complex(kComplex + "hermitian\n1 2 1\n1 1 1 0\n"), ParseError);
}

// (a −b; b a), column by column; in blocks of two complex rows, too.
TEST(ComplexTest, RealBlocksAndRowsAreTheMatrix) {
  const std::vector<Number> values = {Number(1, 2), Number(3, 4), Number(5, 6), Number(7, 8)};
  EXPECT_THAT(real_blocks(std::span(values).first(1)), ElementsAre(1, 2, -2, 1));
  EXPECT_THAT(real_blocks(values, 2), ElementsAre(1, 2, 3, 4, -2, 1, -4, 3, 5, 6, 7, 8, -6, 5, -8, 7));
  EXPECT_THROW(real_blocks(std::span(values).first(3), 2), InvalidInput);
  const ComplexMatrix a = parse_complex(kComplex + "general\n2 2 3\n1 1 1 2\n1 2 3 4\n2 2 5 6\n");
  const CsrMatrix rows = real_rows(a.pattern(), a.values);
  expect_matrix(rows, {0, 4, 8, 10, 12}, {0, 1, 2, 3, 0, 1, 2, 3, 2, 3, 2, 3}, {1, -2, 3, -4, 2, 1, 4, 3, 5, -6, 6, 5});
}

TEST(ParseRefusalTest, WhatIsNotBuiltIsUnsupported) {
  expect_refused<Unsupported>("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
                              "f:1: complex files are not supported");
  expect_refused<Unsupported>("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
                              "f:1: hermitian files are not supported");
  expect_refused<Unsupported>(kArray + "1 1\n1\n", "f:2: dense (array) matrix files are not supported");
}

TEST(ParseRefusalTest, Sizes) {
  expect_refused(kReal, "f:1: the file ends before the line of sizes");
  expect_refused(kReal + "% c\n\n", "f:3: the file ends before the line of sizes");
  expect_refused(kReal + "3\n", "f:2: the line ends before the number of columns");
  expect_refused(kReal + "3 3\n", "f:2: the line ends before the number of entries");
  expect_refused(kReal + "3 3 0 0\n", "f:2: unexpected text at the end of the line: '0'");
  expect_refused(kReal + "-3 3 0\n", "f:2: the number of rows is negative: '-3'");
  expect_refused(kReal + "3 3 -1\n", "f:2: the number of entries is negative: '-1'");
  expect_refused(kReal + "3 x 1\n", "f:2: the number of columns is not a whole number: 'x'");
  expect_refused(kReal + "3 3.0 1\n", "f:2: the number of columns is not a whole number: '3.0'");
  expect_refused(kReal + "99999999999999999999 3 1\n", "f:2: the number of rows is too large: '99999999999999999999'");
  expect_refused<InvalidInput>(kReal + "2147483648 3 0\n",
                               "f:2: the number of rows is 2147483648, more than 32-bit indices can address");
  expect_refused(kSymmetric + "3 4 0\n", "f:2: a symmetric matrix must be square, this one is 3 x 4");
}

TEST(ParseRefusalTest, AnnouncedEntriesBeyondTheFileAreRefusedBeforeMemoryIsAsked) {
  expect_refused(kReal + "9 9 9000000000000000000\n1 1 1\n",
                 "f:2: 9000000000000000000 entries are announced, the file has room for 1 at most");
  expect_refused(kPattern + "9 9 2147483647\n1 1\n1 2\n",
                 "f:2: 2147483647 entries are announced, the file has room for 2 at most");
}

TEST(ParseRefusalTest, NumberOfEntries) {
  expect_refused(kReal + "3 3 2\n1 1 1.000000\n", "f:3: the file ends after 1 of 2 entries");
  expect_refused(kReal + "3 3 2\n1 1 1.000000\n% c\n\n", "f:5: the file ends after 1 of 2 entries");
  expect_refused(kReal + "3 3 1\n1 1 1\n2 2 1\n", "f:4: more than the 1 entries announced");
  expect_refused(kReal + "3 3 1\n1 1 1\n\ngarbage\n", "f:5: more than the 1 entries announced");
  expect_refused(kReal + "3 3 0\n1 1 1\n", "f:3: more than the 0 entries announced");
}

TEST(ParseRefusalTest, Indices) {
  expect_refused(kReal + "3 4 1\n0 1 1\n", "f:3: the row is 0, outside 1 … 3");
  expect_refused(kReal + "3 4 1\n4 1 1\n", "f:3: the row is 4, outside 1 … 3");
  expect_refused(kReal + "3 4 1\n1 0 1\n", "f:3: the column is 0, outside 1 … 4");
  expect_refused(kReal + "3 4 1\n% c\n1 5 1\n", "f:4: the column is 5, outside 1 … 4");
  expect_refused(kReal + "3 4 1\n1 4294967297 1\n", "f:3: the column is 4294967297, outside 1 … 4");
  expect_refused(kReal + "3 4 1\n-1 1 1\n", "f:3: the row is negative: '-1'");
  expect_refused(kReal + "3 4 1\n1 99999999999999999999 1\n", "f:3: the column is too large: '99999999999999999999'");
  expect_refused(kReal + "3 4 1\n1,2 1 1\n", "f:3: the row is not a whole number: '1,2'");
  expect_refused(kReal + "3 4 1\n1x 1 1\n", "f:3: the row is not a whole number: '1x'");
}

TEST(ParseRefusalTest, Values) {
  expect_refused(kReal + "3 3 1\n1 1   \n", "f:3: the line ends before the value");
  expect_refused(kReal + "3 3 1\n1   \n", "f:3: the line ends before the column");
  expect_refused(kReal + "3 3 1\n1 1 abc\n", "f:3: the value is not a number: 'abc'");
  expect_refused(kReal + "3 3 1\n1 1 1.5x\n", "f:3: the value is not a number: '1.5x'");
  for (const char* const value : {"D5", "1D", "1e5D3", "1D5e3", "1D5D3", "infD3", "nanD", "0x1D5", "1D+-3", "1D 5"}) {
    EXPECT_THROW(parse(kReal + "3 3 1\n1 1 " + value + "\n"), ParseError) << value;
  }
  expect_refused(kReal + "3 3 1\n1 1 1D\n", "f:3: the value is not a number: '1D'");
  expect_refused(kReal + "3 3 1\n1 1 +-1\n", "f:3: the value is not a number: '+-1'");
  expect_refused(kReal + "3 3 1\n1 1 1e400\n", "f:3: the value is outside the range of a double: '1e400'");
  expect_refused(kReal + "3 3 1\n1 1 -1D400\n", "f:3: the value is outside the range of a double: '-1D400'");
  for (const std::string& value :
       {"1" + std::string(400, '0'), "0.00001e400" + std::string(), std::string("1e99999999999999999999"),
        "1" + std::string(400, '0') + "e-50", std::string("-.1e310")}) {
    EXPECT_THROW(parse(kReal + "3 3 1\n1 1 " + value + "\n"), ParseError) << value;
  }
  expect_refused(kReal + "3 3 1\n1 1 1 2\n", "f:3: unexpected text at the end of the line: '2'");
  expect_refused(kPattern + "3 3 1\n1 1 1\n", "f:3: unexpected text at the end of the line: '1'");
  expect_refused(kInteger + "3 3 1\n1 1 1.5\n", "f:3: the value is not a whole number: '1.5'");
  for (const char* const value : {"9007199254740993", "-9007199254740993", "100000000000000000000"}) {
    expect_refused(
        kInteger + "3 3 1\n1 1 " + value + "\n",
        "f:3: the value is a whole number beyond 2^53, which a double may not hold: '" + std::string(value) + "'");
  }
  for (const char* const value : {"1e20", "+-1", "++1", "-", "+", "0x10"}) {
    expect_refused(kInteger + "3 3 1\n1 1 " + value + "\n",
                   "f:3: the value is not a whole number: '" + std::string(value) + "'");
  }
  expect_refused("\xEF\xBB" + kReal + "0 0 0\n", "f:1: the file does not start with '%%MatrixMarket'");
  expect_refused(" \xEF\xBB\xBF" + kReal + "0 0 0\n", "f:1: the file does not start with '%%MatrixMarket'");
  expect_refused(kInteger + "3 3 1\n1 1 nan\n", "f:3: the value is not a whole number: 'nan'");
  expect_refused(kSkew + "3 3 1\n2 2 0\n", "f:3: a skew-symmetric file cannot hold an entry on the diagonal");
}

TEST(ParseRefusalTest, MessagesShowStrangeBytesHarmlessly) {
  expect_refused(kReal + "3 3 1\n1 1 \x1b[31m\xff\n", "f:3: the value is not a number: '?[31m?'");
  expect_refused(kReal + "3 3 1\n1 1 " + std::string(50, 'y') + "\n",
                 "f:3: the value is not a number: '" + std::string(40, 'y') + "…'");
}

// The text lies at the end of an exact allocation: reading past it shows up under a sanitizer, and every cut must end
// in a refusal or a matrix.
TEST(ParseRefusalTest, EveryCutOfAFileIsRefusedUntilItsLastEntryIsThere) {
  const std::string text = kReal + "% c\r\n2 2 2\r\n1 1 -1.5e1\r\n2 2 7\r\n";
  const std::size_t complete = text.rfind('7') + 1;
  for (std::size_t size = 0; size < complete; ++size) {
    const std::vector<char> cut(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(parse_matrix_market(cut.data(), cut.size(), "f"), Error) << size;
  }
  for (std::size_t size = complete; size <= text.size(); ++size) {
    EXPECT_EQ(parse_matrix_market(text.data(), size, "f").entries(), 2) << size;
  }
}

TEST(ReadTest, NamesTheFileThatCannotBeOpened) {
  try {
    read_matrix_market("/nonexistent/a.mtx");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/a.mtx:0: cannot be opened: No such file or directory");
    EXPECT_EQ(error.line(), 0);
  }
  EXPECT_THROW(read_matrix_market(testing::TempDir()), ParseError);
}

TEST(ReadTest, MessagesNameThePath) {
  const test::ScratchFile file("bad.mtx", kReal + "1 1 1\n2 1 1\n");
  try {
    read_matrix_market(file.path());
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.what(), file.path() + ":3: the row is 2, outside 1 … 1");
    EXPECT_EQ(error.line(), 3);
  }
}

std::vector<double> read_vector(const std::string& text) {
  const test::ScratchFile file("vector.mtx", text);
  return read_matrix_market_vector(file.path());
}

void expect_vector_refused(const std::string& text, const std::string& message) {
  const test::ScratchFile file("vector.mtx", text);
  try {
    read_matrix_market_vector(file.path());
    ADD_FAILURE() << "accepted: " << text;
  } catch (const ParseError& error) {
    EXPECT_EQ(error.what(), file.path() + message) << text;
  }
}

TEST(ReadVectorTest, ArrayAndCoordinateFilesAreVectors) {
  EXPECT_THAT(read_vector(kArray + "% c\n3 1\n1\n\n-2.5\n3e2"), ElementsAre(1, -2.5, 300));
  EXPECT_THAT(read_vector("%%MatrixMarket matrix array integer general\n2 1\n1\n-2\n"), ElementsAre(1, -2));
  EXPECT_THAT(read_vector(kReal + "4 1 3\n3 1 5\n1 1 2\n3 1 1\n"), ElementsAre(2, 0, 6, 0));
  EXPECT_TRUE(read_vector(kArray + "0 1\n").empty());
}

TEST(ReadVectorTest, RefusesWhatIsNoVector) {
  expect_vector_refused(kArray + "2 2\n1\n2\n3\n4\n", ":2: a vector has one column, this file has 2");
  expect_vector_refused(kReal + "2 3 0\n", ":2: a vector has one column, this file has 3");
  expect_vector_refused(kArray + "3 1\n1.00\n2.00\n", ":4: the file ends after 2 of 3 entries");
  expect_vector_refused(kArray + "1 1\n1\n2\n", ":4: more than the 1 entries announced");
  expect_vector_refused(kArray + "1 1\n1 2\n", ":3: unexpected text at the end of the line: '2'");
  expect_vector_refused(kArray + "2147483647 1\n1\n",
                        ":2: 2147483647 entries are announced, the file has room for 1 at most");
  expect_vector_refused(kReal + "2 1 1\n3 1 1\n", ":3: the row is 3, outside 1 … 2");
  EXPECT_THROW(read_vector("%%MatrixMarket matrix array real symmetric\n1 1\n1\n"), Unsupported);
  EXPECT_THROW(read_vector("%%MatrixMarket matrix array complex general\n1 1\n1 0\n"), Unsupported);
}

}  // namespace
}  // namespace taskdag
