/// \file
/// Writes matrices and vectors as Matrix Market files.
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "io/compression.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Formats into a buffer of its own and checks every write; close() must be called, it reports what came last.
class TextWriter {
 public:
  explicit TextWriter(const std::string& path) : path_(path) {
    if (input::compression_of(path) != input::Compression::none) {
      throw Unsupported(path + ": compressed files are read, not written");
    }
    file_.reset(std::fopen(path.c_str(), "wbe"));
    if (file_ == nullptr) fail();
  }

  void text(std::string_view characters) {
    room(characters.size());
    characters.copy(buffer_.data() + used_, characters.size());
    used_ += characters.size();
  }
  void number(std::int64_t value) {
    room(kLongestNumber);
    end_at(std::to_chars(buffer_.data() + used_, buffer_.data() + buffer_.size(), value).ptr);
  }
  void number(double value) {
    room(kLongestNumber);
    constexpr int kDigits = 17;  // enough to tell any two doubles apart
    end_at(std::to_chars(buffer_.data() + used_, buffer_.data() + buffer_.size(), value, std::chars_format::general,
                         kDigits)
               .ptr);
  }
  void close() {
    flush();
    if (std::fclose(file_.release()) != 0) fail();
  }

 private:
  static constexpr std::size_t kLongestNumber = 32;

  [[noreturn]] void fail() const {
    throw Error(path_ + ": cannot be written: " + std::generic_category().message(errno));
  }
  void room(std::size_t count) {
    if (buffer_.size() - used_ < count) flush();
  }
  void end_at(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }
  void flush() {
    if (std::fwrite(buffer_.data(), 1, used_, file_.get()) != used_) fail();
    used_ = 0;
  }

  const std::string& path_;
  std::unique_ptr<std::FILE, FileCloser> file_;
  std::array<char, std::size_t{1} << 16> buffer_;
  std::size_t used_ = 0;
};

}  // namespace

void write_matrix_market(const std::string& path, const CsrView& a) {
  const CsrPattern& pattern = a.pattern;
  validate(pattern);
  TextWriter writer(path);
  writer.text("%%MatrixMarket matrix coordinate real general\n");
  writer.number(std::int64_t{pattern.rows});
  writer.text(" ");
  writer.number(std::int64_t{pattern.cols});
  writer.text(" ");
  writer.number(std::int64_t{pattern.entries()});
  writer.text("\n");
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      writer.number(std::int64_t{row} + 1);
      writer.text(" ");
      writer.number(std::int64_t{pattern.col_indices[e]} + 1);
      writer.text(" ");
      writer.number(a.values[e]);
      writer.text("\n");
    }
  }
  writer.close();
}

void write_matrix_market_vector(const std::string& path, std::span<const double> x) {
  TextWriter writer(path);
  writer.text("%%MatrixMarket matrix array real general\n");
  writer.number(std::int64_t{std::ssize(x)});
  writer.text(" 1\n");
  for (const double value : x) {
    writer.number(value);
    writer.text("\n");
  }
  writer.close();
}

}  // namespace taskdag
