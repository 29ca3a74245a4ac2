#include "kernels/jacobi/blocks/host.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "backends/host/seam.hpp"

namespace taskdag::kernels {

namespace {

constexpr Index kChunk = 16;  // slices

/// body(place of the first row in all slices, its slice, size) for each block of the slices that a thread draws.
template <class Body>
void for_blocks(const BlockSlices& blocks, host::TicketCounter& tickets, const Body& body) {
  Index begin = 0;
  Index end = 0;
  while (tickets.take(blocks.slices, kChunk, begin, end)) {
    for (Index slice = begin; slice < end; ++slice) {
      const std::int64_t start = std::int64_t{slice} * kSliceRows;
      for (int first = 0; first < kSliceRows && blocks.span[start + first].size > 0;
           first += blocks.span[start + first].size) {
        body(start + first, slice, int{blocks.span[start + first].size});
      }
    }
  }
}

void note_zero(Index row, BlockFindings& found) {
  found.first_zero = std::min(found.first_zero, row);
  found.last_zero = std::max(found.last_zero, row);
}
void note_non_finite(Index row, BlockFindings& found) {
  found.first_non_finite = std::min(found.first_non_finite, row);
}

/// One block, rows[0 … size) of the matrix, the first one at `place`. @returns whether it has an inverse, at `inverse`
bool invert(const CsrView& a, const Index* place_of, Index place, const Index* rows, int size, double* inverse,
            BlockFindings& found) {
  std::array<double, std::size_t{kSliceRows} * kSliceRows> room;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const DenseBlock block{room.data(), size};
  bool good = true;
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) block.entry(r, c) = 0.0;
    bool finite = true;
    for (Offset e = a.pattern.row_offsets[rows[r]]; e < a.pattern.row_offsets[rows[r] + 1]; ++e) {
      const Index column = place_of[a.pattern.col_indices[e]] - place;
      if (column < 0 || column >= size) continue;
      block.entry(r, column) = a.values[e];
      finite = finite && is_number(a.values[e]);
    }
    if (!finite) note_non_finite(rows[r], found);
    good = good && finite;
  }
  if (!good) return false;

  unsigned used = 0;
  std::array<int, kSliceRows> pivot_row{};
  for (int step = 0; step < size; ++step) {
    const BlockPivot pivot = block.find_pivot(step, used);
    if (pivot.row < 0) {
      pivot.finite ? note_zero(rows[step], found) : note_non_finite(rows[step], found);
      return false;
    }
    block.scale(pivot.row, step);
    for (int r = 0; r < size; ++r) {
      if (r != pivot.row) block.eliminate(r, pivot.row, step);
    }
    used |= 1U << static_cast<unsigned>(pivot.row);
    pivot_row[static_cast<std::size_t>(step)] = pivot.row;
  }
  for (int k = 0; k < size; ++k) {
    bool numbers = true;
    for (int j = 0; j < size; ++j) {
      const double value = block.entry(pivot_row[static_cast<std::size_t>(k)], j);
      inverse[pivot_row[static_cast<std::size_t>(j)] * kSliceRows + k] = value;
      numbers = numbers && is_number(value);
    }
    if (!numbers) note_non_finite(rows[k], found);
    good = good && numbers;
  }
  return good;
}

}  // namespace

BlockFindings host_invert_blocks(const CsrView& a, const BlockSlices& blocks, host::ThreadPool& pool, double* inverse) {
  BlockFindings found;
  std::mutex guards_found;
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    BlockFindings mine;
    for_blocks(blocks, tickets, [&](std::int64_t place, Index slice, int size) {
      double* const own = inverse + blocks.offset[slice] + place % kSliceRows;
      if (invert(a, blocks.place, static_cast<Index>(place), blocks.row + place, size, own, mine)) return;
      for (int c = 0; c < size; ++c) {
        for (int r = 0; r < size; ++r) own[c * kSliceRows + r] = std::numeric_limits<double>::quiet_NaN();
      }
    });
    const std::scoped_lock lock(guards_found);
    found.first_zero = std::min(found.first_zero, mine.first_zero);
    found.last_zero = std::max(found.last_zero, mine.last_zero);
    found.first_non_finite = std::min(found.first_non_finite, mine.first_non_finite);
  });
  return found;
}

void host_apply_blocks(const BlockSlices& blocks, const double* inverse, bool transposed, bool adds, double factor,
                       const double* b, double* x, host::ThreadPool& pool) {
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    for_blocks(blocks, tickets, [&](std::int64_t place, Index slice, int size) {
      const double* const own = inverse + blocks.offset[slice] + place % kSliceRows;
      const Index* const rows = blocks.row + place;
      std::array<double, kSliceRows> operand;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      for (int r = 0; r < size; ++r) operand[static_cast<std::size_t>(r)] = b[rows[r]];
      for (int r = 0; r < size; ++r) {
        const double sum =
            block_row(transposed ? own + std::ptrdiff_t{r} * kSliceRows : own + r, transposed ? 1 : kSliceRows, size,
                      size, [&](int c) { return operand[static_cast<std::size_t>(c)]; });
        x[rows[r]] = adds ? x[rows[r]] + factor * sum : factor * sum;
      }
    });
  });
}

}  // namespace taskdag::kernels
