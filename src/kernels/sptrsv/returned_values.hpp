/// \file
/// Sweeps that can say what they have been loaded with, so that a solver need not keep it a second time.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// What a Sweep may be besides.
class ReturnsValues {
 public:
  ReturnsValues() = default;
  ReturnsValues(const ReturnsValues&) = delete;
  ReturnsValues& operator=(const ReturnsValues&) = delete;

  /// The reverse of Sweep::load_values(): writes the values of the last one to the entries that they came from. `pivot`
  /// as it was then. Exact where values are stored as they are; where rows are stored times their pivots, a unit in the
  /// last place may be lost, and in single precision what rounding has cut off. Asynchronous.
  virtual void return_values(const double* pivot, double* entries, cudaStream_t stream) const = 0;

  /// Says that the pattern that the sweep was made from stays, entries numbered as those that load_values() takes: then
  /// a sweep that can find them by it forgets where each value comes from. Waits for the device where it does.
  virtual void rely_on(const DevicePattern& /*pattern*/) {}

 protected:
  ~ReturnsValues() = default;
};

}  // namespace taskdag::kernels
