/// \file
/// Jacobi sweeps on host threads by tiles (tiles.hpp): a tile's values stay in the processor's caches for several
/// sweeps.
#pragma once

#include <vector>

#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/tiles.hpp"

namespace taskdag::kernels {

/// Memory for a tile, and about how many rows it has.
TileRoom host_room_of_tile();
Index host_rows_of_tile(Index rows, Offset entries);

class HostTiles {
 public:
  explicit HostTiles(JacobiTiles tiles) : tiles_(std::move(tiles)), values_(tiles_.source.size()) {}

  /// Takes the matrix's values.
  void load(const double* values);
  /// x = result of `sweeps` >= 2 sweeps from zero; work: room for a vector.
  void run(const double* scale, const double* b, double* x, double* work, int sweeps, host::ThreadPool& pool);
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void pass(const double* scale, const double* b, const double* from, double* to, int sweeps, host::ThreadPool& pool);

  JacobiTiles tiles_;
  std::vector<double> values_;
};

}  // namespace taskdag::kernels
