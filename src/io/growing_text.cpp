#include "io/growing_text.hpp"

#include <algorithm>
#include <cstring>

namespace taskdag::input {
namespace {

// The limit is asked when this is full, so it is small against any limit that is not an option.
constexpr std::int64_t kFirstCapacity = std::int64_t{1} << 20;

}  // namespace

GrowingText::GrowingText(const InputFile& file, const ReadOptions& options, std::int64_t expected)
    : file_(file), limit_(options), expected_(expected) {
  const std::int64_t wanted = expected > 0 ? std::min(expected + 1, kFirstCapacity) : kFirstCapacity;
  grow(std::min(wanted, limit_.first_bytes() + 1));
}

void GrowingText::used(std::size_t count) {
  text_.size += count;
  if (text_.size < capacity_) return;
  const std::int64_t most = limit_.most_bytes({text_.bytes.get(), text_.size}, file_);
  const auto full = static_cast<std::int64_t>(capacity_);
  // One byte of room more than what is expected: the end is seen without growing.
  grow(std::min(std::max(2 * full, expected_ + 1), most + 1));
}

void GrowingText::grow(std::int64_t capacity) {
  const auto count = static_cast<std::size_t>(capacity);
  auto bytes = std::make_unique_for_overwrite<char[]>(count);
  if (text_.size > 0) std::memcpy(bytes.get(), text_.bytes.get(), text_.size);
  text_.bytes = std::move(bytes);
  capacity_ = count;
}

}  // namespace taskdag::input
