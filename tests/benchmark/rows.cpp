#include "rows.hpp"

#include <algorithm>
#include <filesystem>

#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

std::string text_of(const Row& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value.get<double>());
    return text.data();
  }
  return value.dump();
}

std::ofstream open(const std::string& name, bool append) {
  std::ofstream file;
  if (name.empty()) return file;
  file.open(name, append ? std::ios::app : std::ios::trunc);
  if (!file) throw InvalidInput("cannot write " + name);
  return file;
}

}  // namespace

Rows::Rows(const std::string& csv, const std::string& json, std::vector<std::string> key, bool resume,
           const Machine& machine)
    : key_(std::move(key)),
      machine_({{"commit", machine.commit},
                {"gpu", machine.gpu},
                {"driver", machine.driver},
                {"cuda", machine.cuda},
                {"cusparse", machine.cusparse},
                {"date", machine.date}}) {
  if (resume && !csv.empty() && std::filesystem::exists(csv)) read(csv);
  csv_ = open(csv, resume);
  json_ = open(json, resume);
}

void Rows::read(const std::string& csv) {
  std::ifstream file(csv);
  std::string line;
  if (!std::getline(file, line)) return;
  columns_ = csv_fields(line);
  std::vector<std::size_t> places;
  for (const std::string& column : key_) {
    const auto at = std::find(columns_.begin(), columns_.end(), column);
    if (at == columns_.end()) throw InvalidInput("rows to go on with have no column " + column);
    places.push_back(static_cast<std::size_t>(at - columns_.begin()));
  }
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != columns_.size()) throw InvalidInput("a row has other columns than its file: " + line);
    std::vector<std::string> key;
    key.reserve(places.size());
    for (const std::size_t place : places) key.push_back(fields[place]);
    before_.insert(csv_line(key));
  }
}

std::string Rows::key_of(const Row& row) const {
  std::vector<std::string> key;
  key.reserve(key_.size());
  for (const std::string& column : key_) key.push_back(text_of(row.at(column)));
  return csv_line(key);
}

bool Rows::contains(const Row& key) const { return before_.contains(key_of(key)); }

void Rows::add(const Row& row) {
  if (contains(row)) return;
  Row full = row;
  full.update(machine_);
  std::vector<std::string> columns;
  std::vector<std::string> fields;
  for (const auto& [name, value] : full.items()) {
    columns.push_back(name);
    fields.push_back(text_of(value));
  }
  if (columns_.empty()) {
    columns_ = columns;
    if (csv_.is_open()) csv_ << csv_line(columns) << '\n';
  }
  if (columns != columns_) throw Error("rows of one file differ in their columns");
  if (csv_.is_open()) csv_ << csv_line(fields) << std::endl;
  if (json_.is_open()) json_ << full.dump() << std::endl;
}

}  // namespace taskdag::benchmark
