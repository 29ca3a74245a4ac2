/// \file
/// The compressions that are read.
#pragma once

#include <string>

namespace taskdag::input {

enum class Compression { none, gzip, xz, bzip2, zstd };

/// What the end of the name says: .gz, .xz, .bz2, .zst, else none.
inline Compression compression_of(const std::string& path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".xz")) return Compression::xz;
  if (path.ends_with(".bz2")) return Compression::bzip2;
  if (path.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

}  // namespace taskdag::input
