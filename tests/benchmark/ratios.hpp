/// \file
/// Ratios of rivals' times to ours, over the sets of problems.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "problems.hpp"

namespace taskdag::benchmark {

/// Solves after which analysis and solves together have taken less time than the rival's: 0 if at once and for good,
/// infinity if never for good. All in milliseconds.
double break_even(double analysis, double solve, double rival_analysis, double rival_solve);

/// Collects the ratios of one run and prints, for each thing compared and each set of problems, the geometric mean and
/// the least.
class Ratios {
 public:
  void add(const std::string& what, const Problem& problem, double ratio);
  /// Numbers of solves after which an analysis has paid; infinity: never.
  void add_break_even(const std::string& what, double solves);
  void print() const;

 private:
  struct Group {
    std::vector<std::pair<std::string, double>> table, standard, all;
    std::vector<double> break_even;
  };
  Group& group(const std::string& what);
  std::vector<std::string> order_;
  std::map<std::string, Group> groups_;
};

}  // namespace taskdag::benchmark
