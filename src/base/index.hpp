/// \file
/// From the project's index type to that of containers.
#pragma once

#include <cstddef>

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag {

/// An index that is not negative, as containers count.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The end of the piece of at most `size` elements that begins at `begin`, of `count` in all: right for counts up to
/// 2³¹ − 1, where begin + size has no room. @pre 0 <= begin <= count, size > 0
TASKDAG_HD Index end_of_piece(Index begin, Index size, Index count) {
  return count - begin > size ? begin + size : count;
}

/// Pieces of at most `size` elements that `count` are cut into: right for every count and size, where count + size has
/// no room. @pre count >= 0, size > 0
TASKDAG_HD Index pieces_of(Index count, Index size) { return count / size + (count % size != 0 ? 1 : 0); }

}  // namespace taskdag
