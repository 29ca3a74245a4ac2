#include "io/text_limit.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "io/header.hpp"

namespace taskdag::input {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kHeaderBytes = 16 * kMebi;  // and comments: the collections' have some hundred lines
constexpr std::int64_t kBytesPerEntry = 256;       // five times the longest line that a writer needs
constexpr std::int64_t kShortText = 256 * kMebi;   // may have any ratio: a constant vector is compressed to nothing
constexpr std::int64_t kLargestRatio = 1000;       // to the compressed bytes; of matrices it is below 100

constexpr const char* kRemedy = "; ReadOptions::max_text_bytes takes longer texts";

std::int64_t bytes_for(std::int64_t entries) {
  constexpr std::int64_t kMost = (std::numeric_limits<std::int64_t>::max() - kHeaderBytes - 1) / kBytesPerEntry;
  return kHeaderBytes + kBytesPerEntry * std::min(entries, kMost);
}

}  // namespace

std::int64_t TextLimit::first_bytes() const { return option_ > 0 ? option_ : kHeaderBytes; }

std::int64_t TextLimit::most_bytes(std::string_view text, const InputFile& file) {
  const auto size = static_cast<std::int64_t>(text.size());
  const std::string longer = "the text is longer than ";
  if (option_ > 0) {
    if (size > option_) file.refuse(longer + std::to_string(option_) + " bytes, ReadOptions::max_text_bytes");
    return option_;
  }
  if (!announced_) {
    if (const auto header = peek_header(text, file.name())) announced_ = header->entries;
  }
  const std::int64_t by_header = bytes_for(announced_.value_or(0));
  if (size > by_header) {
    file.refuse(longer + std::to_string(by_header) + " bytes, " +
                (announced_ ? "too many for the " + std::to_string(*announced_) + " entries that it announces"
                            : std::string("and has no line of sizes so far")) +
                kRemedy);
  }
  const std::int64_t by_file = kShortText + kLargestRatio * file.bytes_read();
  if (size > by_file) {
    file.refuse(longer + std::to_string(by_file) + " bytes, too many for the " + std::to_string(file.bytes_read()) +
                " bytes of the file that it comes from" + kRemedy);
  }
  return std::min(by_header, by_file);
}

}  // namespace taskdag::input
