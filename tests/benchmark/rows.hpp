/// \file
/// The rows that a benchmark writes: to CSV and to JSON, each flushed as soon as it is there.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "csv_text.hpp"
#include "machine.hpp"

namespace taskdag::benchmark {

/// Column names and values in their order; null where a column means nothing for the row.
using Row = nlohmann::ordered_json;

class Rows {
 public:
  /// Empty names: no such file. `key`: the columns that tell rows apart. With `resume` the CSV file's rows stay, and
  /// contains() knows them. Every row gets the machine's columns at its end.
  Rows(const std::string& csv, const std::string& json, std::vector<std::string> key, bool resume,
       const Machine& machine);

  /// Whether a row with these values of the key was there before this run.
  [[nodiscard]] bool contains(const Row& key) const;

  /// Writes a row, unless contains() it. All rows of a file have the same columns. @throws Error if they do not
  void add(const Row& row);

 private:
  void read(const std::string& csv);
  [[nodiscard]] std::string key_of(const Row& row) const;

  std::vector<std::string> key_;
  Row machine_;
  std::vector<std::string> columns_;
  std::set<std::string> before_;
  std::ofstream csv_;
  std::ofstream json_;
};

}  // namespace taskdag::benchmark
