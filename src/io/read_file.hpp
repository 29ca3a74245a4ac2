/// \file
/// Whole files in memory, decompressed where that is asked for.
#pragma once

#include <string>

#include "io/compression.hpp"
#include "io/growing_text.hpp"
#include "io/input_file.hpp"

namespace taskdag::input {

/// Reads a file to its end.
/// @throws ParseError (line 0) where the file cannot be opened or read, is not compressed as its name says, its
///         compressed data is broken or truncated, or its text is longer than the options allow; Unsupported where
///         libarchive lacks the compression; OutOfMemory.
FileText read_file(const std::string& path, const ReadOptions& options);

/// The same of a file that is open, by a compression of whatever name.
FileText read_file(InputFile& file, Compression compression, const ReadOptions& options);

}  // namespace taskdag::input
