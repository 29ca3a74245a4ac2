#include "io/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>

namespace taskdag::input {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;

/// zlib's state, with the compressed bytes that it has not taken yet.
class Inflater {
 public:
  explicit Inflater(InputFile& file) : file_(file) {
    constexpr int kGzipOfAnyWindow = 15 + 16;  // neither zlib's own format nor raw data
    if (inflateInit2(&stream_, kGzipOfAnyWindow) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;

  /// @returns whether the file has more bytes.
  bool fill() {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(file_.read(reinterpret_cast<char*>(input_.data()), input_.size()));
      stream_.next_in = input_.data();
    }
    return stream_.avail_in > 0;
  }

  /// One member up to its end.
  void read_member(GrowingText& text) {
    for (;;) {
      if (!fill()) file_.refuse("its compressed data is broken or truncated: the end is missing");
      const std::size_t room = std::min<std::size_t>(text.free_size(), std::numeric_limits<uInt>::max());
      stream_.next_out = reinterpret_cast<Bytef*>(text.free_begin());
      stream_.avail_out = static_cast<uInt>(room);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      text.used(room - stream_.avail_out);
      if (result == Z_STREAM_END) return;
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_BUF_ERROR) {
        file_.refuse(std::string("its compressed data is broken or truncated: ") +
                     (stream_.msg == nullptr ? "it asks for a dictionary" : stream_.msg));
      }
    }
  }

  void next_member() {
    if (inflateReset(&stream_) != Z_OK) file_.refuse("cannot be decompressed: zlib lost its state");
  }

  /// The magic number of gzip: two bytes, which read_member() checks again.
  [[nodiscard]] bool at_member() const {
    constexpr Bytef kFirst = 0x1f;
    return stream_.avail_in > 0 && *stream_.next_in == kFirst;
  }

 private:
  InputFile& file_;
  z_stream stream_ = {};
  std::array<Bytef, kBlock> input_ = {};
};

}  // namespace

FileText read_gzip(InputFile& file, const ReadOptions& options) {
  Inflater inflater(file);
  if (!inflater.fill() || !inflater.at_member()) {
    file.refuse("is not compressed as the end of its name says, or is cut off in the first bytes");
  }
  GrowingText text(file, options);
  inflater.read_member(text);
  while (inflater.fill()) {
    if (!inflater.at_member()) file.refuse("something follows its compressed data");
    inflater.next_member();
    inflater.read_member(text);
  }
  return text.take();
}

}  // namespace taskdag::input
