/// \file
/// Levels of a triangular pattern.
#pragma once

#include <vector>

#include "taskdag/schedule.hpp"

namespace taskdag {

/// Levels of a triangular pattern and their extent.
struct LevelCount {
  Index levels = 0;
  Index widest_level = 0;
};

/// One level per row, as Schedule defines them. @pre the pattern is square and valid
std::vector<Index> compute_levels(const CsrPattern& pattern, Triangle triangle);

/// How many levels there are, and how many rows the widest one has. @pre as above
LevelCount count_levels(const CsrPattern& pattern, Triangle triangle);

}  // namespace taskdag
