/// \file
/// The edges of the vertices that a worker has fetched as one list, dealt out to its lanes one by one: load-balancing
/// search inside a worker (Chen et al. 2022, section 6.2; Davidson et al. 2014). However unequal the vertices' degrees
/// are, no lane has more than an edge in four more than another.
#pragma once

#include "papers/chen/colouring/view.hpp"
#include "taskdag/engine/platform.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {

/// For up to Most vertices. Lives in memory that all lanes of the worker see.
template <int Most>
class FlatEdges {
 public:
  /// vertex(k): the k-th; k < size. Ends with sync(). @pre check_flat()
  template <class Group, class Vertex>
  TASKDAG_TASK void load(const Group& group, const GraphView& graph, int size, const Vertex& vertex) {
    for (int k = group.rank(); k < size; k += group.size()) {
      const Index v = vertex(k);
      first_[k] = graph.offsets[v];
      end_[0][k] = graph.degree(v);
    }
    group.sync();
    int from = 0;
    for (int step = 1; step < size; step *= 2) {
      for (int k = group.rank(); k < size; k += group.size()) {
        end_[1 - from][k] = end_[from][k] + (k >= step ? end_[from][k - step] : 0);
      }
      group.sync();
      from = 1 - from;
    }
    if (group.rank() == 0) ends_ = from;
    group.sync();
  }

  /// body(k, u) for each neighbour u of the k-th vertex. @returns edges of the calling lane. @pre load() with `size`
  template <class Group, class Body>
  TASKDAG_TASK Offset walk(const Group& group, const GraphView& graph, int size, const Body& body) const {
    const Offset* const end = end_[ends_];
    const Offset all = size == 0 ? 0 : end[size - 1];
    Offset walked = 0;
    int k = 0;
    // Neighbouring lanes have neighbouring edges; a lane's vertices ascend. Loads of several edges overlap.
    for (Offset e = group.rank(); e < all; e += kAtOnce * group.size()) {
      const Offset remaining = (all - e + group.size() - 1) / group.size();
      const int many = remaining < kAtOnce ? static_cast<int>(remaining) : kAtOnce;
      int vertex[kAtOnce]{};
      Index u[kAtOnce]{};
      for (int j = 0; j < kAtOnce; ++j) {
        if (j >= many) continue;
        const Offset edge = e + j * group.size();
        k = find(end, k, size, edge);
        vertex[j] = k;
        u[j] = graph.neighbours[first_[k] + edge - (k == 0 ? 0 : end[k - 1])];
      }
      for (int j = 0; j < kAtOnce; ++j) {
        if (j < many) body(vertex[j], u[j]);
      }
      walked += many;
    }
    return walked;
  }

 private:
  static constexpr int kAtOnce = 4;  ///< edges that a lane looks up side by side

  /// The vertex from `k` on that has edge `e` of the list.
  TASKDAG_TASK static int find(const Offset* end, int k, int size, Offset e) {
    int last = size - 1;
    while (k < last) {
      const int middle = (k + last) / 2;
      if (end[middle] > e) {
        last = middle;
      } else {
        k = middle + 1;
      }
    }
    return k;
  }

  Offset first_[std::size_t{Most}];
  Offset end_[2][std::size_t{Most}];  ///< where each vertex' edges end in the list; sums are made from one in the other
  int ends_;                          ///< which of them has the sums
};

/// @throws InvalidInput where so many vertices could have more edges than FlatEdges can number
inline void check_flat(const CsrPattern& graph, int fetch) {
  Offset most = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    const Offset degree = graph.row_offsets[v + 1] - graph.row_offsets[v];
    most = degree > most ? degree : most;
  }
  constexpr std::int64_t kMost = 0x7FFF0000;  // a step of 1024 lanes beyond it is still a number
  if (std::int64_t{most} * fetch > kMost) throw InvalidInput("vertices have too many edges to be fetched at once");
}

}  // namespace taskdag::graph
