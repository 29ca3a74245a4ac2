// Nodes found from equal rows.
#include "ordering/nodes.hpp"

#include <gtest/gtest.h>

namespace taskdag::petsc {
namespace {

/// Rows of columns.
struct Rows {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;

  explicit Rows(const std::vector<std::vector<Index>>& rows) {
    for (const std::vector<Index>& row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }
  [[nodiscard]] CsrPattern pattern() const {
    const auto rows = static_cast<Index>(offsets.size()) - 1;
    return {rows, rows, offsets.data(), columns.data()};
  }
};

NodeGraph graph_of(const std::vector<std::vector<Index>>& rows) { return find_node_graph(Rows(rows).pattern()); }

TEST(Nodes, AreRunsOfEqualRows) {
  const NodeGraph graph = graph_of({{0, 1, 2}, {0, 1, 2}, {0, 1, 2, 3, 4}, {2, 3, 4}, {2, 3, 4}});
  EXPECT_EQ(graph.begins, (std::vector<Index>{0, 2, 3, 5}));
  EXPECT_EQ(graph.offsets, (std::vector<Offset>{0, 2, 5, 7}));
  EXPECT_EQ(graph.columns, (std::vector<Index>{0, 1, 0, 1, 2, 1, 2}));
  EXPECT_EQ(graph.pattern().rows, 3);
}

TEST(Nodes, AreCoupledByAnyOfTheirColumns) {
  const NodeGraph graph = graph_of({{0, 1, 3}, {0, 1, 3}, {2, 3}, {2, 3}});
  EXPECT_EQ(graph.columns, (std::vector<Index>{0, 1, 1}));
}

TEST(Nodes, OfEqualLengthButOtherColumnsAreTwo) {
  const NodeGraph graph = graph_of({{0, 1}, {0, 1}, {0, 2}, {1, 3}});
  EXPECT_EQ(graph.begins, (std::vector<Index>{0, 2, 3, 4}));
}

TEST(Nodes, MayBeLong) {
  const NodeGraph graph = graph_of(std::vector<std::vector<Index>>(20, {0, 1, 2, 19}));
  EXPECT_EQ(graph.begins, (std::vector<Index>{0, 20}));
  EXPECT_EQ(graph.columns, (std::vector<Index>{0}));
}

TEST(Nodes, AreNotThereWhereTheySpareLessThanAFifth) {
  std::vector<std::vector<Index>> rows = {{0, 1}, {0, 1}, {2}, {3}, {4}};
  EXPECT_FALSE(graph_of(rows).begins.empty());  // 4 of 5
  rows.push_back({5});
  EXPECT_TRUE(graph_of(rows).begins.empty());  // 5 of 6
  EXPECT_TRUE(graph_of({}).begins.empty());
}

}  // namespace
}  // namespace taskdag::petsc
