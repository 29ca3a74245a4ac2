/// \file
/// A CSR pattern given in either memory space, as a device pattern for the length of a set-up.
#pragma once

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "taskdag/context.hpp"

namespace taskdag {

inline cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

class CudaPatternInput {
 public:
  /// counts: whether the number of entries is asked for, which synchronises where it is on the device; else it is 0
  /// there.
  CudaPatternInput(const CsrPattern& pattern, MemorySpace space, cudaStream_t stream, bool counts = true)
      : offsets_(space == MemorySpace::host ? static_cast<std::size_t>(pattern.rows) + 1 : 0, stream),
        columns_(space == MemorySpace::host ? static_cast<std::size_t>(pattern.entries()) : 0, stream) {
    pattern_.rows = pattern.rows;
    if (space == MemorySpace::host) {
      pattern_.entries = pattern.entries();
      pattern_.row_offsets = offsets_.data();
      pattern_.col_indices = columns_.data();
      if (pattern.rows > 0) {
        cuda::copy_to_device(offsets_.data(), pattern.row_offsets, static_cast<std::size_t>(pattern.rows) + 1, stream);
        cuda::copy_to_device(columns_.data(), pattern.col_indices, static_cast<std::size_t>(pattern_.entries), stream);
      } else {
        cuda::check(cudaMemsetAsync(offsets_.data(), 0, sizeof(Offset), stream),
                    "clearing the offset of an empty matrix");
      }
    } else {
      pattern_.entries = counts && pattern.rows > 0 ? cuda::fetch(pattern.row_offsets + pattern.rows, stream) : 0;
      pattern_.row_offsets = pattern.row_offsets;
      pattern_.col_indices = pattern.col_indices;
    }
  }
  [[nodiscard]] const kernels::DevicePattern& pattern() const { return pattern_; }

 private:
  kernels::DevicePattern pattern_;
  cuda::ScratchArray<Offset> offsets_;
  cuda::ScratchArray<Index> columns_;
};

}  // namespace taskdag
