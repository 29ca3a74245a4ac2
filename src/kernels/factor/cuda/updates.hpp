/// \file
/// How many updates the rows of a pattern have. Compiled apart: where there are none, no other kernel of the lists is
/// loaded.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

struct Ilu0Pattern;
struct Ic0Pattern;

namespace elimination {

/// What is known of each row before the lists are made.
struct RowCounts {
  std::int64_t* updates;
  Index* changed;  // entries right of the diagonal that are updated
};

/// slots: per entry, −1 before, 0 where an entry right of the diagonal is changed. Asynchronous.
void count_updates(const Ilu0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream);
void count_updates(const Ic0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream);

/// Whether most rows that have updates are better off in registers (RowForm). Then all entries right of the diagonal
/// are marked as changed, in slots and counts. Synchronises `stream`.
bool mark_registers(const Ilu0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream);
bool mark_registers(const Ic0Pattern& view, Index* slots, const RowCounts& counts, cudaStream_t stream);

/// Whether any row has updates. Synchronises `stream`.
bool has_updates(Index rows, const std::int64_t* updates, cudaStream_t stream);

}  // namespace elimination
}  // namespace taskdag::kernels
