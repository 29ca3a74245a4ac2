/// \file
/// The pattern of a factor by point blocks, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "kernels/factor/point_block/pattern.hpp"

namespace taskdag::kernels::point_block {

/// As Pattern.
struct DeviceFactorPattern {
  Index rows = 0;
  Offset blocks = 0;
  cuda::DeviceArray<Offset> offsets;
  cuda::DeviceArray<Index> columns;
  cuda::DeviceArray<Offset> diagonal;
  cuda::DeviceArray<Offset> source;
  cuda::DeviceArray<Offset> mirror;

  [[nodiscard]] bool symmetric() const { return mirror.size() > 0; }
  [[nodiscard]] DevicePattern view() const { return {rows, blocks, offsets.data(), columns.data()}; }
  [[nodiscard]] std::int64_t bytes() const {
    return offsets.bytes() + columns.bytes() + diagonal.bytes() + source.bytes() + mirror.bytes();
  }
};

/// Of a pattern that the host has made. Synchronises `stream`.
DeviceFactorPattern upload(const Pattern& pattern, cudaStream_t stream);

/// As make_pattern() without fill, found by the device. row_order, col_order: new → old, in device memory; null, both
/// or none: natural. Synchronises `stream`. @throws what make_pattern() throws
DeviceFactorPattern find_pattern(const DevicePattern& blocks, const Index* row_order, const Index* col_order,
                                 FactorKind kind, int block_size, cudaStream_t stream);

}  // namespace taskdag::kernels::point_block
