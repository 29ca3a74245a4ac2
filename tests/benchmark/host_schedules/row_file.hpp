/// \file
/// The rows of a run, in a file that each is added to as soon as it is there.
#pragma once

#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "summary.hpp"

namespace taskdag::benchmark {

class RowFile {
 public:
  /// An empty path: nothing is written. `append`: to what is there already; a line that was cut off goes first.
  /// @throws std::runtime_error where it cannot be written
  RowFile(const std::string& path, bool append, Origin origin);

  /// Whether the file had this row for so many cores when it was opened.
  [[nodiscard]] bool has(const std::string& set, const std::string& matrix, const std::string& variant) const {
    return known_.contains(key(std::to_string(origin_.cores), set, matrix, variant));
  }

  /// Writes it through.
  void add(const Row& row);

 private:
  static std::string key(const std::string& cores, const std::string& set, const std::string& matrix,
                         const std::string& variant) {
    return cores + '\n' + set + '\n' + matrix + '\n' + variant;
  }

  Origin origin_;
  std::set<std::string> known_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
};

}  // namespace taskdag::benchmark
