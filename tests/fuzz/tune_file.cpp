// Tune files: a file that is taken keeps its choices when one is added, and holds the new one.
#include "solver/choice/tune_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "fuzz/memory_file.hpp"
#include "fuzz/property.hpp"
#include "taskdag/error.hpp"

namespace taskdag::fuzz {
namespace {

/// A key of the corpus.
TuneKey key_of(Index rows) {
  return {.device = "d", .triangle = Triangle::lower, .rows = rows, .entries = 2, .levels = 3, .pattern = 15};
}

/// On a disk: save_tuned() replaces a file by another one beside it.
class File {
 public:
  File(const std::uint8_t* data, std::size_t size) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / ("taskdag_fuzz_tune_" + std::to_string(::getpid()));
};

void check_saving(const File& file, const std::optional<std::string>& first) {
  save_tuned(file.path(), key_of(2), "cells:7", 1.5);
  require(find_tuned(file.path(), key_of(2), false) == "cells:7", "what is saved is found");
  require(find_tuned(file.path(), key_of(1), false) == first, "other choices stay");
}

}  // namespace
}  // namespace taskdag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taskdag;
  const fuzz::MemoryFile memory(data, size);
  std::optional<std::string> first;
  try {
    first = find_tuned(memory.path(), fuzz::key_of(1), false);
  } catch (const ParseError&) {
    return 0;
  }
  fuzz::check_saving(fuzz::File(data, size), first);
  return 0;
}
