#include "ratios.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace taskdag::benchmark {
namespace {

void print_set(const std::string& what, const char* set, const std::vector<std::pair<std::string, double>>& ratios) {
  if (ratios.empty()) return;
  double logs = 0.0;
  for (const auto& [name, ratio] : ratios) logs += std::log(ratio);
  const auto& least =
      *std::min_element(ratios.begin(), ratios.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::printf("%-34s %-8s geometric mean %6.2f  least %6.2f (%s), %zu problems\n", what.c_str(), set,
              std::exp(logs / static_cast<double>(ratios.size())), least.second, least.first.c_str(), ratios.size());
}

}  // namespace

double break_even(double analysis, double solve, double rival_analysis, double rival_solve) {
  const double gain = rival_solve - solve;
  if (!(gain > 0.0)) return std::numeric_limits<double>::infinity();
  const double debt = analysis - rival_analysis;
  return debt < 0.0 ? 0.0 : std::floor(debt / gain) + 1.0;
}

Ratios::Group& Ratios::group(const std::string& what) {
  if (!groups_.contains(what)) order_.push_back(what);
  return groups_[what];
}

void Ratios::add(const std::string& what, const Problem& problem, double ratio) {
  Group& g = group(what);
  if (problem.set == ProblemSet::table) g.table.emplace_back(problem.name, ratio);
  const bool named_alone = problem.set == ProblemSet::large || problem.set == ProblemSet::shapes;
  if (problem.set != ProblemSet::other && !named_alone) g.standard.emplace_back(problem.name, ratio);
  g.all.emplace_back(problem.name, ratio);
}

void Ratios::add_break_even(const std::string& what, double solves) { group(what).break_even.push_back(solves); }

void Ratios::print() const {
  for (const std::string& what : order_) {
    const Group& g = groups_.at(what);
    print_set(what, "table", g.table);
    if (g.standard.size() > g.table.size()) print_set(what, "standard", g.standard);
    if (g.all.size() > g.standard.size()) print_set(what, "all", g.all);
    if (g.break_even.empty()) continue;
    std::vector<double> solves = g.break_even;
    std::sort(solves.begin(), solves.end());
    std::printf("%-34s break-even, median of %zu: %g solves, most %g\n", what.c_str(), solves.size(),
                solves[solves.size() / 2], solves.back());
  }
}

}  // namespace taskdag::benchmark
