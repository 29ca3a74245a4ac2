/// \file
/// Whether a run executed the right tasks, once each, and no task too early.
#pragma once

#include <cstdint>
#include <vector>

#include "description.hpp"
#include "run.hpp"

namespace generic {

struct Checked {
  std::uint64_t children = 0;      ///< that started after their parents had
  std::uint64_t dependencies = 0;  ///< of tasks on siblings, or of tasks on the tasks of the phases before
};

/// @param nodes what walk() found. @throws std::runtime_error that names the first thing that is wrong
Checked check(const Input& input, const std::vector<Node>& nodes, const Output& output);

}  // namespace generic
