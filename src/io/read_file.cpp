#include "io/read_file.hpp"

#include <new>

#include "io/gzip.hpp"
#include "io/libarchive.hpp"
#include "taskdag/error.hpp"

namespace taskdag::input {
namespace {

FileText read_plain(InputFile& file, const ReadOptions& options) {
  GrowingText text(file, options, file.size());
  while (const std::size_t count = file.read(text.free_begin(), text.free_size())) text.used(count);
  return text.take();
}

FileText read_text(InputFile& file, Compression compression, const ReadOptions& options) {
  switch (compression) {
    case Compression::none:
      return read_plain(file, options);
    case Compression::gzip:
      return read_gzip(file, options);
    case Compression::xz:
    case Compression::bzip2:
    case Compression::zstd:
      break;
  }
  return read_with_libarchive(file, compression, options);
}

}  // namespace

FileText read_file(InputFile& file, Compression compression, const ReadOptions& options) {
  try {
    return read_text(file, compression, options);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("host memory is exhausted while reading " + file.name());
  }
}

FileText read_file(const std::string& path, const ReadOptions& options) {
  InputFile file(path);
  return read_file(file, compression_of(path), options);
}

}  // namespace taskdag::input
