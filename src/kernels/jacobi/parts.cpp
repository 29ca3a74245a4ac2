#include "kernels/jacobi/parts.hpp"

#include "base/index.hpp"

namespace taskdag::kernels {

std::vector<JacobiPart> cut_into_parts(const Offset* offset, Index rows, Index part_entries, Index long_row) {
  std::vector<JacobiPart> part;
  Index first = 0;
  const auto close = [&](Index end) {
    if (end > first) part.push_back({first, end - first, offset[first], offset[end], 0, 0});
    first = end;
  };
  for (Index row = 0; row < rows; ++row) {
    const Offset entries = offset[row + 1] - offset[row];
    if (long_row > 0 && entries > long_row) {
      close(row);
      const auto first_piece = static_cast<Index>(part.size());
      const Index pieces = pieces_of(entries, part_entries);
      for (Offset begin = offset[row]; begin < offset[row + 1];) {
        const Offset end = end_of_piece(begin, part_entries, offset[row + 1]);
        part.push_back({row, 0, begin, end, first_piece, pieces});
        begin = end;
      }
      first = row + 1;
      // Empty rows cost something, too.
    } else if (offset[row + 1] - offset[first] > part_entries || row - first >= part_entries) {
      close(row);
    }
  }
  close(rows);
  return part;
}

}  // namespace taskdag::kernels
