/// \file
/// Compresses the input of tests, in each form that is read.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace taskdag::test {

struct Ending {
  const char* name;
  int (*add_filter)(archive*);
};

inline constexpr std::array<Ending, 4> kEndings = {{{".gz", archive_write_add_filter_gzip},
                                                    {".xz", archive_write_add_filter_xz},
                                                    {".bz2", archive_write_add_filter_bzip2},
                                                    {".zst", archive_write_add_filter_zstd}}};

inline std::string compressed(const std::string& text, int (*add_filter)(archive*)) {
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

}  // namespace taskdag::test
