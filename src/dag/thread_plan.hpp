/// \file
/// Which host thread runs which rows, and what it waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dag/chunks.hpp"
#include "dag/row_order.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

/// What the plan believes about the cost of a task. Unit: the time of one entry of a triangular sweep, about a
/// nanosecond; measured with tests/benchmark/host_bench.cpp.
struct PlanCosts {
  std::int64_t entry = 1;
  std::int64_t row = 4;            ///< of a row besides its entries
  std::int64_t chunk = 15;         ///< of a jump to rows that do not follow the ones before
  std::int64_t hop = 250;          ///< until another thread sees that a share is finished
  std::int64_t least_share = 500;  ///< a level is split in shares of this cost at least
};

/// A static assignment of the rows of a triangular system to threads.
///
/// The tasks are chunks of consecutive rows, of the size for which the expected time is least, but for 5 %: long chunks
/// keep the natural order's memory access, short ones make more parallelism. Every level of the chunks' graph is cut
/// into shares of balanced cost, at most one per thread; a level too narrow for that has fewer shares. A thread runs
/// its shares level by level; before a share it waits for those shares of other threads that hold a row which the share
/// needs. Positions number the rows thread by thread in the order in which they run, so what a thread streams through
/// is contiguous.
///
/// threads() is 1, whatever was asked for, where the expected time with more threads exceeds 3/4 of the time with one
/// (narrow levels): then there are no shares, and the rows run in their natural order.
class ThreadPlan {
 public:
  struct Wait {
    int thread;      ///< whose
    Index finished;  ///< number of finished shares to wait for
  };
  struct Share {
    Index first;  ///< positions [first, last)
    Index last;
    std::uint32_t first_wait;  ///< waits()[first_wait, last_wait)
    std::uint32_t last_wait;
  };

  /// @pre the pattern is square and valid, threads >= 1
  ThreadPlan(const CsrPattern& pattern, Triangle triangle, int threads, const PlanCosts& costs = {});

  [[nodiscard]] int threads() const { return static_cast<int>(first_share_.size()) - 1; }
  /// Of a solve, in units of PlanCosts. @pre threads() > 1
  [[nodiscard]] std::int64_t expected_time() const { return expected_time_; }
  [[nodiscard]] Index rows() const { return rows_; }
  /// The row at each position.
  [[nodiscard]] RowOrder order() const { return threads() > 1 ? RowOrder(order_) : RowOrder(rows_, triangle_); }
  /// The shares of one thread, in the order in which they run.
  [[nodiscard]] std::span<const Share> shares(int thread) const;
  [[nodiscard]] std::span<const Wait> waits(const Share& share) const;
  /// The positions [first_position(t), first_position(t + 1)) are thread t's.
  [[nodiscard]] Index first_position(int thread) const { return first_position_[static_cast<std::size_t>(thread)]; }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void split(const Chunks& chunks, const Schedule& schedule, std::span<const Index> cuts, int threads);
  void find_waits(const Chunks& chunks, std::span<const Index> chunk_order, int threads);

  std::int64_t expected_time_ = 0;
  Index rows_;
  Triangle triangle_;
  std::vector<Index> order_;              // of several threads
  std::vector<std::size_t> first_share_;  // by thread, and the end
  std::vector<Index> first_position_;     // by thread, and the end
  std::vector<Share> shares_;             // thread by thread
  std::vector<Wait> waits_;
};

}  // namespace taskdag
