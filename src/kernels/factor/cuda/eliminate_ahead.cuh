/// \file
/// The kernel for patterns all of whose rows are in registers. Its warps stay: warp w has the rows at positions w,
/// w + warps and so on. So all of them must be there at once, and the launch is cooperative.
#pragma once

#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/cooperative.hpp"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/factor/cuda/eliminate.cuh"
#include "kernels/factor/cuda/rows_ahead.cuh"

namespace taskdag::kernels::elimination {

template <FactorKind Kind, int kHeld>
__global__ void __launch_bounds__(kEliminateBlock, blocks_with_registers(kHeld))
    eliminate_ahead_kernel(const Parameters p, int* next_counter) {
  constexpr int kWarps = kEliminateBlock / kWarpSize;
  extern __shared__ int4 shared[];
  if (blockIdx.x == 0 && threadIdx.x == 0) *next_counter = 0;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index rows = p.lists.tasks.rows;
  const Index stride = static_cast<Index>(gridDim.x) * kWarps;
  Index position = static_cast<Index>(blockIdx.x) * kWarps + warp;
  if (position >= rows) return;
  RowsAhead<kHeld>& stage = reinterpret_cast<RowsAhead<kHeld>*>(shared)[warp];
  const CopyAhead<kHeld> copy(p, stage, lane);
  const auto list_of = [&](int k) {
    return ListAhead<kHeld>(p, stage.rows[k % kDescriptionsAhead], stage.list[k % 2], lane);
  };
  for (int k = 0; k < kDescriptionsAhead; ++k) copy.description(k, position + k * stride);
  copy.arrived();
  copy.source(0, position);
  copy.source(1, position + stride);
  copy.arrived();
  copy.data(0, position);
  copy.data(1, position + stride);
  __syncwarp();
  copy.source(2, position + 2 * stride);
  copy.arrived();
  RegisterRow<Kind, kHeld, true> row(p, lane);
  row.look(copy.known(0, position), list_of(0));
  row.take(copy.known(0, position));
  for (int k = 0;; ++k) {
    const KnownRow known = copy.known(k, position);
    const EliminatedRow<kHeld> done = row.eliminate(known, list_of(k));
    copy.arrived();
    position += stride;
    const bool goes_on = position < rows;
    // Before the rest of this row, for which no other row waits.
    if (goes_on) row.look(copy.known(k + 1, position), list_of(k + 1));
    row.store(known, done);
    if (!goes_on) return;
    __syncwarp();  // what is copied now replaces what other lanes may have read until here
    copy.data(k + 2, position + stride);
    copy.source(k + 3, position + 2 * stride);
    copy.description(k + 4, position + 3 * stride);
    row.take(copy.known(k + 1, position));
  }
}

/// Runs all rows; *next_counter is made 0. Asynchronous. @throws DeviceError
template <int kHeld>
void eliminate_ahead(const Parameters& parameters, int* next_counter, FactorKind kind, cudaStream_t stream) {
  constexpr int kWarps = kEliminateBlock / kWarpSize;
  const std::size_t bytes = kWarps * sizeof(RowsAhead<kHeld>);
  const auto kernel = kind == FactorKind::ic ? eliminate_ahead_kernel<FactorKind::ic, kHeld>
                                             : eliminate_ahead_kernel<FactorKind::ilu, kHeld>;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
              "asking for shared memory");
  int resident = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kEliminateBlock, bytes),
              "asking for occupancy");
  const int most = resident * cuda::device_limits().multiprocessors;
  const int blocks = std::min(most, pieces_of(parameters.lists.tasks.rows, kWarps));
  Parameters p = parameters;
  void* arguments[] = {&p, &next_counter};
  cuda::launch_cooperative(reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks), kEliminateBlock,
                           arguments, bytes, stream, "launching eliminate_ahead_kernel");
}

}  // namespace taskdag::kernels::elimination
