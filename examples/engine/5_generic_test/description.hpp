/// \file
/// Execution trees for the host: their names, reading them, walking them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tree.hpp"

namespace generic {

struct Description {
  Tree tree{};
  std::array<std::string, kTypes> names;  ///< empty: a type that this tree does not use
};

/// "small" (figure 7.1: 4 types), "large" (in the manner of figure 7.2: 11 types), or the name of a JSON file:
///
///     {"types": [
///       {"name": "order", "phase": 0, "children": [{"type": "leg", "count": 4},
///                                                  {"type": "assemble", "per_mille": 900}]},
///       {"name": "leg", "phase": 1, "work": 2.5},
///       {"name": "assemble", "phase": 2}]}
///
/// The first type is the roots'. `per_mille` is 1000 and `count` 1 where they are missing, `work` multiplies `flops`.
/// Phases are 0 to 4 and hold 1, 3, 3, 3 and 1 types. Types stand in the order of their phases; children are of later
/// types, in the same order; where there are several, the last has count 1.
/// @throws std::runtime_error for a file that cannot be read or breaks a rule
Description describe_tree(const std::string& tree, double flops);

struct Node {
  std::uint64_t number;
  std::uint32_t type;
  auto operator<=>(const Node&) const = default;
};

/// All tasks of the trees below `roots`, walked one after the other, sorted. @throws std::runtime_error for more than
/// `most` tasks
std::vector<Node> walk(const Tree& tree, const std::vector<std::uint64_t>& roots, std::size_t most);

}  // namespace generic
