/// \file
/// What a file may ask of memory before its entries are seen.
#pragma once

#include <cstdint>

namespace taskdag {

/// A header of 60 bytes can announce 2^31 rows, and a compressed file of a kilobyte can hold a text of a terabyte.
/// These bounds refuse such files with a ParseError that names the option; real ones stay far below them.
struct ReadOptions {
  /// Rows that a header may announce however short the text is. Each byte of text after the header adds 16 rows, so
  /// that an entry justifies a hundred rows and more. These rows take 16 MiB.
  std::int64_t trusted_rows = std::int64_t{1} << 22;

  /// The longest text in bytes, after decompression. 0: 16 MiB and 256 bytes for each entry that the header announces,
  /// but no more than 256 MiB and 1000 times the bytes of the file.
  std::int64_t max_text_bytes = 0;
};

}  // namespace taskdag
