#include "io/libarchive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag::input {
namespace {

struct ArchiveCloser {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<archive, ArchiveCloser>;

/// What libarchive reads from. An exception cannot pass through it, so it is kept until libarchive has returned.
struct Source {
  InputFile& file;
  std::exception_ptr failure;
  std::array<char, std::size_t{1} << 16> block = {};

  void rethrow() const {
    if (failure) std::rethrow_exception(failure);
  }
};

la_ssize_t read_block(archive* reader, void* data, const void** block) {
  auto& source = *static_cast<Source*>(data);
  *block = source.block.data();
  try {
    return static_cast<la_ssize_t>(source.file.read(source.block.data(), source.block.size()));
  } catch (...) {
    source.failure = std::current_exception();
    archive_set_error(reader, EIO, "the file cannot be read");
    return ARCHIVE_FATAL;
  }
}

// One filter only, never all of them: libarchive's set holds filters that start other programs, and data that is not
// what the name says shall be refused.
int enable_filter(archive* reader, Compression compression) {
  switch (compression) {
    case Compression::xz:
      return archive_read_support_filter_xz(reader);
    case Compression::bzip2:
      return archive_read_support_filter_bzip2(reader);
    case Compression::zstd:
      return archive_read_support_filter_zstd(reader);
    case Compression::gzip:  // its checksum would not be checked
    case Compression::none:
      break;
  }
  return ARCHIVE_FATAL;
}

std::string message_of(archive* reader) {
  const char* message = archive_error_string(reader);
  return message == nullptr ? "unknown error" : message;
}

/// libarchive stops where it knows no more of its format, and takes that for the end.
void demand_end(archive* reader, Source& source) {
  constexpr int kOfTheFile = -1;
  const bool all_taken = archive_filter_bytes(reader, kOfTheFile) == source.file.bytes_read();
  if (!all_taken || source.file.read(source.block.data(), 1) > 0) {
    source.file.refuse("something follows its compressed data");
  }
}

void read_text(archive* reader, Source& source, GrowingText& text) {
  const auto refuse = [&](const std::string& message) {
    source.rethrow();
    source.file.refuse(message + ": " + message_of(reader));
  };
  archive_entry* entry = nullptr;
  const int opened = archive_read_next_header(reader, &entry);
  if (opened == ARCHIVE_EOF) return;  // the compressed form of nothing
  if (opened != ARCHIVE_OK) refuse("cannot be decompressed");
  for (;;) {
    const la_ssize_t count = archive_read_data(reader, text.free_begin(), text.free_size());
    if (count == 0) return;
    if (count < 0) refuse("its compressed data is broken or truncated");
    text.used(static_cast<std::size_t>(count));
  }
}

}  // namespace

FileText read_with_libarchive(InputFile& file, Compression compression, const ReadOptions& options) {
  Source source{file, nullptr};
  const ArchiveReader owner(archive_read_new());
  archive* reader = owner.get();
  if (reader == nullptr) throw std::bad_alloc();
  if (enable_filter(reader, compression) != ARCHIVE_OK) {
    throw Unsupported(file.name() + ": libarchive was built without this compression");
  }
  archive_read_support_format_raw(reader);
  archive_read_support_format_empty(reader);
  if (archive_read_open(reader, &source, nullptr, read_block, nullptr) != ARCHIVE_OK) {
    source.rethrow();
    file.refuse("cannot be decompressed: " + message_of(reader));
  }
  if (archive_filter_code(reader, 0) == ARCHIVE_FILTER_NONE) {
    file.refuse("is not compressed as the end of its name says, or is cut off in the first bytes");
  }
  GrowingText text(file, options);
  read_text(reader, source, text);
  demand_end(reader, source);
  return text.take();
}

}  // namespace taskdag::input
