/// \file
/// Numbers in single precision for the solvers, which compute with doubles.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Columns of floats in host memory or in that of the current CUDA device.
struct FloatColumns {
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t distance = 0;  ///< from the beginning of one column to that of the next
  MemorySpace space = MemorySpace::host;
};

/// Owns doubles where a caller has floats: matrices, right-hand sides and solutions of a program in single precision
/// are handed to solvers as such copies. Columns have nothing between them here. The memory stays from one use to the
/// next while it is large enough, and does not move then.
/// On the device everything is asynchronous on `stream`, which has to have ended when the object goes or grows.
class TASKDAG_API DoubleCopy {
 public:
  /// Of nothing.
  DoubleCopy();
  DoubleCopy(DoubleCopy&&) noexcept;
  DoubleCopy& operator=(DoubleCopy&&) noexcept;
  ~DoubleCopy();

  /// Room for as many doubles. What was in it stays, if it is as large and in the same place.
  /// @throws InvalidInput for a negative size or columns that overlap; DeviceError, also in a build without CUDA;
  ///         OutOfMemory
  double* room(const FloatColumns& shape, Stream stream);
  /// The same with the numbers of `from`, which are exact as doubles.
  double* take(const float* from, const FloatColumns& shape, Stream stream);
  /// Rounds what is there to the columns of `to`, of the shape of the last call. What is too large for a float becomes
  /// an infinity.
  void give(float* to, Stream stream) const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
  FloatColumns shape_;
};

}  // namespace taskdag
