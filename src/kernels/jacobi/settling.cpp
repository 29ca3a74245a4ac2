#include "kernels/jacobi/settling.hpp"

#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "kernels/jacobi/host_rows.hpp"

namespace taskdag::kernels {

double host_settling(const CsrView& a, host::ThreadPool& pool) {
  std::vector<double> now(at(a.pattern.rows));
  std::vector<double> next(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = scattered(static_cast<Index>(i));
  std::atomic<double> change{0.0};
  for (int sweep = 1; sweep <= kSettlingSweeps; ++sweep) {
    for_chunks_of_rows(a.pattern.rows, pool, [&](Index first, Index last) {
      double sum = 0.0;
      for (Index i = first; i < last; ++i) {
        next[at(i)] = settling_share(a, i, now.data(), 0, 1).result();
        sum += std::abs(next[at(i)] - now[at(i)]);
      }
      if (sweep == kSettlingSweeps) change.fetch_add(sum, std::memory_order_relaxed);
    });
    std::swap(now, next);
  }
  return change.load();
}

}  // namespace taskdag::kernels
