/// \file
/// Independent pieces of work on all processors of the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace taskdag::benchmark {

/// Calls work(k) once for each k in [0, count), on as many threads as there are processors.
template <class Work>
void side_by_side(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t k = next++; k < count; k = next++) work(k);
  };
  std::vector<std::jthread> others;
  const std::size_t threads = std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(take);
  take();
}

}  // namespace taskdag::benchmark
