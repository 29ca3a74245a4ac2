// Compressed Matrix Market files: each compression gives the same matrix, and broken data is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compress.hpp"
#include "scratch_file.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag {
namespace {

using test::compressed;
using test::Ending;

/// A text of more than one decompression block, and the matrix that it holds.
struct Sample {
  CsrMatrix matrix = make_erdos_renyi_lower(600, 0.3, 5);
  std::string text;
  Sample() {
    const test::ScratchFile file("sample.mtx");
    write_matrix_market(file.path(), matrix.view());
    text = file.content();
  }
};

class CompressedTest : public testing::TestWithParam<Ending> {};

TEST_P(CompressedTest, GivesTheSameMatrixAsThePlainFile) {
  const Sample sample;
  ASSERT_GT(sample.text.size(), std::size_t{1} << 20);
  const test::ScratchFile file(std::string("a.mtx") + GetParam().name, compressed(sample.text, GetParam().add_filter));
  const CsrMatrix read = read_matrix_market(file.path());
  EXPECT_EQ(read.row_offsets, sample.matrix.row_offsets);
  EXPECT_EQ(read.col_indices, sample.matrix.col_indices);
  EXPECT_EQ(read.values, sample.matrix.values);
}

TEST_P(CompressedTest, TruncatedDataIsRefusedAsSuch) {
  const Sample sample;
  const std::string data = compressed(sample.text, GetParam().add_filter);
  for (const std::size_t kept : {std::size_t{3}, std::size_t{40}, data.size() / 2, data.size() - 30, data.size() - 1}) {
    const test::ScratchFile file(std::string("cut.mtx") + GetParam().name, data.substr(0, kept));
    try {
      read_matrix_market(file.path());
      ADD_FAILURE() << "accepted " << kept << " of " << data.size() << " bytes";
    } catch (const ParseError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(file.path() + ":0: ")) << kept;
      EXPECT_THAT(error.what(),
                  testing::AnyOf(testing::HasSubstr("broken or truncated"), testing::HasSubstr("not compressed"),
                                 testing::HasSubstr("cannot be decompressed")))
          << kept;
    }
  }
}

TEST_P(CompressedTest, BrokenDataIsRefused) {
  const Sample sample;
  std::string data = compressed(sample.text, GetParam().add_filter);
  for (std::size_t k = data.size() / 2; k < data.size() / 2 + 64; ++k) data[k] = static_cast<char>(~data[k]);
  const test::ScratchFile file(std::string("broken.mtx") + GetParam().name, data);
  EXPECT_THROW(read_matrix_market(file.path()), ParseError);
}

// What the program zstd writes; libarchive's writer leaves the checksum out.
std::string zstd_with_checksum() {
  static constexpr char kData[] =
      "\x28\xb5\x2f\xfd\x24\x5d\x7d\x02\x00\x32\x05\x11\x12\x90\xcf\x01\x74\x7a\x38\x96\xe6\xe7\xfb\x67\xd8\x16"
      "\xf0\x3e\xf9\x0e\x3a\x40\x25\x34\x8e\x29\x4d\x5a\xbc\x33\xca\xfb\x0d\x92\x38\x79\x83\xd3\x83\x9c\x9c\x00"
      "\xf3\xf2\x02\x26\xbb\xaf\x3e\xf8\xc9\xde\xfd\xc3\xac\x46\x77\xad\x6d\xa7\xc7\x4f\x5e\xb6\x72\xbc\x98\xad"
      "\x10\x02\x02\x00\x49\x94\x40\x70\xcd\x25\xba\xd3\x18\xba";
  return {kData, sizeof(kData) - 1};
}

// Each format has a checksum. Where a flipped bit is not refused it was one that says nothing: the time in a header,
// say.
TEST_P(CompressedTest, EveryFlippedBitIsRefusedOrChangesNothing) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1.25\n2 1 -7\n2 2 3.5e-2\n3 3 12345.678\n";
  const CsrMatrix expected = parse_matrix_market(text.data(), text.size(), "text");
  const bool zstd = GetParam().add_filter == archive_write_add_filter_zstd;
  const std::string data = zstd ? zstd_with_checksum() : compressed(text, GetParam().add_filter);
  const test::ScratchFile whole(std::string("whole.mtx") + GetParam().name, data);
  EXPECT_EQ(read_matrix_market(whole.path()).values, expected.values);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    std::string flipped = data;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const test::ScratchFile file(std::string("flipped.mtx") + GetParam().name, flipped);
    try {
      const CsrMatrix read = read_matrix_market(file.path());
      EXPECT_EQ(read.row_offsets, expected.row_offsets) << "bit " << bit;
      EXPECT_EQ(read.col_indices, expected.col_indices) << "bit " << bit;
      EXPECT_EQ(read.values, expected.values) << "bit " << bit;
    } catch (const ParseError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 6 * data.size());
}

TEST_P(CompressedTest, PartsAfterEachOtherAreOneText) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n1 1 1\n";
  const test::ScratchFile file(std::string("parts.mtx") + GetParam().name,
                               compressed(head, GetParam().add_filter) + compressed("1 1 7\n", GetParam().add_filter));
  EXPECT_THAT(read_matrix_market(file.path()).values, testing::ElementsAre(7.0));
}

TEST_P(CompressedTest, WhatFollowsTheCompressedDataIsRefused) {
  const std::string data =
      compressed("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n", GetParam().add_filter);
  for (const std::string& garbage : {std::string("x"), std::string("\x1f"), std::string("1 1 8\n"),
                                     std::string(5, '\0'), std::string(100000, 'x')}) {
    const test::ScratchFile file(std::string("garbage.mtx") + GetParam().name, data + garbage);
    EXPECT_THROW(read_matrix_market(file.path()), ParseError) << garbage.substr(0, 8) << " of " << garbage.size();
  }
}

TEST_P(CompressedTest, PlainTextUnderACompressedNameIsRefused) {
  const test::ScratchFile file(std::string("plain.mtx") + GetParam().name,
                               "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  try {
    read_matrix_market(file.path());
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("not compressed as the end of its name says"));
  }
}

TEST_P(CompressedTest, WritingUnderACompressedNameIsRefused) {
  const std::string path = testing::TempDir() + "taskdag_never_written.mtx" + GetParam().name;
  EXPECT_THROW(write_matrix_market(path, CsrMatrix{}.view()), Unsupported);
  EXPECT_THROW(write_matrix_market_vector(path, {}), Unsupported);
  EXPECT_FALSE(std::filesystem::exists(path));
}

INSTANTIATE_TEST_SUITE_P(Endings, CompressedTest, testing::ValuesIn(test::kEndings),
                         [](const auto& ending) { return std::string(ending.param.name + 1); });

}  // namespace
}  // namespace taskdag
