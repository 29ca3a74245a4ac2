#include "kernels/jacobi/dominance.hpp"

#include <atomic>

#include "kernels/jacobi/host_rows.hpp"

namespace taskdag::kernels {

DiagonalDominance host_dominance(const CsrView& a, const DominanceLimits& limits, host::ThreadPool& pool) {
  std::atomic<Index> absent{0};
  std::atomic<Index> zero{0};
  std::atomic<Index> negative{0};
  std::atomic<Index> strict{0};
  std::atomic<Index> poor{0};
  for_chunks_of_rows(a.pattern.rows, pool, [&](Index first, Index last) {
    DiagonalDominance chunk;
    for (Index i = first; i < last; ++i) {
      const RowDominance row = dominance_of(dominance_share(a, i, 0, 1), limits);
      chunk.absent += row.absent ? 1 : 0;
      chunk.zero += row.zero ? 1 : 0;
      chunk.negative += row.negative ? 1 : 0;
      chunk.strict += row.strict ? 1 : 0;
      chunk.poor += row.poor ? 1 : 0;
    }
    absent.fetch_add(chunk.absent, std::memory_order_relaxed);
    zero.fetch_add(chunk.zero, std::memory_order_relaxed);
    negative.fetch_add(chunk.negative, std::memory_order_relaxed);
    strict.fetch_add(chunk.strict, std::memory_order_relaxed);
    poor.fetch_add(chunk.poor, std::memory_order_relaxed);
  });
  Index first = -1;
  if (absent.load() > 0) {
    do {
      ++first;
    } while (dominance_share(a, first, 0, 1).diagonals > 0);
  }
  return {a.pattern.rows, absent.load(), zero.load(), negative.load(), strict.load(), poor.load(), first};
}

}  // namespace taskdag::kernels
