#include "kernels/ordering/rcm/host_walk.hpp"

#include <algorithm>
#include <new>

namespace taskdag::kernels {
namespace {

/// Threads stay together until a level has this many times fewer.
constexpr Index kStayTogether = 4;
/// So many nodes ahead their neighbours are fetched.
constexpr Index kAhead = 6;
/// Children that are sorted by insertion.
constexpr std::ptrdiff_t kFew = 32;
/// Instead of a count: the thread had no memory for what it found.
constexpr Index kNoMemory = -1;

}  // namespace

template <class Edge>
HostWalk<Edge>::HostWalk(const Lists<Edge>& lists, host::ThreadPool& pool, std::int64_t neighbours_together)
    : lists_(lists),
      pool_(pool),
      threads_(pool.concurrent() ? pool.processors() : 1),
      least_together_(0),
      mark_(at(lists.nodes)),
      queue_(at(lists.nodes)),
      own_(static_cast<std::size_t>(threads_)),
      barrier_(threads_) {
  const std::int64_t entries = lists.nodes == 0 ? 0 : lists.offsets[lists.nodes];
  const std::int64_t average = std::max<std::int64_t>(1, entries / std::max(lists.nodes, 1));
  least_together_ = static_cast<Index>(std::max<std::int64_t>(1, neighbours_together / average));
  for (std::atomic<Mark>& mark : mark_) mark.store(kNew, std::memory_order_relaxed);
}

template <class Edge>
void HostWalk<Edge>::begin(Index start, Mark mark) {
  mark_[at(start)].store(mark, std::memory_order_relaxed);
  queue_[0] = start;
  level_ = 0;
  tail_ = 1;
  depth_ = 0;
}

template <class Edge>
void HostWalk<Edge>::search(Index start) {
  free_from_ = kNew;
  base_ = kMet;
  begin(start, kMet);
  walk<false>();
}

template <class Edge>
void HostWalk<Edge>::order(Index start) {
  const auto numbers = static_cast<Mark>(tail_) + 1;
  if (limit_ <= numbers) {
    for (std::atomic<Mark>& mark : mark_) {
      if (mark.load(std::memory_order_relaxed) != kNew) mark.store(kMet, std::memory_order_relaxed);
    }
    limit_ = kMet;
  }
  free_from_ = limit_;
  base_ = limit_ - numbers;
  limit_ = base_;
  begin(start, base_);
  walk<true>();
}

template <class Edge>
Index HostWalk<Edge>::least_of_last_level() const {
  Index best = queue_[at(level_)];
  for (Index p = level_ + 1; p < tail_; ++p) {
    const Index node = queue_[at(p)];
    if (lists_.key(node) < lists_.key(best)) best = node;
  }
  return best;
}

template <class Edge>
template <bool kOrdered>
void HostWalk<Edge>::walk() {
  finished_ = false;
  while (!finished_) {
    if (threads_ > 1 && tail_ - level_ >= least_together_) {
      levels_together<kOrdered>();
    } else {
      level_alone<kOrdered>();
    }
  }
}

template <class Edge>
void HostWalk<Edge>::sort_children(Index* first, Index* last) const {
  if (last - first < 2) return;
  if (last - first > kFew) {
    std::sort(first, last, [this](Index a, Index b) { return lists_.key(a) < lists_.key(b); });
    return;
  }
  for (Index* next = first + 1; next != last; ++next) {
    const Index node = *next;
    const std::uint64_t key = lists_.key(node);
    Index* to = next;
    for (; to != first && lists_.key(to[-1]) > key; --to) *to = to[-1];
    *to = node;
  }
}

template <class Edge>
template <bool kOrdered>
void HostWalk<Edge>::level_alone() {
  Index* const queue = queue_.data();
  std::atomic<Mark>* const mark = mark_.data();
  const Mark free_from = free_from_;
  const Mark taken = base_;
  Index tail = tail_;
  for (Index p = level_; p < tail_; ++p) {
    const Index node = queue[p];
    const Index first = tail;
    // What comes soon is fetched now; the queue ends with nodes that are walked in the next level.
    __builtin_prefetch(lists_.offsets + queue[std::min(p + 2 * kAhead, tail - 1)]);
    __builtin_prefetch(lists_.neighbours + lists_.offsets[queue[std::min(p + kAhead, tail - 1)]]);
    for (Edge e = lists_.offsets[node]; e < lists_.offsets[node + 1]; ++e) {
      const Index next = lists_.neighbours[e];
      if (mark[next].load(std::memory_order_relaxed) < free_from) continue;
      mark[next].store(taken, std::memory_order_relaxed);
      queue[tail++] = next;
    }
    if constexpr (kOrdered) sort_children(queue + first, queue + tail);
  }
  finished_ = tail == tail_;
  if (finished_) return;
  level_ = tail_;
  tail_ = tail;
  ++depth_;
}

template <class Edge>
Index HostWalk<Edge>::boundary(Index begin, Index end, int thread) const {
  return begin + static_cast<Index>(std::int64_t{end - begin} * thread / threads_);
}

template <class Edge>
void HostWalk<Edge>::claim(Index first, Index last) {
  for (Index p = first; p < last; ++p) {
    const Index node = queue_[at(p)];
    const Mark mine = base_ + 1 + static_cast<Mark>(p);
    for (Edge e = lists_.offsets[node]; e < lists_.offsets[node + 1]; ++e) {
      std::atomic<Mark>& mark = mark_[at(lists_.neighbours[e])];
      Mark seen = mark.load(std::memory_order_relaxed);
      while (seen > mine && !mark.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
      }
    }
  }
}

template <class Edge>
template <bool kOrdered>
void HostWalk<Edge>::collect(Index first, Index last, std::vector<Index>& found) {
  found.clear();
  for (Index p = first; p < last; ++p) {
    const Index node = queue_[at(p)];
    const Mark mine = base_ + 1 + static_cast<Mark>(p);
    const std::size_t before = found.size();
    for (Edge e = lists_.offsets[node]; e < lists_.offsets[node + 1]; ++e) {
      const Index next = lists_.neighbours[e];
      std::atomic<Mark>& mark = mark_[at(next)];
      const Mark seen = mark.load(std::memory_order_relaxed);
      if constexpr (kOrdered) {
        if (seen == mine) found.push_back(next);
      } else {
        if (seen == kNew && mark.exchange(kMet, std::memory_order_relaxed) == kNew) found.push_back(next);
      }
    }
    if constexpr (kOrdered) sort_children(found.data() + before, found.data() + found.size());
  }
}

template <class Edge>
auto HostWalk<Edge>::found_by_all(int thread, std::size_t parity) const -> Found {
  Found found;
  for (int other = 0; other < threads_; ++other) {
    const Index count = own_[static_cast<std::size_t>(other)].count[parity];
    found.failed = found.failed || count == kNoMemory;
    if (other < thread) found.before += count;
    found.total += count;
    found.most = std::max(found.most, count);
  }
  return found;
}

/// Each thread goes on with the nodes that it has found, as long as that is fair.
template <class Edge>
template <bool kOrdered>
void HostWalk<Edge>::levels_of_thread(int thread) {
  Own& own = own_[static_cast<std::size_t>(thread)];
  own.barriers = 0;
  Index begin = level_;
  Index end = tail_;
  Index first = boundary(begin, end, thread);
  Index last = boundary(begin, end, thread + 1);
  for (Index levels = 0;; ++levels) {
    const std::size_t parity = at(levels % 2);
    if constexpr (kOrdered) {
      claim(first, last);
      barrier_.wait(thread, own.barriers);
    }
    try {
      collect<kOrdered>(first, last, own.found);
      own.count[parity] = static_cast<Index>(own.found.size());
    } catch (const std::bad_alloc&) {
      own.count[parity] = kNoMemory;
    }
    barrier_.wait(thread, own.barriers);
    const Found found = found_by_all(thread, parity);
    if (found.failed || found.total == 0) {
      if (thread == 0) {
        out_of_memory_ = found.failed;
        finished_ = true;
        level_ = begin;
        tail_ = end;
        depth_ += levels;
      }
      return;
    }
    std::copy(own.found.begin(), own.found.end(), queue_.begin() + end + found.before);
    begin = end;
    end += found.total;
    if (found.total < least_together_ / kStayTogether) {
      if (thread == 0) {
        level_ = begin;
        tail_ = end;
        depth_ += levels + 1;
      }
      return;
    }
    if (found.most > found.total / threads_ * 3 / 2) {
      barrier_.wait(thread, own.barriers);  // others read what this thread has found
      first = boundary(begin, end, thread);
      last = boundary(begin, end, thread + 1);
    } else {
      first = begin + found.before;
      last = first + own.count[parity];
    }
  }
}

template <class Edge>
template <bool kOrdered>
void HostWalk<Edge>::levels_together() {
  barrier_.reset();
  pool_.run(threads_, [this](int thread) { levels_of_thread<kOrdered>(thread); });
  if (out_of_memory_) throw std::bad_alloc();
}

template class HostWalk<Offset>;
template class HostWalk<std::int64_t>;

}  // namespace taskdag::kernels
