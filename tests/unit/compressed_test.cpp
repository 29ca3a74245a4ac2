// Compressed Matrix Market files: each compression gives the same matrix, and broken data is refused.
#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scratch_file.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag {
namespace {

struct Ending {
  const char* name;
  int (*add_filter)(archive*);
};

std::string compressed(const std::string& text, int (*add_filter)(archive*)) {
  std::vector<char> out(text.size() + 4096);
  std::size_t used = 0;
  const std::unique_ptr<archive, int (*)(archive*)> writer(archive_write_new(), archive_write_free);
  EXPECT_EQ(add_filter(writer.get()), ARCHIVE_OK);
  EXPECT_EQ(archive_write_set_format_raw(writer.get()), ARCHIVE_OK);
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  EXPECT_EQ(archive_write_open_memory(writer.get(), out.data(), out.size(), &used), ARCHIVE_OK);
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  EXPECT_EQ(archive_write_header(writer.get(), entry.get()), ARCHIVE_OK);
  EXPECT_EQ(archive_write_data(writer.get(), text.data(), text.size()), static_cast<la_ssize_t>(text.size()));
  EXPECT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
  return {out.data(), used};
}

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

INSTANTIATE_TEST_SUITE_P(Endings, CompressedTest,
                         testing::Values(Ending{".gz", archive_write_add_filter_gzip},
                                         Ending{".xz", archive_write_add_filter_xz},
                                         Ending{".bz2", archive_write_add_filter_bzip2},
                                         Ending{".zst", archive_write_add_filter_zstd}),
                         [](const auto& ending) { return std::string(ending.param.name + 1); });

}  // namespace
}  // namespace taskdag
