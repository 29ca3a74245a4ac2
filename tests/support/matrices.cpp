#include "support/matrices.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::test {
namespace {

constexpr std::array kEndings = {".mtx", ".mtx.gz", ".mtx.xz", ".mtx.bz2", ".mtx.zst"};

}  // namespace

std::vector<std::string> matrices_in(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw InvalidInput(folder.string() + " is not a folder");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    for (const std::string ending : kEndings) {
      if (file.ends_with(ending)) names.push_back(file.substr(0, file.size() - ending.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

CsrMatrix load_from(const std::filesystem::path& folder, const std::string& name) {
  for (const char* ending : kEndings) {
    const std::filesystem::path path = folder / (name + ending);
    if (std::filesystem::exists(path)) return read_matrix_market(path.string());
  }
  throw InvalidInput("no matrix " + name + " in " + folder.string());
}

std::vector<std::string> bundled_matrices() { return matrices_in(TASKDAG_TEST_DATA_DIR); }
CsrMatrix load_bundled(const std::string& name) { return load_from(TASKDAG_TEST_DATA_DIR, name); }

std::filesystem::path matrix_dir() {
  const char* folder = std::getenv("TASKDAG_MATRIX_DIR");
  return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

std::vector<std::string> listed_matrices() {
  return matrix_dir().empty() ? std::vector<std::string>() : matrices_in(matrix_dir());
}

CsrMatrix load_listed(const std::string& name) { return load_from(matrix_dir(), name); }

}  // namespace taskdag::test
