#include "description.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace generic {

namespace {

using nlohmann::json;

/// Figure 7.1: a task of type 0 creates tasks of types 1 and 2, and one of type 3 that ends their work.
constexpr const char* kSmall = R"({"types": [
  {"name": "type 0", "phase": 0, "children": [{"type": "type 1", "count": 3}, {"type": "type 2", "count": 3},
                                              {"type": "type 3"}]},
  {"name": "type 1", "phase": 1},
  {"name": "type 2", "phase": 1, "work": 2},
  {"name": "type 3", "phase": 2}]})";

/// In the manner of figure 7.2: 11 types in 5 phases.
constexpr const char* kLarge = R"({"types": [
  {"name": "type 0", "phase": 0, "children": [{"type": "type 1", "count": 2}, {"type": "type 2", "per_mille": 700},
                                              {"type": "type 3", "per_mille": 500}, {"type": "type 10"}]},
  {"name": "type 1", "phase": 1, "children": [{"type": "type 4", "per_mille": 600, "count": 2},
                                              {"type": "type 5", "per_mille": 400},
                                              {"type": "type 7", "per_mille": 800}]},
  {"name": "type 2", "phase": 1, "work": 3, "children": [{"type": "type 5", "per_mille": 800},
                                                         {"type": "type 6", "per_mille": 500, "count": 2},
                                                         {"type": "type 8", "per_mille": 900}]},
  {"name": "type 3", "phase": 1, "children": [{"type": "type 6", "per_mille": 900}, {"type": "type 9"}]},
  {"name": "type 4", "phase": 2, "work": 0.5, "children": [{"type": "type 7", "per_mille": 500},
                                                           {"type": "type 8", "per_mille": 300}]},
  {"name": "type 5", "phase": 2, "work": 2, "children": [{"type": "type 8", "per_mille": 400, "count": 2},
                                                         {"type": "type 9", "per_mille": 600}]},
  {"name": "type 6", "phase": 2, "children": [{"type": "type 9", "per_mille": 800}]},
  {"name": "type 7", "phase": 3, "work": 4, "children": [{"type": "type 10", "per_mille": 300}]},
  {"name": "type 8", "phase": 3, "children": [{"type": "type 10", "per_mille": 300}]},
  {"name": "type 9", "phase": 3, "children": [{"type": "type 10", "per_mille": 500}]},
  {"name": "type 10", "phase": 4, "work": 0.25}]})";

json parsed(const std::string& tree) {
  if (tree == "small") return json::parse(kSmall);
  if (tree == "large") return json::parse(kLarge);
  std::ifstream file(tree);
  if (!file) throw std::runtime_error("cannot be read; it is neither small, nor large, nor a file");
  return json::parse(file);
}

void require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

/// The number of the type with this name.
int find(const Description& description, const std::string& name) {
  const auto found = std::find(description.names.begin(), description.names.end(), name);
  require(!name.empty() && found != description.names.end(), "there is no type \"" + name + "\"");
  return static_cast<int>(found - description.names.begin());
}

/// Gives each type of the file a place in its phase. @returns the types' numbers in the order of the file
std::vector<int> place_types(const json& types, Description& description) {
  std::vector<int> numbers;
  std::array<int, kPhases> used{};
  int last_phase = 0;
  for (const json& type : types) {
    const std::string name = type.at("name").get<std::string>();
    const int phase = type.at("phase").get<int>();
    require(!name.empty() && std::count(description.names.begin(), description.names.end(), name) == 0,
            "a type has no name, or another one's");
    require(phase >= 0 && phase < kPhases, name + ": phases are 0 to " + std::to_string(kPhases - 1));
    require(phase >= last_phase, name + ": types stand in the order of their phases");
    last_phase = phase;
    const int number = kFirstOfPhase[phase] + used[static_cast<std::size_t>(phase)]++;
    require(number < kFirstOfPhase[phase + 1], name + ": this phase holds fewer types");
    description.names[static_cast<std::size_t>(number)] = name;
    numbers.push_back(number);
  }
  require(!numbers.empty() && numbers.front() == 0, "the first type is the roots', in phase 0");
  return numbers;
}

Transition transition_from(const json& child, const Description& description) {
  Transition transition{};
  transition.to = find(description, child.at("type").get<std::string>());
  transition.per_mille = child.value("per_mille", 1000);
  transition.count = child.value("count", 1);
  require(transition.per_mille >= 0 && transition.per_mille <= 1000, "per_mille is 0 to 1000");
  require(transition.count >= 1 && transition.count <= kMostChildren, "count is 1 to " + std::to_string(kMostChildren));
  return transition;
}

void read_type(const json& type, int number, double flops, Description& description) {
  TaskType& result = description.tree.types[number];
  const double work = flops * type.value("work", 1.0);
  require(work >= 0 && work <= std::numeric_limits<std::int32_t>::max(), "flops are 0 to 2^31 - 1");
  result.flops = static_cast<std::int32_t>(work);
  int last = number;
  int children = 0;
  for (const json& child : type.value("children", json::array())) {
    require(result.size < kMostTransitions, "a type has at most " + std::to_string(kMostTransitions) + " transitions");
    const Transition transition = transition_from(child, description);
    require(transition.to > last, "children are of later types, in the order of the types");
    last = transition.to;
    children += transition.count;
    result.transitions[result.size++] = transition;
  }
  require(children <= kMostChildren, "a task has at most " + std::to_string(kMostChildren) + " children");
  require(result.size < 2 || result.transitions[result.size - 1].count == 1,
          "the last of several transitions, whose task waits for the others, has count 1");
}

}  // namespace

Description describe_tree(const std::string& tree, double flops) {
  try {
    const json types = parsed(tree).at("types");
    Description description;
    const std::vector<int> numbers = place_types(types, description);
    for (std::size_t i = 0; i < numbers.size(); ++i) read_type(types[i], numbers[i], flops, description);
    return description;
  } catch (const std::exception& error) {
    throw std::runtime_error(tree + ": " + error.what());
  }
}

std::vector<Node> walk(const Tree& tree, const std::vector<std::uint64_t>& roots, std::size_t most) {
  std::vector<Node> nodes;
  std::vector<Node> open;
  for (const std::uint64_t root : roots) {
    open.push_back({root, 0});
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      if (nodes.size() == most) throw std::runtime_error("the trees have more than " + std::to_string(most) + " tasks");
      nodes.push_back(node);
      each_child(tree.types[node.type], node.number, [&](std::uint64_t child, std::int32_t type) {
        open.push_back({child, static_cast<std::uint32_t>(type)});
      });
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace generic
