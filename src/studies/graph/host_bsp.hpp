/// \file
/// Bulk synchronous iterations on host threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/threads.hpp"

namespace taskdag::graph {

/// Calls body(k, thread) for each k in [0, size), in chunks, on the context's threads, and returns when all have.
template <class Body>
void for_each_on_threads(const Context& context, std::int64_t size, Body&& body) {
  constexpr std::int64_t kChunk = 256;
  if (size <= kChunk) {  // not worth waking anybody
    for (std::int64_t k = 0; k < size; ++k) body(k, 0);
    return;
  }
  struct Call {
    std::int64_t size;
    std::remove_reference_t<Body>* body;
    std::atomic<std::int64_t> next{0};
  };
  Call call{size, &body};
  engine::run_on_threads(
      context,
      [](void* target, int thread) {
        Call& c = *static_cast<Call*>(target);
        // relaxed: the numbers order nothing; the end of all threads does.
        for (std::int64_t first = c.next.fetch_add(kChunk, std::memory_order_relaxed); first < c.size;
             first = c.next.fetch_add(kChunk, std::memory_order_relaxed)) {
          const std::int64_t last = std::min(first + kChunk, c.size);
          for (std::int64_t k = first; k < last; ++k) (*c.body)(k, thread);
        }
      },
      &call);
}

/// What each thread adds by itself, put together afterwards.
template <class Item>
class PerThread {
 public:
  explicit PerThread(const Context& context) : own_(static_cast<std::size_t>(context.threads())) {}
  std::vector<Item>& of(int thread) { return own_[static_cast<std::size_t>(thread)].items; }
  std::uint64_t& work(int thread) { return own_[static_cast<std::size_t>(thread)].work; }
  /// All items, thread by thread; the lists are empty afterwards.
  std::vector<Item> take() {
    std::vector<Item> all;
    for (Own& own : own_) {
      all.insert(all.end(), own.items.begin(), own.items.end());
      own.items.clear();
    }
    return all;
  }
  [[nodiscard]] std::uint64_t all_work() const {
    std::uint64_t sum = 0;
    for (const Own& own : own_) sum += own.work;
    return sum;
  }

 private:
  struct alignas(128) Own {
    std::vector<Item> items;
    std::uint64_t work = 0;
  };
  std::vector<Own> own_;
};

}  // namespace taskdag::graph
