/// \file
/// The CUDA side of RealBlocks, which throws in a build without CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/complex.hpp"

namespace taskdag {

class RealBlocks::Impl {
 public:
  Impl() = default;
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  [[nodiscard]] virtual const double* values() const = 0;
};

}  // namespace taskdag

namespace taskdag::cuda {

/// count > 0, of whole blocks.
std::unique_ptr<RealBlocks::Impl> real_blocks(const double* numbers, std::int64_t count, Index block_size,
                                              Stream stream);

}  // namespace taskdag::cuda
