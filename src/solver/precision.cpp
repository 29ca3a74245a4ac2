#include "taskdag/precision.hpp"

#include <array>

#include "taskdag/error.hpp"

namespace taskdag {

namespace {

// In the order of the enumeration.
constexpr std::array<const char*, 3> kNames{"auto", "double", "single"};

}  // namespace

const char* to_string(Precision precision) { return kNames.at(static_cast<std::size_t>(precision)); }

Precision precision_from(const std::string& name) {
  for (std::size_t k = 0; k < kNames.size(); ++k) {
    if (name == kNames[k]) return static_cast<Precision>(k);
  }
  throw InvalidInput("no precision is named \"" + name + "\"; there are auto, double, single");
}

}  // namespace taskdag
