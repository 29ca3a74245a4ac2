/// \file
/// Copies several columns to an array by rows and back.
#include "backends/cuda/algorithm.cuh"
#include "base/handover.hpp"
#include "kernels/sptrsv/many/many.hpp"

namespace taskdag::kernels::many {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// Doubles of a tile, which goes through shared memory so that both sides are read and written in runs.
constexpr int kTile = 1024;

__global__ void fill_kernel(double* slots, std::int64_t size) {
  const std::int64_t i = element();
  if (i < size) slots[i] = not_yet();
}

template <int Stride>
struct Tile {
  static constexpr int rows = kTile / Stride;
  double at[Stride][rows + 1];
};

template <int Stride>
__global__ void __launch_bounds__(kElementBlock)
    to_rows_kernel(Index rows, Index count, const double* from, std::int64_t ld, const double* scale, double* to) {
  using Local = Tile<Stride>;
  __shared__ Local tile;
  const std::int64_t first = std::int64_t{blockIdx.x} * Local::rows;
  for (int k = static_cast<int>(threadIdx.x); k < kTile; k += kElementBlock) {
    const std::int64_t row = first + k % Local::rows;
    const int column = k / Local::rows;
    if (row < rows && column < count) {
      const double value = from[row + column * ld];
      tile.at[column][k % Local::rows] = scale ? value / sqrt(scale[row]) : value;
    }
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < kTile; k += kElementBlock) {
    const std::int64_t row = first + k / Stride;
    const int column = k % Stride;
    if (row < rows && column < count) to[row * Stride + column] = tile.at[column][k / Stride];
  }
}

template <int Stride>
__global__ void __launch_bounds__(kElementBlock)
    to_columns_kernel(Index rows, Index count, const double* from, const Index* inverse, const double* scale,
                      double* to, std::int64_t ld) {
  using Local = Tile<Stride>;
  __shared__ Local tile;
  const std::int64_t first = std::int64_t{blockIdx.x} * Local::rows;
  for (int k = static_cast<int>(threadIdx.x); k < kTile; k += kElementBlock) {
    const std::int64_t u = first + k / Stride;
    const int column = k % Stride;
    if (u < rows && column < count) {
      const std::int64_t row = inverse ? inverse[u] : u;
      tile.at[column][k / Stride] = from[row * Stride + column];
    }
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < kTile; k += kElementBlock) {
    const std::int64_t u = first + k % Local::rows;
    const int column = k / Local::rows;
    if (u < rows && column < count) {
      const double value = tile.at[column][k % Local::rows];
      to[u + column * ld] = scale ? value * sqrt(scale[u]) : value;
    }
  }
}

template <int Stride>
int tiles(Index rows) {
  return static_cast<int>((std::int64_t{rows} + Tile<Stride>::rows - 1) / Tile<Stride>::rows);
}

/// Calls launch.operator()<stride>().
template <class Launch>
void with_stride(Index count, const Launch& launch) {
  switch (stride_of(count)) {
    case 4:
      return launch.template operator()<4>();
    case 8:
      return launch.template operator()<8>();
    case 16:
      return launch.template operator()<16>();
    default:
      return launch.template operator()<32>();
  }
}

}  // namespace

void fill_not_yet(double* slots, std::int64_t size, cudaStream_t stream) {
  if (size == 0) return;
  fill_kernel<<<element_blocks(size), kElementBlock, 0, stream>>>(slots, size);
  cuda::check_launch("fill_kernel");
}

void to_rows(Index rows, Index count, const double* from, std::int64_t ld, const double* scale, double* to,
             cudaStream_t stream) {
  if (rows == 0) return;
  with_stride(count, [&]<int Stride>() {
    to_rows_kernel<Stride><<<tiles<Stride>(rows), kElementBlock, 0, stream>>>(rows, count, from, ld, scale, to);
  });
  cuda::check_launch("to_rows_kernel");
}

void to_columns(Index rows, Index count, const double* from, const Index* inverse, const double* scale, double* to,
                std::int64_t ld, cudaStream_t stream) {
  if (rows == 0) return;
  with_stride(count, [&]<int Stride>() {
    to_columns_kernel<Stride>
        <<<tiles<Stride>(rows), kElementBlock, 0, stream>>>(rows, count, from, inverse, scale, to, ld);
  });
  cuda::check_launch("to_columns_kernel");
}

}  // namespace taskdag::kernels::many
