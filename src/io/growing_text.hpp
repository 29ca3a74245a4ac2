/// \file
/// The text of a file while it is read or decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "io/input_file.hpp"
#include "io/text_limit.hpp"

namespace taskdag::input {

/// The bytes of a file. Not terminated.
struct FileText {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
};

/// Grows while it is filled, up to what TextLimit allows; new room is not cleared, which a vector would do.
class GrowingText {
 public:
  /// `expected` bytes will come, where that is known; more and less may.
  GrowingText(const InputFile& file, const ReadOptions& options, std::int64_t expected = 0);
  [[nodiscard]] char* free_begin() { return text_.bytes.get() + text_.size; }
  /// Never 0.
  [[nodiscard]] std::size_t free_size() const { return capacity_ - text_.size; }
  /// @throws ParseError where the text becomes longer than the limit
  void used(std::size_t count);
  FileText take() { return std::move(text_); }

 private:
  void grow(std::int64_t capacity);

  const InputFile& file_;
  TextLimit limit_;
  std::int64_t expected_;
  FileText text_;
  std::size_t capacity_ = 0;
};

}  // namespace taskdag::input
