/// \file
/// A file in memory, with a path: most of the readers take one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "fuzz/property.hpp"

namespace taskdag::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(const void* data = nullptr, std::size_t size = 0)
      : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && ::write(descriptor_, data, size) == static_cast<ssize_t>(size), "a file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  /// Another descriptor of the file, at its begin. It is the caller's to close.
  [[nodiscard]] int open_again() const {
    ::lseek(descriptor_, 0, SEEK_SET);
    return ::dup(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace taskdag::fuzz
