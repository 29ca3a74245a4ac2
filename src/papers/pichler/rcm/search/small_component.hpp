/// \file
/// A component of few nodes, ordered by one lane.
#pragma once

#include "papers/pichler/rcm/search/data.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Nodes of the component of one node, and room for ordering them. The same steps as the serial function's, on lists
/// that are short enough to be looked through.
class SmallComponent {
 public:
  static constexpr int kMost = 32;  ///< nodes: a bit for each of them in a word

  /// Finds the component of `node`. @returns false if it has more than kMost nodes
  TASKDAG_TASK bool find(const GraphView& graph, Index node) {
    size_ = 1;
    nodes_[0] = node;
    for (int i = 0; i < size_; ++i) {
      for (EdgeOffset e = graph.begin(nodes_[i]); e < graph.end(nodes_[i]); ++e) {
        const Index next = graph.neighbours[e];
        if (position_of(next) >= 0) continue;
        if (size_ == kMost) return false;
        nodes_[size_++] = next;
      }
    }
    return true;
  }

  /// Writes its Cuthill-McKee order to order[0], …. @pre find() has found it
  TASKDAG_TASK void place(const GraphView& graph, const Index* rank, Index* order) {
    search(graph, rank, 0, false);
    int deepest = search(graph, rank, least(rank, 0), false);
    int start = 0;
    while (true) {
      start = least(rank, last_level_);
      const int depth = search(graph, rank, start, false);
      if (depth <= deepest) break;
      deepest = depth;
    }
    search(graph, rank, start, true);
    for (int i = 0; i < size_; ++i) order[i] = nodes_[queue_[i]];
  }

  [[nodiscard]] TASKDAG_TASK int size() const { return size_; }
  [[nodiscard]] TASKDAG_TASK Index node(int i) const { return nodes_[i]; }
  [[nodiscard]] TASKDAG_TASK Index first_node() const {
    Index first = nodes_[0];
    for (int i = 1; i < size_; ++i) first = nodes_[i] < first ? nodes_[i] : first;
    return first;
  }

 private:
  [[nodiscard]] TASKDAG_TASK int position_of(Index node) const {
    for (int i = 0; i < size_; ++i) {
      if (nodes_[i] == node) return i;
    }
    return -1;
  }

  /// Breadth-first search; `sorted`: the children of each node by rank. @returns its depth
  TASKDAG_TASK int search(const GraphView& graph, const Index* rank, int start, bool sorted) {
    std::uint32_t seen = 1U << static_cast<unsigned>(start);
    int tail = 1;
    int depth = 0;
    queue_[0] = start;
    last_level_ = 0;
    int level_end = 1;
    for (int head = 0; head < tail; ++head) {
      if (head == level_end) {
        last_level_ = head;
        level_end = tail;
        ++depth;
      }
      const int first_child = tail;
      const Index node = nodes_[queue_[head]];
      for (EdgeOffset e = graph.begin(node); e < graph.end(node); ++e) {
        const int next = position_of(graph.neighbours[e]);
        if ((seen >> static_cast<unsigned>(next) & 1U) != 0) continue;
        seen |= 1U << static_cast<unsigned>(next);
        int at = tail++;
        for (; sorted && at > first_child && rank[nodes_[queue_[at - 1]]] > rank[nodes_[next]]; --at) {
          queue_[at] = queue_[at - 1];
        }
        queue_[at] = next;
      }
    }
    return depth;
  }

  /// Of the last search's nodes from position `first` on.
  [[nodiscard]] TASKDAG_TASK int least(const Index* rank, int first) const {
    int best = queue_[first];
    for (int i = first + 1; i < size_; ++i) {
      if (rank[nodes_[queue_[i]]] < rank[nodes_[best]]) best = queue_[i];
    }
    return best;
  }

  int size_;
  int last_level_;
  int queue_[kMost];  ///< positions in nodes_
  Index nodes_[kMost];
};

}  // namespace taskdag::kernels::rcm_tasks
