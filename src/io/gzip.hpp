/// \file
/// Decompression of .gz.
#pragma once

#include "io/growing_text.hpp"
#include "io/input_file.hpp"

namespace taskdag::input {

/// Through zlib, which checks the checksum and the length of each member; libarchive's reader checks neither. Members
/// after each other are one text.
/// @throws ParseError (line 0) where the data is not gzip's, broken or truncated, or something else follows it
FileText read_gzip(InputFile& file, const ReadOptions& options);

}  // namespace taskdag::input
