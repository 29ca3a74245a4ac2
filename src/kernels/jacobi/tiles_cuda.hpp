/// \file
/// Jacobi sweeps on CUDA by tiles (tiles.hpp), each in the shared memory of a block.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "kernels/jacobi/tiles.hpp"

namespace taskdag::kernels {

/// resident: one kernel; a tile stays in its block, and blocks hand values over to each other every `depth` sweeps, so
/// all of them run at the same time. passes: a kernel for every `depth` sweeps, with as many tiles as there are.
enum class TileForm { resident, passes };

/// How a matrix's tiles are run.
struct TileRun {
  TileForm form;
  int lanes;    ///< whose sums rows have (cuda_jacobi_lanes())
  int longest;  ///< entries of a row that threads keep in registers; 0: entries are in shared memory
};
/// longest_row: entries of the matrix's longest row.
TileRun tile_run(TileForm form, int lanes, Offset longest_row);

/// What a tile may take, and about how many rows it should have, on the current device.
TileRoom room_of_tile(const TileRun& run);
Index rows_of_tile(const TileRun& run, Index rows, Offset entries);

class CudaTiles {
 public:
  /// Whether the tiles fit the current device: resident ones all at the same time.
  static bool can_run(const JacobiTiles& tiles, const TileRun& run);
  /// Uploads the tiles. `rows`: of the matrix. @throws OutOfMemory, DeviceError
  CudaTiles(const JacobiTiles& tiles, const TileRun& run, Index rows, cudaStream_t stream);

  /// Takes the matrix's values. Asynchronous.
  void load(const double* values, cudaStream_t stream);
  /// x = result of `sweeps` >= 2 sweeps from zero; work: room for a vector, used by passes. Asynchronous on `stream`;
  /// may be captured. @returns false, with nothing done, where resident tiles do not run at the same time since the
  /// stream has a share of the multiprocessors
  [[nodiscard]] bool enqueue(const double* scale, const double* b, double* x, double* work, int sweeps,
                             cudaStream_t stream);
  [[nodiscard]] std::int64_t bytes() const;

 private:
  TileRun run_;
  int depth_;
  std::size_t shared_bytes_;
  cuda::DeviceArray<JacobiTile> tile_;
  cuda::DeviceArray<std::uint32_t> row_;
  cuda::DeviceArray<std::uint16_t> offset_;
  cuda::DeviceArray<std::uint16_t> operand_;
  cuda::DeviceArray<Offset> source_;
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<ulonglong2> slot_;      ///< resident: two for each row
  cuda::DeviceArray<std::uint32_t> state_;  ///< resident: exchanges of all runs, blocks that have ended
};

}  // namespace taskdag::kernels
