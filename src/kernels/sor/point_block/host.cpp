#include "kernels/sor/point_block/host.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "backends/host/seam.hpp"
#include "base/index.hpp"

namespace taskdag::kernels::point_block {

namespace {

constexpr Index kChunk = 64;  // rows of blocks

/// The Group of one thread.
struct Alone {
  static void sync() {}
  template <class Body>
  static void each(int count, const Body& body) {
    for (int k = 0; k < count; ++k) body(k);
  }
  template <class Body, class Size>
  static void each_element(Size size, const Body& body) {
    for (int r = 0; r < size.rows(); ++r) {
      for (int c = 0; c < size.rows(); ++c) body(r, c);
    }
  }
};

/// body(i) for the rows of blocks that a thread draws.
template <class Body>
void for_drawn(Index rows, host::TicketCounter& tickets, const Body& body) {
  Index begin = 0;
  Index end = 0;
  while (tickets.take(rows, kChunk, begin, end)) {
    for (Index i = begin; i < end; ++i) body(i);
  }
}

template <class Size>
void note(Size size, Index i, const Inversion& found, const double* inverse, BlockFindings& findings) {
  const Index first = i * size.rows();
  if (found.first_zero >= 0) {
    findings.first_zero = std::min(findings.first_zero, first + found.first_zero);
    findings.last_zero = std::max(findings.last_zero, first + found.last_zero);
    return;
  }
  const bool finite = found.finite && std::all_of(inverse, inverse + elements_of(size, 1), is_finite);
  if (!finite) findings.first_non_finite = std::min(findings.first_non_finite, first);
}

}  // namespace

HostScaledPattern host_scaled_pattern(const ScaledRows& a) {
  HostScaledPattern pattern;
  pattern.row_offsets.resize(at(a.rows) * at(a.block_size) + 1);
  pattern.col_indices.resize(at(a.entries(a.rows == 0 ? 0 : a.offsets[a.rows])));
  with_block_size(a.block_size, [&](auto size) {
    for (Index i = 0; i < a.rows; ++i) {
      write_pattern(size, Alone(), a, i, pattern.row_offsets.data(), pattern.col_indices.data());
    }
  });
  return pattern;
}

BlockFindings host_scale_rows(const ScaledRows& a, const double* blocks, double omega, double shift,
                              host::ThreadPool& pool, double* inverses, double* values) {
  BlockFindings findings;
  std::mutex guards_findings;
  host::TicketCounter tickets;
  with_block_size(a.block_size, [&](auto size) {
    pool.run(pool.processors(), [&](int) {
      BlockFindings mine;
      std::array<int, kLargestBlock> pivot_rows{};
      for_drawn(a.rows, tickets, [&](Index i) {
        double* const inverse = inverses + elements_of(size, i);
        const Inversion found =
            scale_block_row(size, Alone(), a, blocks, i, omega, shift, inverse, pivot_rows.data(), values);
        note(size, i, found, inverse, mine);
      });
      const std::scoped_lock lock(guards_findings);
      findings.first_zero = std::min(findings.first_zero, mine.first_zero);
      findings.last_zero = std::max(findings.last_zero, mine.last_zero);
      findings.first_non_finite = std::min(findings.first_non_finite, mine.first_non_finite);
    });
  });
  return findings;
}

void host_multiply_inverses(Index rows, int block_size, const double* inverses, const double* b, double* x,
                            host::ThreadPool& pool) {
  host::TicketCounter tickets;
  with_block_size(block_size, [&](auto size) {
    pool.run(pool.processors(), [&](int) {
      for_drawn(rows, tickets, [&](Index i) {
        double* const own = x + static_cast<std::int64_t>(i) * size.rows();
        for (int r = 0; r < size.rows(); ++r) own[r] = inverse_times(size, inverses, i, r, b);
      });
    });
  });
}

}  // namespace taskdag::kernels::point_block
