#include "ordering/nodes.hpp"

#include <algorithm>
#include <cstdint>

namespace taskdag::petsc {
namespace {

bool same_columns(const CsrPattern& a, Index row, Index other) {
  return std::equal(a.col_indices + a.row_offsets[row], a.col_indices + a.row_offsets[row + 1],
                    a.col_indices + a.row_offsets[other], a.col_indices + a.row_offsets[other + 1]);
}

constexpr double kMostNodes = 0.8;

/// Whether none of some hundred rows has the columns of the row before, which with nodes a fifth of them have: so most
/// matrices are not read. The rows are scattered, lest each be the first of its node.
bool surely_none(const CsrPattern& rows) {
  constexpr std::uint32_t kLooks = 512;
  if (rows.rows < 16 * static_cast<Index>(kLooks)) return false;
  for (std::uint32_t k = 0; k < kLooks; ++k) {
    const auto row = static_cast<Index>(1 + k * 2654435761U % static_cast<std::uint32_t>(rows.rows - 1));
    if (same_columns(rows, row, row - 1)) return false;
  }
  return true;
}

}  // namespace

NodeGraph find_node_graph(const CsrPattern& rows) {
  NodeGraph graph;
  if (surely_none(rows)) return graph;
  std::vector<Index> node_of(static_cast<std::size_t>(rows.rows));
  for (Index row = 0; row < rows.rows; ++row) {
    if (row == 0 || !same_columns(rows, row, row - 1)) graph.begins.push_back(row);
    node_of[static_cast<std::size_t>(row)] = static_cast<Index>(graph.begins.size()) - 1;
  }
  if (graph.begins.empty() || static_cast<double>(graph.begins.size()) > kMostNodes * rows.rows) return {};
  graph.offsets.push_back(0);
  for (const Index first : graph.begins) {
    // Columns ascend, so those of a node are side by side.
    Index previous = -1;
    for (Offset e = rows.row_offsets[first]; e < rows.row_offsets[first + 1]; ++e) {
      const Index node = node_of[static_cast<std::size_t>(rows.col_indices[e])];
      if (node != previous) graph.columns.push_back(node);
      previous = node;
    }
    graph.offsets.push_back(static_cast<Offset>(graph.columns.size()));
  }
  graph.begins.push_back(rows.rows);
  return graph;
}

}  // namespace taskdag::petsc
