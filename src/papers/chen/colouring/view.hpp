/// \file
/// A graph as tasks and kernels see it, and its arrays in memory of a backend.
#pragma once

#include <span>

#include "taskdag/csr.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::graph {

/// Edges of vertex v: neighbours[offsets[v]] … neighbours[offsets[v + 1] - 1].
struct GraphView {
  Index vertices = 0;
  const Offset* offsets = nullptr;
  const Index* neighbours = nullptr;

  [[nodiscard]] TASKDAG_TASK Offset degree(Index v) const { return offsets[v + 1] - offsets[v]; }
};

class GraphArrays {
 public:
  GraphArrays(const Context& context, const CsrPattern& pattern)
      : vertices_(pattern.rows),
        edges_(pattern.entries()),
        offsets_(context, std::span<const Offset>(pattern.row_offsets, static_cast<std::size_t>(pattern.rows) + 1)),
        neighbours_(context, std::span<const Index>(pattern.col_indices, static_cast<std::size_t>(edges_))) {}
  [[nodiscard]] GraphView view() const { return {vertices_, offsets_.data(), neighbours_.data()}; }
  [[nodiscard]] Offset edges() const { return edges_; }

 private:
  Index vertices_;
  Offset edges_;
  engine::Array<Offset> offsets_;
  engine::Array<Index> neighbours_;
};

}  // namespace taskdag::graph
