/// \file
/// Jacobi sweeps on host threads that keep their rows and wait for their neighbours.
#pragma once

#include <deque>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/host_row.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

class HostResident {
 public:
  HostResident(const CsrPattern& pattern, int threads);

  /// Sweeps from the iterate in `from`: sweep s writes iterate s + 1, those with an odd number to `to`, the others to
  /// `from`. Threads must be able to wait for each other: pool.concurrent(). @pre sweeps >= 1
  void run(const CsrView& a, const double* scale, const double* b, double* from, double* to, int sweeps,
           const RowCut& cut, host::ThreadPool& pool);

 private:
  struct Part {
    Index first;
    Index last;
    std::vector<int> neighbours;  ///< parts that read its rows, or whose rows it reads
  };
  std::vector<Part> part_;
  std::deque<host::ProgressCounter> done_;  ///< by part: sweeps
};

}  // namespace taskdag::kernels
