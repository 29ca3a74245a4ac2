/// \file
/// How long the text of a file may become: a small compressed file can hold an endless one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/input_file.hpp"
#include "taskdag/io/read_options.hpp"

namespace taskdag::input {

/// ReadOptions::max_text_bytes, or without it the smaller one of two bounds: by the entries that the header announces,
/// and by the bytes of the file that the text comes from.
class TextLimit {
 public:
  explicit TextLimit(const ReadOptions& options) : option_(options.max_text_bytes) {}
  /// The limit before anything is read.
  [[nodiscard]] std::int64_t first_bytes() const;
  /// @returns how long the text may become that begins with `text`, at least its size now. It never falls.
  /// @throws ParseError where it is longer already, or its header is broken
  std::int64_t most_bytes(std::string_view text, const InputFile& file);

 private:
  std::int64_t option_;
  std::optional<std::int64_t> announced_;  ///< entries, once the header is read
};

}  // namespace taskdag::input
