#include "io/read_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "taskdag/error.hpp"

namespace taskdag::input {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& message) { throw ParseError(path, 0, message); }

std::string system_message(int error) { return std::generic_category().message(error); }

/// A file descriptor that is closed with its scope.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) refuse(path, "cannot be opened: " + system_message(errno));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Grows while it is filled; new room is not cleared, which a vector would do.
class Buffer {
 public:
  explicit Buffer(std::size_t capacity) { grow(capacity); }
  [[nodiscard]] char* free_begin() { return text_.bytes.get() + text_.size; }
  [[nodiscard]] std::size_t free_size() const { return capacity_ - text_.size; }
  void used(std::size_t count) {
    text_.size += count;
    if (text_.size == capacity_) grow(2 * capacity_);
  }
  FileText take() { return std::move(text_); }

 private:
  void grow(std::size_t capacity) {
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (text_.size > 0) std::memcpy(bytes.get(), text_.bytes.get(), text_.size);
    text_.bytes = std::move(bytes);
    capacity_ = capacity;
  }
  FileText text_;
  std::size_t capacity_ = 0;
};

FileText read_plain(const std::string& path) {
  const Descriptor file(path);
  struct stat status = {};
  std::size_t capacity = kFirstCapacity;
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    capacity = static_cast<std::size_t>(status.st_size) + 1;  // one byte of room left: the end is seen without growing
  }
  Buffer buffer(capacity);
  for (;;) {
    const ssize_t count = ::read(file.number(), buffer.free_begin(), buffer.free_size());
    if (count == 0) return buffer.take();
    if (count > 0) {
      buffer.used(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      refuse(path, "cannot be read: " + system_message(errno));
    }
  }
}

struct ArchiveCloser {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<archive, ArchiveCloser>;

// One filter only, never all of them: libarchive's set holds filters that start other programs, and data that is not
// what the name says shall be refused.
int enable_filter(archive* reader, Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return archive_read_support_filter_gzip(reader);
    case Compression::xz:
      return archive_read_support_filter_xz(reader);
    case Compression::bzip2:
      return archive_read_support_filter_bzip2(reader);
    case Compression::zstd:
      return archive_read_support_filter_zstd(reader);
    case Compression::none:
      break;
  }
  return ARCHIVE_FATAL;
}

std::string archive_message(archive* reader) {
  const char* message = archive_error_string(reader);
  return message == nullptr ? "unknown error" : message;
}

FileText read_compressed(const std::string& path, Compression compression) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  const Descriptor file(path);
  const ArchiveReader owner(archive_read_new());
  archive* reader = owner.get();
  if (reader == nullptr) throw std::bad_alloc();
  if (enable_filter(reader, compression) != ARCHIVE_OK) {
    throw Unsupported(path + ": libarchive was built without this compression");
  }
  archive_read_support_format_raw(reader);
  archive_read_support_format_empty(reader);
  if (archive_read_open_fd(reader, file.number(), kBlock) != ARCHIVE_OK) {
    refuse(path, "cannot be decompressed: " + archive_message(reader));
  }
  if (archive_filter_code(reader, 0) == ARCHIVE_FILTER_NONE) {
    refuse(path, "is not compressed as the end of its name says, or is cut off in the first bytes");
  }
  Buffer buffer(kFirstCapacity);
  archive_entry* entry = nullptr;
  const int opened = archive_read_next_header(reader, &entry);
  if (opened == ARCHIVE_EOF) return buffer.take();  // the compressed form of nothing
  if (opened != ARCHIVE_OK) refuse(path, "cannot be decompressed: " + archive_message(reader));
  for (;;) {
    const la_ssize_t count = archive_read_data(reader, buffer.free_begin(), buffer.free_size());
    if (count == 0) return buffer.take();
    if (count < 0) refuse(path, "its compressed data is broken or truncated: " + archive_message(reader));
    buffer.used(static_cast<std::size_t>(count));
  }
}

}  // namespace

Compression compression_of(const std::string& path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".xz")) return Compression::xz;
  if (path.ends_with(".bz2")) return Compression::bzip2;
  if (path.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

FileText read_file(const std::string& path) {
  const Compression compression = compression_of(path);
  try {
    if (compression == Compression::none) return read_plain(path);
    return read_compressed(path, compression);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("host memory is exhausted while reading " + path);
  }
}

}  // namespace taskdag::input
