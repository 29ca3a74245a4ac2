/// \file
/// How many threads share a row in passes over the rows of a matrix.
#pragma once

#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"

namespace taskdag::kernels {

/// The largest power of two up to a warp that the average row keeps busy: fewer threads would leave memory transactions
/// half used, more would idle.
inline int lanes_of_average_row(Index rows, Offset entries) {
  const Offset average = rows > 0 ? entries / rows : 0;
  int lanes = 1;
  while (lanes < cuda::kWarpSize && 2 * lanes <= average) lanes *= 2;
  return lanes;
}

/// Calls launch(std::integral_constant<int, lanes>, blocks) for so many lanes a row in blocks of kElementBlock.
template <class Launch>
void with_row_lanes(int lanes, Index rows, const Launch& launch) {
  const auto start = [&](auto count) { launch(count, cuda::element_blocks(std::int64_t{rows} * count.value)); };
  switch (lanes) {
    case 32:
      return start(std::integral_constant<int, 32>());
    case 16:
      return start(std::integral_constant<int, 16>());
    case 8:
      return start(std::integral_constant<int, 8>());
    case 4:
      return start(std::integral_constant<int, 4>());
    case 2:
      return start(std::integral_constant<int, 2>());
    default:
      return start(std::integral_constant<int, 1>());
  }
}

}  // namespace taskdag::kernels
