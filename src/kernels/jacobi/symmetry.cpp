#include "kernels/jacobi/symmetry.hpp"

#include <atomic>

#include "kernels/jacobi/host_rows.hpp"

namespace taskdag::kernels {

bool host_symmetric(const CsrView& a, host::ThreadPool& pool) {
  // Relaxed: it says nothing of other memory, and the end of the run orders the last look.
  std::atomic<bool> symmetric{true};
  for_chunks_of_rows(a.pattern.rows, pool, [&](Index first, Index last) {
    for (Index i = first; i < last && symmetric.load(std::memory_order_relaxed); ++i) {
      if (!symmetric_share(a, i, 0, 1)) symmetric.store(false, std::memory_order_relaxed);
    }
  });
  return symmetric.load();
}

}  // namespace taskdag::kernels
