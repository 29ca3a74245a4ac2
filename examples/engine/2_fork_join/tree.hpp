/// \file
/// A tree that grows while it runs: every inner node forks into children and a join that waits for them.
#pragma once

#include <cstdint>

#include "common/engine_options.hpp"

namespace fork_join {

struct Shape {
  int depth = 0;    ///< of the leaves; 0: the root is a leaf
  int fan_out = 0;  ///< children of an inner node, at least 1
  [[nodiscard]] std::uint64_t leaves() const;
  [[nodiscard]] std::uint64_t inner_nodes() const;
};

struct Result {
  taskdag::engine::Report report;
  std::uint64_t sum = 0;    ///< of the numbers of all leaves, 0 to leaves - 1
  std::uint32_t joins = 0;  ///< records taken from the pool
};

/// @param traced whether the report has events (engine/trace.hpp)
/// @param pool records for inner nodes; the run ends with Outcome::task_failed if there are more nodes
Result sum_leaves(const taskdag::Context& context, const example::EngineOptions& options, const Shape& shape,
                  std::uint32_t pool, bool traced);

}  // namespace fork_join
