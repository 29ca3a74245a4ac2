// The Matrix Market writer: what is written is read back bit by bit, and failed writes are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "scratch_file.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag {
namespace {

std::vector<double> difficult_values() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                0.1,
                                -1.0 / 3.0,
                                Limits::max(),
                                Limits::min(),
                                Limits::lowest(),
                                Limits::denorm_min(),
                                5e-324,
                                1e23,
                                Limits::infinity(),
                                -Limits::infinity()};
  std::mt19937_64 random(3);
  while (values.size() < 20000) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isnan(value)) values.push_back(value);  // a NaN's payload has no text
  }
  return values;
}

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

TEST(WriterTest, MatrixIsReadBackBitByBit) {
  CsrMatrix a;
  a.rows = 3;
  a.values = difficult_values();
  a.cols = static_cast<Index>(a.values.size());
  for (Index j = 0; j < a.cols; ++j) a.col_indices.push_back(j);
  a.row_offsets = {0, a.cols, a.cols, a.cols};
  const test::ScratchFile file("a.mtx");
  write_matrix_market(file.path(), a.view());
  const CsrMatrix read = read_matrix_market(file.path());
  EXPECT_EQ(read.rows, a.rows);
  EXPECT_EQ(read.cols, a.cols);
  EXPECT_EQ(read.row_offsets, a.row_offsets);
  EXPECT_EQ(read.col_indices, a.col_indices);
  EXPECT_EQ(bits(read.values), bits(a.values));
}

TEST(WriterTest, VectorIsReadBackBitByBit) {
  const std::vector<double> x = difficult_values();
  const test::ScratchFile file("x.mtx");
  write_matrix_market_vector(file.path(), x);
  EXPECT_EQ(bits(read_matrix_market_vector(file.path())), bits(x));
}

TEST(WriterTest, NanStaysNan) {
  const std::vector<double> x = {std::nan(""), -std::nan("")};
  const test::ScratchFile file("x.mtx");
  write_matrix_market_vector(file.path(), x);
  const std::vector<double> read = read_matrix_market_vector(file.path());
  EXPECT_TRUE(std::isnan(read.at(0)));
  EXPECT_TRUE(std::isnan(read.at(1)));
}

TEST(WriterTest, TextIsPlainMatrixMarket) {
  const CsrMatrix a{.rows = 2, .cols = 3, .row_offsets = {0, 1, 2}, .col_indices = {2, 0}, .values = {-1.0, 0.1}};
  const test::ScratchFile file("a.mtx");
  write_matrix_market(file.path(), a.view());
  EXPECT_EQ(file.content(), "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 -1\n2 1 0.10000000000000001\n");
  write_matrix_market_vector(file.path(), std::vector<double>{2.5, 1e300});
  EXPECT_EQ(file.content(), "%%MatrixMarket matrix array real general\n2 1\n2.5\n1.0000000000000001e+300\n");
}

TEST(WriterTest, EmptyMatrixAndVectorAreReadBack) {
  const test::ScratchFile file("empty.mtx");
  write_matrix_market(file.path(), CsrMatrix{}.view());
  EXPECT_EQ(read_matrix_market(file.path()).rows, 0);
  write_matrix_market_vector(file.path(), {});
  EXPECT_TRUE(read_matrix_market_vector(file.path()).empty());
}

template <class Write>
void expect_write_failure(const Write& write, const std::string& message) {
  try {
    write();
    ADD_FAILURE() << "no failure";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(WriterTest, FullDiskIsReported) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "/dev/full does not exist here";
  const std::string message = "/dev/full: cannot be written: No space left on device";
  const CsrMatrix small = make_stencil({.nx = 2, .ny = 2});
  const CsrMatrix large = make_stencil({.nx = 100, .ny = 100});
  expect_write_failure([&] { write_matrix_market("/dev/full", small.view()); }, message);
  expect_write_failure([&] { write_matrix_market("/dev/full", large.view()); }, message);
  expect_write_failure([&] { write_matrix_market_vector("/dev/full", small.values); }, message);
}

TEST(WriterTest, MissingFolderIsReported) {
  expect_write_failure([] { write_matrix_market("/nonexistent/a.mtx", CsrMatrix{}.view()); },
                       "/nonexistent/a.mtx: cannot be written: No such file or directory");
}

TEST(WriterTest, InvalidMatrixIsRefusedBeforeTheFileIsTouched) {
  CsrMatrix a = make_stencil({.nx = 2, .ny = 2});
  a.col_indices[0] = 77;
  const test::ScratchFile file("a.mtx", "old");
  EXPECT_THROW(write_matrix_market(file.path(), a.view()), InvalidInput);
  EXPECT_EQ(file.content(), "old");
}

}  // namespace
}  // namespace taskdag
