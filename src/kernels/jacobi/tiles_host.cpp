#include "kernels/jacobi/tiles_host.hpp"

#include <algorithm>
#include <utility>

#include "backends/host/seam.hpp"
#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// Of the 1 to 2 MB that a core's second cache has.
constexpr TileRoom kRoom{std::size_t{512} << 10U, true, 0xFFFF};

}  // namespace

TileRoom host_room_of_tile() { return kRoom; }

Index host_rows_of_tile(Index rows, Offset entries) {
  return static_cast<Index>(kRoom.bytes / bytes_of_tile(kRoom, at(entries / std::max(rows, 1)) + 1, 1, 1) / 2);
}

void HostTiles::load(const double* values) {
  for (std::size_t e = 0; e < values_.size(); ++e) values_[e] = values[tiles_.source[e]];
}

void HostTiles::run(const double* scale, const double* b, double* x, double* work, int sweeps, host::ThreadPool& pool) {
  const int passes = pieces_of(sweeps - 1, tiles_.depth);
  const double* from = nullptr;
  int remaining = sweeps - 1;
  for (int k = 0; k < passes; ++k) {
    double* const to = (passes - k) % 2 == 1 ? x : work;  // x is the last one written
    const int sweeps_of_pass = std::min(remaining, tiles_.depth);
    pass(scale, b, from, to, sweeps_of_pass, pool);
    from = to;
    remaining -= sweeps_of_pass;
  }
}

void HostTiles::pass(const double* scale, const double* b, const double* from, double* to, int sweeps,
                     host::ThreadPool& pool) {
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    std::vector<double> iterate[2];
    Index first = 0;
    Index last = 0;
    while (tickets.take(static_cast<Index>(tiles_.tile.size()), 1, first, last)) {
      const JacobiTile& tile = tiles_.tile[at(first)];
      const std::uint32_t* const row = tiles_.row.data() + tile.row_begin;
      const std::uint16_t* const offset = tiles_.offset.data() + tile.offset_begin;
      const std::uint16_t* const operand = tiles_.operand.data() + tile.entry_begin;
      const double* const value = values_.data() + tile.entry_begin;
      const Index rows = tile.level_end[sweeps];
      for (std::vector<double>& values : iterate) values.resize(std::max(values.size(), at(rows)));
      for (Index r = 0; r < rows; ++r) {
        const std::uint32_t i = row[r] & ~JacobiTiles::kGiven;
        iterate[0][at(r)] = from != nullptr ? from[i] : scale[i] * b[i];
      }
      for (int sweep = 1; sweep <= sweeps; ++sweep) {
        const double* const x = iterate[(sweep - 1) & 1].data();
        double* const y = iterate[sweep & 1].data();
        for (Index r = 0; r < tile.level_end[sweeps - sweep]; ++r) {
          const std::uint32_t i = row[r] & ~JacobiTiles::kGiven;
          double sum = 0.0;
          for (std::uint16_t e = offset[r]; e < offset[r + 1]; ++e) sum += value[e] * x[operand[e]];
          y[r] = x[r] + scale[i] * (b[i] - sum);
          if (sweep == sweeps) to[i] = y[r];
        }
      }
    }
  });
}

std::int64_t HostTiles::bytes() const {
  return static_cast<std::int64_t>(tiles_.row.size() * 4 + tiles_.offset.size() * 2 + tiles_.operand.size() * 2 +
                                   tiles_.source.size() * (sizeof(Offset) + sizeof(double)));
}

}  // namespace taskdag::kernels
