/// \file
/// Where an automatic choice of precision takes single.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::cuda {

/// Whether single precision is expected to pay: by `blocks` (null: none), where the values in double are more than a
/// second-level cache holds and colours are wide. By levels it was measured not to (docs/schedules.md).
inline bool single_pays(const kernels::TriangleFeatures& features, const RowBlocks* blocks) {
  constexpr double kLeastBytes = 64e6;
  constexpr double kLeastRows = 4096.0;
  if (blocks == nullptr || 8.0 * static_cast<double>(features.entries) < kLeastBytes) return false;
  return static_cast<double>(features.rows) >= kLeastRows * blocks->colours();
}

}  // namespace taskdag::cuda
