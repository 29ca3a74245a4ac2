/// \file
/// Reads a text line by line, field by field, and knows the line for messages. Inline: it is the parser's inner loop.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "io/real_number.hpp"
#include "taskdag/error.hpp"

namespace taskdag::input {

class Scanner {
 public:
  /// A byte-order mark of UTF-8 before the text is passed over.
  Scanner(const char* text, std::size_t size, const std::string& name)
      : position_(text), end_(text + size), name_(name) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (std::string_view(text, size).starts_with(kMark)) position_ += kMark.size();
  }

  [[noreturn]] void fail(const std::string& message) const { throw ParseError(name_, line_, message); }
  [[nodiscard]] std::string location() const { return name_ + ":" + std::to_string(line_) + ": "; }
  [[nodiscard]] bool at_end() const { return position_ == end_; }
  [[nodiscard]] std::int64_t bytes_left() const { return end_ - position_; }

  /// Goes to the first field of the next line that holds one; blank lines and comments are passed over.
  /// @returns false at the end of the text; the line is then the last one.
  bool next_content_line() {
    for (;;) {
      skip_blanks();
      if (at_end()) return false;
      if (*position_ == '%') {
        while (!at_end() && *position_ != '\n') ++position_;
      } else if (!at_line_end()) {
        return true;
      }
      if (at_end()) return false;
      end_line();
    }
  }

  /// The next word of this line, empty at its end.
  std::string_view word() {
    skip_blanks();
    const char* begin = position_;
    while (!at_line_end() && !is_blank(*position_)) ++position_;
    return {begin, static_cast<std::size_t>(position_ - begin)};
  }

  /// A count or index, 0 … 2^63 − 1; `what` names it in messages.
  std::int64_t whole_number(const char* what) {
    skip_blanks();
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(position_, end_, value);
    if (error == std::errc() && value >= 0 && ends_field(rest)) {
      position_ = rest;
      return value;
    }
    const std::string_view field = word();
    if (field.empty()) fail(std::string("the line ends before the ") + what);
    if (error == std::errc() && value < 0) fail(std::string("the ") + what + " is negative: " + quoted(field));
    if (error == std::errc::result_out_of_range) fail(std::string("the ") + what + " is too large: " + quoted(field));
    fail(std::string("the ") + what + " is not a whole number: " + quoted(field));
  }

  /// A value. NaN and infinities are taken as they are; what is too large for a double is refused.
  double real() {
    skip_blanks();
    double value = 0.0;
    const auto [rest, error] = std::from_chars(position_, end_, value);
    if (error == std::errc() && ends_field(rest)) {
      position_ = rest;
      return value;
    }
    const std::string_view field = word();
    demand_value(field);
    const std::errc other_error = read_real(field, value);
    if (other_error == std::errc()) return value;
    if (other_error == std::errc::result_out_of_range) {
      fail("the value is outside the range of a double: " + quoted(field));
    }
    fail("the value is not a number: " + quoted(field));
  }

  /// A whole number as a value. Those beyond 2^53 are refused: a double does not hold each of them.
  double integer() {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    const std::string_view field = word();
    demand_value(field);
    const char* begin = field.data();
    const char* end = begin + field.size();
    if (field.starts_with('+') && !field.starts_with("+-")) ++begin;  // from_chars knows no plus sign
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (rest != end || error == std::errc::invalid_argument) fail("the value is not a whole number: " + quoted(field));
    if (error != std::errc() || value > kMost || value < -kMost) {
      fail("the value is a whole number beyond 2^53, which a double may not hold: " + quoted(field));
    }
    return static_cast<double>(value);
  }

  /// Demands that nothing but blanks follows on this line. The line stays the current one, for messages.
  void finish_line() {
    skip_blanks();
    if (!at_line_end()) fail("unexpected text at the end of the line: " + quoted(word()));
  }

  /// A word for messages: bounded, and without bytes that a terminal would act upon.
  static std::string quoted(std::string_view word) {
    constexpr std::size_t kShown = 40;
    std::string text = "'";
    for (const char c : word.substr(0, kShown)) text += c < ' ' || c > '~' ? '?' : c;
    return text + (word.size() > kShown ? "…'" : "'");
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  void skip_blanks() {
    while (!at_end() && is_blank(*position_)) ++position_;
  }
  [[nodiscard]] bool is_line_end(const char* at) const {
    return at == end_ || *at == '\n' || (*at == '\r' && (at + 1 == end_ || at[1] == '\n'));
  }
  [[nodiscard]] bool at_line_end() const { return is_line_end(position_); }
  [[nodiscard]] bool ends_field(const char* at) const { return is_line_end(at) || is_blank(*at); }

  void end_line() {
    if (*position_ == '\r') ++position_;
    if (at_end()) return;
    ++position_;
    if (!at_end()) ++line_;
  }

  void demand_value(std::string_view field) const {
    if (field.empty()) fail("the line ends before the value");
  }

  const char* position_;
  const char* end_;
  const std::string& name_;
  std::int64_t line_ = 1;
};

}  // namespace taskdag::input
