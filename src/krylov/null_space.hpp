/// \file
/// The vectors of a null space, where stages read them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "krylov/system.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::krylov {

/// The list of them, and room for products with them, in memory of the backend; the vectors stay the caller's.
class NullSpaceVectors {
 public:
  /// None.
  NullSpaceVectors() = default;
  /// constant: the constant vector, too, of so many elements on all ranks. columns: that are made orthogonal to them.
  NullSpaceVectors(const Context& context, bool constant, std::vector<const double*> vectors, std::int64_t rows,
                   std::size_t columns = 1) {
    if (constant) vectors.insert(vectors.begin(), nullptr);
    if (vectors.empty()) return;
    vectors_ = engine::Array<const double*>(context, vectors);
    dots_ = engine::Array<double>(context, columns * vectors.size());
    space_ = {static_cast<std::uint32_t>(vectors.size()), vectors_.data(), dots_.data(),
              1.0 / std::sqrt(static_cast<double>(rows))};
  }
  [[nodiscard]] const NullSpace& space() const { return space_; }
  [[nodiscard]] bool any() const { return space_.count > 0; }

 private:
  engine::Array<const double*> vectors_;
  engine::Array<double> dots_;
  NullSpace space_;
};

}  // namespace taskdag::krylov
