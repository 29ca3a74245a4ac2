/// \file
/// Where an automatic choice of precision takes single.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::cuda {

/// Whether a sweep over such a triangle costs its bytes rather than its hops: the values in double are more than a
/// second-level cache holds, and levels, or with `blocks` (or null) colours, are wide.
inline bool costs_its_bytes(const kernels::TriangleFeatures& features, const RowBlocks* blocks) {
  constexpr double kLeastBytes = 64e6;
  constexpr double kLeastRows = 4096.0;
  if (8.0 * static_cast<double>(features.entries) < kLeastBytes) return false;
  const double turns = blocks != nullptr && blocks->colours() > 0 ? blocks->colours() : features.levels;
  return static_cast<double>(features.rows) >= kLeastRows * turns;
}

}  // namespace taskdag::cuda
