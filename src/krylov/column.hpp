/// \file
/// Where a column of several right-hand sides has what the first one has elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace taskdag::krylov {

struct Column {
  std::uint32_t number = 0;
  std::size_t stride = 0;  ///< elements from a work vector of a column to the same of the next

  /// Of an array with so many elements for each column.
  template <class T>
  [[nodiscard]] TASKDAG_TASK T* of(T* first, std::size_t elements) const {
    return first == nullptr ? nullptr : first + number * elements;
  }
  /// Of a work vector.
  template <class T>
  [[nodiscard]] TASKDAG_TASK T* of(T* vector) const {
    return of(vector, stride);
  }
};

}  // namespace taskdag::krylov
