/// \file
/// What a scheduler decides.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag {

/// The core and the superstep of each task. A task's parent runs on the same core in the same or an earlier superstep,
/// or on another core in an earlier superstep. Source: Böhnlein et al. 2025, definition 2.1.
struct Assignment {
  Index supersteps = 0;
  std::vector<Index> core;
  std::vector<Index> superstep;
};

}  // namespace taskdag
