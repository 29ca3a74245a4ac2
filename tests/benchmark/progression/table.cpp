#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace taskdag::benchmark {
namespace {

void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

ProgressionTable::Cell& ProgressionTable::cell(const std::string& dag, const std::string& variant) {
  remember(dags_, dag);
  remember(variants_, variant);
  return cells_[{dag, variant}];
}

void ProgressionTable::add_speed(const std::string& dag, const std::string& variant, bool main,
                                 const std::string& text) {
  if (main) remember(columns_, variant);
  cell(dag, variant).speed = text;
}

void ProgressionTable::add_counts(const std::string& dag, const std::string& variant, const std::string& text) {
  cell(dag, variant).counts = text;
}

void ProgressionTable::print() const {
  const auto find = [&](const std::string& dag, const std::string& variant) {
    const auto found = cells_.find({dag, variant});
    return found == cells_.end() ? Cell() : found->second;
  };
  const auto print_speeds = [&](const std::string& dag) {
    for (const std::string& variant : columns_) {
      const std::string speed = find(dag, variant).speed;
      std::printf(" %*s", static_cast<int>(std::max<std::size_t>(variant.size(), 7)),
                  speed.empty() ? "-" : speed.c_str());
    }
  };
  if (dags_.empty()) return;
  std::printf("\nM tasks/s\n%-22s", "graph");
  for (const std::string& variant : columns_) std::printf(" %7s", variant.c_str());
  for (const std::string& dag : dags_) {
    std::printf("\n%-22s", dag.c_str());
    print_speeds(dag);
  }
  std::printf("\n");
  for (const std::string& dag : dags_) {
    if (!counted(dag)) continue;
    std::printf("\n%-28s %11s %10s %10s %10s\n", dag.c_str(), "M tasks/s", "CAS/task", "atomics", "ld+st/task");
    for (const std::string& variant : variants_) {
      const Cell known = find(dag, variant);
      if (known.speed.empty() && known.counts.empty()) continue;
      std::printf("%-28s %11s %s\n", variant.c_str(), known.speed.c_str(), known.counts.c_str());
    }
    return;
  }
}

bool ProgressionTable::counted(const std::string& dag) const {
  return std::any_of(cells_.begin(), cells_.end(),
                     [&](const auto& place) { return place.first.first == dag && !place.second.counts.empty(); });
}

}  // namespace taskdag::benchmark
