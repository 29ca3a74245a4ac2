/// \file
/// Coarser tasks: runs of consecutive rows.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

/// The rows of a triangular system cut into runs of consecutive ones. "Step" is the number of a row in the natural
/// order of the sweep: forward for a lower triangle, backward for an upper one. Chunk c holds the steps
/// [first_step[c], first_step[c + 1]), which run one after the other, and waits for the chunks dependencies.view()
/// names in row c, all of them smaller than c.
struct Chunks {
  std::vector<Index> first_step;
  std::vector<Offset> row_offsets;
  std::vector<Index> col_indices;

  [[nodiscard]] Index count() const { return static_cast<Index>(first_step.size()) - 1; }
  [[nodiscard]] CsrPattern dependencies() const { return {count(), count(), row_offsets.data(), col_indices.data()}; }
};

/// Cuts chunks of at most `most` rows: after `most`, or from half of that on where the next row does not wait for the
/// one before it, so that chunks end where a grid line ends. @pre the pattern is square and valid, most >= 1
Chunks make_chunks(const CsrPattern& pattern, Triangle triangle, Index most);

}  // namespace taskdag
