/// \file
/// Whole files in memory, decompressed where the name says that they are compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace taskdag::input {

enum class Compression { none, gzip, xz, bzip2, zstd };

/// What the end of the name says: .gz, .xz, .bz2, .zst, else none.
Compression compression_of(const std::string& path);

/// The bytes of a file. Not terminated.
struct FileText {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
};

/// Reads a file to its end, through libarchive if it is compressed. Works on pipes too.
/// @throws ParseError (line 0) where the file cannot be opened or read, is not compressed as its name says, or its
///         compressed data is broken or truncated; Unsupported where libarchive lacks the compression; OutOfMemory.
FileText read_file(const std::string& path);

}  // namespace taskdag::input
