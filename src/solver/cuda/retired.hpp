/// \file
/// Sweeps and vectors that others have replaced and that captured graphs may still use.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "solver/cuda/many.hpp"
#include "solver/cuda/sweep_pair.hpp"

namespace taskdag::cuda {

/// What an object keeps of its past: graphs of captured calls run on what was there when they were captured. Pairs of
/// sweeps are loaded with all values that come, as those in use are.
struct Retired {
  std::vector<SweepPair> sweeps;
  std::vector<SweepPair> transposed;
  std::vector<SweepPair> balanced;  ///< of the factor scaled to a unit diagonal
  std::vector<ManySweeps> many;
  std::vector<DeviceArray<double>> vectors;

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t bytes = 0;
    for (const auto* const pairs : {&sweeps, &transposed, &balanced}) {
      for (const SweepPair& pair : *pairs) bytes += pair.bytes();
    }
    for (const ManySweeps& each : many) bytes += each.bytes();
    for (const DeviceArray<double>& vector : vectors) bytes += vector.bytes();
    return bytes;
  }
};

}  // namespace taskdag::cuda
