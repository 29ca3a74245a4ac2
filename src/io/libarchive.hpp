/// \file
/// Decompression of .xz, .bz2 and .zst.
#pragma once

#include "io/compression.hpp"
#include "io/growing_text.hpp"
#include "io/input_file.hpp"

namespace taskdag::input {

/// Through libarchive. Streams after each other are one text.
/// @pre xz, bzip2 or zstd
/// @throws ParseError (line 0) where the data is not what the name says, broken or truncated, or something else follows
///         it; Unsupported where libarchive was built without this compression
FileText read_with_libarchive(InputFile& file, Compression compression, const ReadOptions& options);

}  // namespace taskdag::input
