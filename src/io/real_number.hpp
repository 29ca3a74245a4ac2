/// \file
/// Numbers that std::from_chars does not take as they stand in files.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace taskdag::input {

/// Whether a decimal number that no double holds is too small, not too large: its first digit but 0 stands right of the
/// point, once the exponent has moved that.
inline bool is_too_small(std::string_view number) {
  const std::size_t mantissa = std::min(number.find_first_of("eE"), number.size());
  std::int64_t power = 0;  // of ten that the number is below: 1 for ones, 0 for tenths
  bool after_point = false;
  bool found = false;
  for (const char c : number.substr(0, mantissa)) {
    if (c == '.') after_point = true;
    if (c < '0' || c > '9') continue;
    found = found || c != '0';
    if (found && !after_point) ++power;
    if (!found && after_point) --power;
  }
  if (mantissa == number.size()) return power <= 0;
  number.remove_prefix(mantissa + 1);
  if (number.starts_with('+')) number.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), exponent);
  if (parsed.ec == std::errc::result_out_of_range) return number.starts_with('-');
  return exponent <= -power;
}

/// A value in one of the forms that other readers take, too: with a plus sign, with Fortran's exponent D, and too small
/// for a double, which is 0 with its sign.
/// @returns the error of std::from_chars, with invalid_argument for a field that is only begun by a number
inline std::errc read_real(std::string_view field, double& value) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  std::string text(field);
  const std::size_t exponent = text.find_first_of("dD");
  if (exponent != std::string::npos) text[exponent] = 'e';
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end) return std::errc::invalid_argument;
  if (error == std::errc::result_out_of_range && is_too_small(text)) {
    value = std::copysign(0.0, text.starts_with('-') ? -1.0 : 1.0);
    return std::errc();
  }
  return error;
}

}  // namespace taskdag::input
