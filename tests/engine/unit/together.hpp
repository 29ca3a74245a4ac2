/// \file
/// Threads that begin at the same moment.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace taskdag::test {

/// Calls body(0) … body(threads - 1) on as many threads, none before all are there; returns when all have returned.
template <class Body>
void together(int threads, const Body& body) {
  std::atomic<int> missing{threads};
  std::vector<std::jthread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&body, &missing, t] {
      missing.fetch_sub(1);
      while (missing.load() > 0) std::this_thread::yield();
      body(t);
    });
  }
}

}  // namespace taskdag::test
