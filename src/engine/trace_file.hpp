/// \file
/// A text file that is written in large pieces, every write checked.
#pragma once

#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "taskdag/error.hpp"

namespace taskdag::engine {

class TraceFile {
 public:
  /// @throws Error, as all members do, with the file's name and the system's reason
  explicit TraceFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
    if (file_ == nullptr) fail();
    text_.reserve(kPiece + kPiece / 4);
  }

  TraceFile& operator<<(std::string_view text) {
    text_ += text;
    if (text_.size() >= kPiece) flush();
    return *this;
  }
  TraceFile& operator<<(std::integral auto number) {
    char digits[24];
    const char* end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }
  /// With three digits after the point.
  TraceFile& thousandths(std::int64_t number) {
    if (number < 0) *this << "-";
    const auto size = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    const char rest[] = {'.', digit(size / 100), digit(size / 10), digit(size)};
    return *this << size / 1000 << std::string_view(rest, sizeof(rest));
  }
  /// With one digit after the point. @pre number >= 0
  TraceFile& tenths(std::int64_t number) {
    const char rest[] = {'.', digit(static_cast<std::uint64_t>(number))};
    return *this << number / 10 << std::string_view(rest, number % 10 == 0 ? 0 : sizeof(rest));
  }

  /// To be called at the end: only then is it known that all was written.
  void close() {
    flush();
    if (std::fclose(file_.release()) != 0) fail();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 18U;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static char digit(std::uint64_t number) { return static_cast<char>('0' + number % 10); }
  [[noreturn]] void fail() const {
    throw Error(path_ + ": cannot be written: " + std::generic_category().message(errno));
  }
  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
    text_.clear();
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string text_;
};

}  // namespace taskdag::engine
