/// \file
/// Matrices of dense blocks for the backend tests: the pattern of a graph, values block after block.
#pragma once

#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

struct Graph {
  std::string name;
  CsrMatrix a;
};
std::vector<Graph> graphs();

/// The matrix whose block e is that of the graph's entry e: random numbers, diagonal blocks dominant, but with rows
/// that need an exchange; symmetric where asked for. Without a seed of its own, so each run has the same.
CsrMatrix with_blocks(const CsrMatrix& graph, Index n, bool symmetric);

/// The blocks that cover the entries of a matrix by rows, zeros where it has none; rows beyond the last whole block are
/// left out. Each row of blocks has its diagonal block.
CsrMatrix in_blocks(const CsrMatrix& rows, Index n);

/// The matrix by rows.
CsrMatrix by_rows(const CsrMatrix& blocks, Index n);

}  // namespace taskdag::test
