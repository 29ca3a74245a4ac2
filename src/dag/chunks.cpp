#include "dag/chunks.hpp"

#include <algorithm>
#include <cstdint>

#include "dag/dependencies.hpp"

namespace taskdag {

Chunks make_chunks(const CsrPattern& pattern, Triangle triangle, Index most) {
  const bool lower = triangle == Triangle::lower;
  const Index n = pattern.rows;
  Chunks chunks;
  chunks.row_offsets.push_back(0);
  std::vector<Index> chunk_of(static_cast<std::size_t>(n));
  std::vector<Index> last_named;  // by chunk: the last chunk that was found to wait for it
  const auto close = [&] {
    const auto begin = chunks.col_indices.begin() + chunks.row_offsets.back();
    std::sort(begin, chunks.col_indices.end());
    chunks.row_offsets.push_back(checked_offset(static_cast<std::int64_t>(chunks.col_indices.size()), "a chunk graph"));
  };
  for (Index step = 0; step < n; ++step) {
    const Index row = lower ? step : n - 1 - step;
    const auto waits_for = dependencies(pattern, triangle, row);
    const bool first = chunks.first_step.empty();
    const Index size = first ? 0 : step - chunks.first_step.back();
    const bool chained = !waits_for.empty() && (lower ? waits_for.back() == row - 1 : waits_for.front() == row + 1);
    if (first || size == most || (!chained && 2 * std::int64_t{size} >= most)) {
      if (!first) close();
      chunks.first_step.push_back(step);
      last_named.push_back(-1);
    }
    const auto own = static_cast<Index>(chunks.first_step.size()) - 1;
    chunk_of[static_cast<std::size_t>(row)] = own;
    for (const Index column : waits_for) {
      const Index from = chunk_of[static_cast<std::size_t>(column)];
      if (from == own || last_named[static_cast<std::size_t>(from)] == own) continue;
      last_named[static_cast<std::size_t>(from)] = own;
      chunks.col_indices.push_back(from);
    }
  }
  if (n > 0) close();
  chunks.first_step.push_back(n);
  return chunks;
}

}  // namespace taskdag
