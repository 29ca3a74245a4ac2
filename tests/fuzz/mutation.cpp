#include "fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace taskdag::fuzz {
namespace {

constexpr std::array<std::string_view, 14> kNumbers = {
    "0",    "1",     "-1",     "2147483647",          "2147483648",           "4294967297", "9223372036854775807",
    "1e20", "1e400", "1e-400", "9223372036854775808", "18446744073709551616", "nan",        "1.5D+03"};
constexpr std::size_t kLongest = 4096;

// Not a distribution of the standard library: those differ between implementations.
std::size_t below(std::size_t limit, std::mt19937_64& random) { return static_cast<std::size_t>(random() % limit); }

/// The digits around or after a place become another number.
void replace_number(std::string& text, std::size_t at, std::mt19937_64& random) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = text.find_first_of(kDigits, at);
  if (begin == std::string::npos) return;
  const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
  text.replace(begin, end - begin, kNumbers[below(kNumbers.size(), random)]);
}

void change(std::string& text, const std::string& other, std::mt19937_64& random) {
  const std::size_t at = below(text.size() + 1, random);
  const std::size_t count = below(std::min<std::size_t>(text.size() - at, 32) + 1, random);
  const std::string part = text.substr(at, count);
  const std::size_t from = below(other.size() + 1, random);
  switch (random() % 8) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8, random)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random() & 0xFFU);
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(random() & 0xFFU));
      break;
    case 3:
      text.erase(at, count);
      break;
    case 4:
      text.insert(at, part);
      break;
    case 5:
      text.resize(at);
      break;
    case 6:
      replace_number(text, at, random);
      break;
    default:
      text.replace(at, count, other, from, 32);
      break;
  }
  if (text.size() > kLongest) text.resize(kLongest);
}

}  // namespace

std::string mutated(const std::vector<std::string>& inputs, std::mt19937_64& random) {
  std::string text = inputs[below(inputs.size(), random)];
  const std::size_t changes = 1 + below(4, random);
  for (std::size_t k = 0; k < changes; ++k) change(text, inputs[below(inputs.size(), random)], random);
  return text;
}

}  // namespace taskdag::fuzz
