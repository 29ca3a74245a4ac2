/// \file
/// The CUDA side of NarrowedPattern, which throws in a build without CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/narrowed_pattern.hpp"

namespace taskdag {

class NarrowedPattern::Impl {
 public:
  Impl() = default;
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  [[nodiscard]] virtual CsrPattern view() const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

}  // namespace taskdag

namespace taskdag::cuda {

/// rows > 0.
std::unique_ptr<NarrowedPattern::Impl> narrow_pattern(Index rows, const std::int64_t* row_offsets,
                                                      const std::int64_t* col_indices, Stream stream);

}  // namespace taskdag::cuda
