/// \file
/// Walks over the levels of a graph in device memory: breadth-first searches and Cuthill–McKee orderings.
#pragma once

#include "kernels/ordering/graph/ranked_graph.hpp"

namespace taskdag::kernels {

/// What a walk leaves behind: level l is queue[level_begin[l] … level_begin[l+1]).
struct Levels {
  Index levels = 0;
  Index nodes = 0;  ///< in all of them
  bool gave_up = false;
};

/// How a walk is launched.
struct WalkShape {
  int blocks = 1;
  int team = 1;  ///< blocks in a cluster
};

/// Walks that share their memory. A walk starts from any number of nodes at once, of different components: its level l
/// then holds the nodes of all these components that are l steps away, those of one component together if `ordered`.
class Walker {
 public:
  Walker(const RankedGraph& ranked, cudaStream_t stream);

  /// The array where the starts of the next walk belong.
  [[nodiscard]] Index* starts() const { return queue_.data(); }

  /// Visits every node that can be reached from the first `starts` nodes of the queue. `ordered`: in Cuthill–McKee's
  /// order, children by their parent's position, those of one parent by rank; otherwise in any order inside a level,
  /// and the walk gives up where it has met so few nodes a level for so long that a host thread would be faster.
  /// Synchronises the stream.
  Levels walk(Index starts, bool ordered);

  [[nodiscard]] const Index* queue() const { return queue_.data(); }
  [[nodiscard]] const Index* level_begin() const { return level_begin_.data(); }

 private:
  /// @returns false where the shape does not fit what the stream may run on
  [[nodiscard]] bool launch(Index starts, bool ordered) const;

  GraphView graph_;
  int log2_lanes_;
  Index hub_;
  bool hubs_;
  WalkShape shape_;
  cudaStream_t stream_;
  cuda::ScratchArray<Index> queue_;
  cuda::ScratchArray<Index> level_begin_;
  cuda::ScratchArray<Index> owner_;
  cuda::ScratchArray<Index> block_total_;
  cuda::ScratchArray<Index> state_;
};

}  // namespace taskdag::kernels
