#include "kernels/ordering/colouring/smallest_last.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace taskdag::kernels {
namespace {

/// Vertices sorted by how many neighbours remain, so that one neighbour less is one swap.
class Buckets {
 public:
  explicit Buckets(const CsrPattern& graph)
      : degree_(static_cast<std::size_t>(graph.rows)), position_(degree_.size()), vertex_(degree_.size()) {
    for (Index v = 0; v < graph.rows; ++v) degree(v) = graph.row_offsets[v + 1] - graph.row_offsets[v];
    const Offset most = degree_.empty() ? 0 : *std::max_element(degree_.begin(), degree_.end());
    begin_.assign(static_cast<std::size_t>(most) + 2, 0);
    for (const Offset l : degree_) ++begin_.data()[l + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<Index> next(begin_);
    for (Index v = 0; v < graph.rows; ++v) put(v, next.data()[degree(v)]++);
  }

  [[nodiscard]] Index at(Index position) const { return vertex_.data()[position]; }
  /// `v` is taken away beside `u`. Vertices with no more left than `v` stay where they are: their turn comes as it is.
  void lose_neighbour(Index u, Index v) {
    if (degree(u) <= degree(v)) return;
    Index& first = begin_.data()[degree(u)];
    const Index other = at(first);
    const Index position = position_.data()[u];
    put(u, first);
    put(other, position);
    ++first;
    --degree(u);
  }
  std::vector<Index> take() { return std::move(vertex_); }

 private:
  Offset& degree(Index v) { return degree_.data()[v]; }
  void put(Index v, Index position) {
    position_.data()[v] = position;
    vertex_.data()[position] = v;
  }

  std::vector<Offset> degree_;   ///< neighbours
  std::vector<Index> begin_;     ///< of the vertices with so many left, not counting those that are gone
  std::vector<Index> position_;  ///< of a vertex
  std::vector<Index> vertex_;    ///< at a position
};

}  // namespace

std::vector<Index> smallest_last_order(const CsrPattern& graph) {
  Buckets buckets(graph);
  for (Index position = 0; position < graph.rows; ++position) {
    const Index v = buckets.at(position);
    for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
      buckets.lose_neighbour(graph.col_indices[e], v);
    }
  }
  std::vector<Index> order = buckets.take();
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace taskdag::kernels
