/// \file
/// Where the strictly triangular entries of rows lie. Device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

/// The strictly triangular entries of each row: [first[i], first[i] + count[i]). Device arrays of `rows`.
struct TriangleRanges {
  cuda::ScratchArray<Offset> first;
  cuda::ScratchArray<Index> count;
};

/// Finds the ranges by bisection (columns ascend). Asynchronous on `stream`.
TriangleRanges find_triangle(const DevicePattern& pattern, Triangle triangle, cudaStream_t stream);

/// Of the positions of the triangle's entries, for files that outlive a run. One pass. Synchronises `stream`.
std::uint64_t hash_triangle(const DevicePattern& pattern, const TriangleRanges& ranges, cudaStream_t stream);

}  // namespace taskdag::kernels
