/// \file
/// Rows shared out to host threads in chunks.
#pragma once

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Calls body(first, last) for chunks of consecutive rows, on the pool's threads.
template <class Body>
void for_chunks_of_rows(Index rows, host::ThreadPool& pool, const Body& body) {
  constexpr Index kChunk = 1024;
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(rows, kChunk, first, last)) body(first, last);
  });
}

}  // namespace taskdag::kernels
