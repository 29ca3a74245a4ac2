#include "row_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../csv_text.hpp"

namespace taskdag::benchmark {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

RowFile::RowFile(const std::string& path, bool append, Origin origin) : origin_(std::move(origin)) {
  if (path.empty()) return;
  std::string text = append ? read_whole(path) : std::string();
  const bool is_new = text.find('\n') == std::string::npos;
  if (!is_new) {
    text.resize(text.rfind('\n') + 1);
    std::filesystem::resize_file(path, text.size());
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> fields = csv_fields(line);
      if (fields.size() > 7) known_.insert(key(fields[1], fields[2], fields[3], fields[7]));
    }
  }
  file_.reset(std::fopen(path.c_str(), is_new ? "w" : "a"));
  if (!file_) throw std::runtime_error("cannot write " + path);
  if (is_new) write_names(file_.get());
}

void RowFile::add(const Row& row) {
  if (!file_ || has(row.set, row.matrix, row.variant)) return;
  write_row(file_.get(), origin_, row);
  if (std::fflush(file_.get()) != 0) throw std::runtime_error("cannot write the rows");
}

}  // namespace taskdag::benchmark
