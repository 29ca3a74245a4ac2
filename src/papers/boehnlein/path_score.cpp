#include "papers/boehnlein/path_score.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace taskdag {

namespace {

/// mantissa · 2^exponent with 1 ≤ mantissa < 2.
struct Scaled {
  double mantissa;
  std::int32_t exponent;
};

/// 2^e, 0 where that is too small to matter beside 1. @pre e <= 0
double power_of_two(std::int32_t e) {
  return e < -1000 ? 0.0 : std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52);
}

/// @pre value >= 1
Scaled scale(double value, std::int32_t exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto e = static_cast<std::int32_t>(bits >> 52) - 1023;
  return {std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL), exponent + e};
}

}  // namespace

std::vector<double> pivotal_path_priorities(const TaskGraph& graph) {
  std::vector<Scaled> score(static_cast<std::size_t>(graph.size()));
  std::vector<double> priority(score.size());
  for (Index task = graph.size(); task-- > 0;) {
    const auto t = static_cast<std::size_t>(task);
    const auto children = graph.children_of(task);
    Scaled own = scale(graph.weight[t], 0);
    if (!children.empty()) {
      std::int32_t largest = 0;
      for (const Index child : children) largest = std::max(largest, score[static_cast<std::size_t>(child)].exponent);
      double squares = 0.0;  // in units of 4^largest; at least 1
      for (const Index child : children) {
        const Scaled& other = score[static_cast<std::size_t>(child)];
        const double scaled = other.mantissa * power_of_two(other.exponent - largest);
        squares += scaled * scaled;
      }
      const Scaled behind = scale(std::sqrt(squares), largest);
      const std::int32_t common = std::max(own.exponent, behind.exponent);
      own = scale(
          own.mantissa * power_of_two(own.exponent - common) + behind.mantissa * power_of_two(behind.exponent - common),
          common);
    }
    score[t] = own;
    priority[t] = own.exponent + (own.mantissa - 1.0);
  }
  return priority;
}

}  // namespace taskdag
