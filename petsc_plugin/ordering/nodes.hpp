/// \file
/// Nodes: rows side by side with the same columns, such as the unknowns of a point of a mesh.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// The graph of the nodes of a host matrix.
struct NodeGraph {
  /// Where each node begins, then the number of rows; empty where rows stand for themselves.
  std::vector<Index> begins;
  std::vector<Offset> offsets;
  std::vector<Index> columns;

  [[nodiscard]] CsrPattern pattern() const {
    const auto nodes = static_cast<Index>(begins.size()) - 1;
    return {nodes, nodes, offsets.data(), columns.data()};
  }
};

/// Runs of equal rows are nodes, however long: cut, they would be chains of nodes. None where they would spare less
/// than a fifth of the rows, as PETSc has it. PETSc cuts its runs after some rows, so its nodes are inside of these.
NodeGraph find_node_graph(const CsrPattern& rows);

}  // namespace taskdag::petsc
