/// \file
/// What the controller of static programs decides from turn to turn on a GPU. The controller is a kernel of the
/// library: deciding on a graph's loop takes relocatable device code, which programs then need not be.
#pragma once

#include <cstdint>

#include "taskdag/export.hpp"

namespace taskdag::engine {

/// Between two turns; device memory.
struct StaticTurn {
  std::uint32_t total;  ///< claims, or levels
  std::uint32_t most;   ///< teams of a turn
  std::uint64_t*
      tickets;          ///< of levels: counts runs in its upper half; null: of claims, whose teams count by themselves
  std::uint32_t done;   ///< claims or levels that turns have been given
  std::uint32_t teams;  ///< that take part in this turn
  std::uint32_t turns;
};

/// Adds the controller to the body of a graph's loop. body: cudaGraph_t; condition: the loop's
/// cudaGraphConditionalHandle; turn: device memory. @returns the node, a cudaGraphNode_t. @throws DeviceError
TASKDAG_API void* add_turn_controller(void* body, StaticTurn* turn, std::uint64_t condition);

}  // namespace taskdag::engine
