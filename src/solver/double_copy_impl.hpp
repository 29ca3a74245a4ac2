/// \file
/// Doubles of one memory space behind DoubleCopy; that of CUDA throws in a build without CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/double_copy.hpp"

namespace taskdag {

class DoubleCopy::Impl {
 public:
  Impl() = default;
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Whether `count` doubles have room here, and callers of now reach them.
  [[nodiscard]] virtual bool holds(std::int64_t count, MemorySpace space) const = 0;
  [[nodiscard]] virtual double* data() = 0;
  /// Of shapes that have room, with rows and columns in them.
  virtual void widen(const float* from, const FloatColumns& shape, Stream stream) = 0;
  virtual void narrow(float* to, const FloatColumns& shape, Stream stream) const = 0;
};

}  // namespace taskdag

namespace taskdag::cuda {

/// count > 0, on the current device.
std::unique_ptr<DoubleCopy::Impl> double_copy(std::int64_t count, Stream stream);

}  // namespace taskdag::cuda
