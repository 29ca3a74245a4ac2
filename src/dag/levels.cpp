#include "dag/levels.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "backends/host/seam.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

constexpr Index kChunk = 256;
constexpr Index kUnknown = -1;  // in a level slot: nobody has published the level yet

/// The columns of `row` in the strict triangle. Columns ascend, so they are one end of the row.
std::span<const Index> dependencies(const CsrPattern& pattern, Triangle triangle, Index row) {
  const std::span<const Index> all(pattern.col_indices + pattern.row_offsets[row],
                                   pattern.col_indices + pattern.row_offsets[row + 1]);
  if (triangle == Triangle::lower) return {all.begin(), std::lower_bound(all.begin(), all.end(), row)};
  return {std::upper_bound(all.begin(), all.end(), row), all.end()};
}

std::vector<Index> serial_levels(const CsrPattern& pattern, Triangle triangle) {
  std::vector<Index> level(static_cast<std::size_t>(pattern.rows));
  for (Index step = 0; step < pattern.rows; ++step) {
    const Index row = triangle == Triangle::lower ? step : pattern.rows - 1 - step;
    Index deepest = -1;
    for (const Index column : dependencies(pattern, triangle, row)) {
      deepest = std::max(deepest, level[static_cast<std::size_t>(column)]);
    }
    level[static_cast<std::size_t>(row)] = deepest + 1;
  }
  return level;
}

/// Value-encoded hand-over, as for doubles: the level is all that a consumer reads, so relaxed order is enough.
Index wait_level(Index& slot) {
  const std::atomic_ref<Index> shared(slot);
  host::Backoff backoff;
  Index level = shared.load(std::memory_order_relaxed);
  while (level == kUnknown) {
    backoff.turn();
    level = shared.load(std::memory_order_relaxed);
  }
  return level;
}

std::vector<Index> parallel_levels(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool) {
  std::vector<Index> level(static_cast<std::size_t>(pattern.rows), kUnknown);
  host::TicketCounter tickets;
  pool.run([&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(pattern.rows, kChunk, first, last)) {
      for (Index step = first; step < last; ++step) {
        const Index row = triangle == Triangle::lower ? step : pattern.rows - 1 - step;
        Index deepest = -1;
        for (const Index column : dependencies(pattern, triangle, row)) {
          deepest = std::max(deepest, wait_level(level[static_cast<std::size_t>(column)]));
        }
        std::atomic_ref<Index>(level[static_cast<std::size_t>(row)]).store(deepest + 1, std::memory_order_relaxed);
      }
    }
  });
  return level;
}

}  // namespace

std::vector<Index> compute_levels(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool) {
  return pool.threads() == 1 ? serial_levels(pattern, triangle) : parallel_levels(pattern, triangle, pool);
}

Schedule make_level_schedule(const CsrPattern& pattern, Triangle triangle, int threads) {
  if (threads < 0) throw InvalidInput("the number of threads is negative");
  validate(pattern, {.square = true});
  host::ThreadPool pool(threads == 0 ? host::available_threads() : threads);
  return {triangle, compute_levels(pattern, triangle, pool)};
}

}  // namespace taskdag
