/// \file
/// A loop over all rows on host threads.
#pragma once

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"

namespace taskdag::kernels {

/// Calls body(row) once for each row, on all threads of `pool` that can run at the same time.
template <class Body>
void for_each_row(host::ThreadPool& pool, Index rows, const Body& body) {
  constexpr Index kChunk = 4096;
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(rows, kChunk, first, last)) {
      for (Index row = first; row < last; ++row) body(row);
    }
  });
}

}  // namespace taskdag::kernels
