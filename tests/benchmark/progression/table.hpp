/// \file
/// What the study's program prints at its end.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace taskdag::benchmark {

/// Graphs by variants, as texts; and all that is known of the first graph on which operations were counted.
class ProgressionTable {
 public:
  /// A variant's rate on a graph, or why there is none. `main`: it has a column.
  void add_speed(const std::string& dag, const std::string& variant, bool main, const std::string& text);
  void add_counts(const std::string& dag, const std::string& variant, const std::string& text);
  void print() const;

 private:
  struct Cell {
    std::string speed;
    std::string counts;
  };
  Cell& cell(const std::string& dag, const std::string& variant);
  [[nodiscard]] bool counted(const std::string& dag) const;

  std::vector<std::string> dags_;
  std::vector<std::string> columns_;   ///< variants with one
  std::vector<std::string> variants_;  ///< all
  std::map<std::pair<std::string, std::string>, Cell> cells_;
};

}  // namespace taskdag::benchmark
