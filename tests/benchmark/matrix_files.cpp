#include "matrix_files.hpp"

#include <cstdlib>

namespace taskdag::benchmark {

std::optional<std::filesystem::path> find_matrix_file(const std::string& stem) {
  const char* const directory = std::getenv("TASKDAG_MATRIX_DIR");
  if (directory == nullptr) return std::nullopt;
  for (const char* const suffix : {".mtx", ".mtx.xz", ".mtx.gz"}) {
    std::filesystem::path path = std::filesystem::path(directory) / (stem + suffix);
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

}  // namespace taskdag::benchmark
