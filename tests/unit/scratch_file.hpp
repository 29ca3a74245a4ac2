/// \file
/// A file for one test, removed with its scope.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace taskdag::test {

class ScratchFile {
 public:
  /// The process number keeps programs that run side by side apart.
  explicit ScratchFile(const std::string& name, const std::string& content = {})
      : path_(testing::TempDir() + "taskdag_" + std::to_string(::getpid()) + "_" + name) {
    std::ofstream file(path_, std::ios::binary);
    file << content;
    file.close();
    EXPECT_TRUE(file) << path_;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ScratchFile(ScratchFile&&) = delete;
  ScratchFile& operator=(ScratchFile&&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

}  // namespace taskdag::test
