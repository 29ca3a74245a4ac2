/// \file
/// Walks over the levels of a graph on host threads: breadth-first searches and Cuthill–McKee orderings.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "backends/host/barrier.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Lists of neighbours in which a node may be its own: a walk never takes a node that it has, so that a matrix with a
/// symmetric pattern is walked as it is. `degree` does not count such loops.
template <class Edge>
struct Lists {
  Index nodes = 0;
  const Edge* offsets = nullptr;
  const Index* neighbours = nullptr;
  const Index* degree = nullptr;

  /// Less: least degree, then index.
  [[nodiscard]] std::uint64_t key(Index node) const {
    return (static_cast<std::uint64_t>(degree[node]) << 32U) | static_cast<std::uint32_t>(node);
  }
};

/// Walks that share their memory.
///
/// Encoding: mark_[v] is kNew before the first search has met v, kMet afterwards. An ordering of a component of m nodes
/// takes the m + 1 numbers below all that are in use, from base_ on, so that nothing needs to be cleared: v is free
/// while its mark is greater than those. One thread alone marks v with base_. Threads together mark it with base_ + 1 +
/// p for the least position p among v's neighbours (a minimum by compare-and-swap): after the barrier this names v's
/// parent. Marks are read and written relaxed, the barriers order the levels.
template <class Edge>
class HostWalk {
 public:
  /// `neighbours_together`: levels of fewer neighbours are walked by the calling thread alone.
  HostWalk(const Lists<Edge>& lists, host::ThreadPool& pool, std::int64_t neighbours_together);

  /// Whether no search has met the node yet.
  [[nodiscard]] bool is_new(Index node) const { return mark_[at(node)].load(std::memory_order_relaxed) == kNew; }

  /// A breadth-first search from a node that is new. Its nodes are queue()[0 … nodes()).
  void search(Index start);

  /// Visits the component of the last search in Cuthill–McKee's order.
  void order(Index start);

  [[nodiscard]] const Index* queue() const { return queue_.data(); }
  [[nodiscard]] Index nodes() const { return tail_; }
  /// Number of the last level.
  [[nodiscard]] Index depth() const { return depth_; }
  /// Of the last level: least degree, then index.
  [[nodiscard]] Index least_of_last_level() const;

 private:
  using Mark = std::uint32_t;
  static constexpr Mark kNew = ~Mark{0};
  static constexpr Mark kMet = kNew - 1;

  /// What one thread has to itself while threads walk together; the lines of two threads are apart.
  struct alignas(128) Own {
    std::vector<Index> found;
    Index count[2] = {0, 0};  ///< of found, by the parity of the level; read by the others after a barrier
    Index barriers = 0;
  };

  /// What all threads have found in a level.
  struct Found {
    Index before = 0;  ///< by threads of smaller numbers
    Index total = 0;
    Index most = 0;       ///< by one thread
    bool failed = false;  ///< a thread had no memory
  };

  void begin(Index start, Mark mark);
  template <bool kOrdered>
  void walk();
  template <bool kOrdered>
  void level_alone();
  template <bool kOrdered>
  void levels_together();
  template <bool kOrdered>
  void levels_of_thread(int thread);
  /// As `thread` sees it, behind the barrier that ends a level's search.
  [[nodiscard]] Found found_by_all(int thread, std::size_t parity) const;
  template <bool kOrdered>
  void collect(Index first, Index last, std::vector<Index>& found);
  void claim(Index first, Index last);
  [[nodiscard]] Index boundary(Index begin, Index end, int thread) const;
  void sort_children(Index* first, Index* last) const;

  Lists<Edge> lists_;
  host::ThreadPool& pool_;
  int threads_;
  Index least_together_;  ///< narrower levels are walked by one thread
  std::vector<std::atomic<Mark>> mark_;
  std::vector<Index> queue_;
  Mark free_from_ = kNew;  ///< marks from here on are of free nodes
  Mark base_ = 0;
  Index level_ = 0;  ///< where the current level begins
  Index tail_ = 0;
  Index depth_ = 0;
  bool finished_ = false;  ///< no level remains
  bool out_of_memory_ = false;
  Mark limit_ = kMet;  ///< least mark in use
  std::vector<Own> own_;
  host::Barrier barrier_;
};

extern template class HostWalk<Offset>;
extern template class HostWalk<std::int64_t>;

}  // namespace taskdag::kernels
