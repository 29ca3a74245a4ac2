/// \file
/// The result of the row that a thread has solved last, and where it pays to keep it at hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// The row that a thread has solved last. Its result is taken from here: through memory it would come later, and in
/// natural order most rows wait for just that.
struct RowBefore {
  static constexpr bool kKnown = true;
  Index row = -1;
  double result = 0.0;
  void take(Index solved, double value) {
    row = solved;
    result = value;
  }
};

/// Used instead of it where rows do not follow each other: a branch that is not foreseen costs more than the way
/// through memory. The results are the same.
struct NoRowBefore {
  static constexpr bool kKnown = false;
  static void take(Index, double) {}
};

/// Whether three of four rows need the row before them, of about a thousand that have operands, evenly spread.
/// nearest(p): what the row at position p subtracts last; −1: it has no operands. row_at(p): the row there.
template <class Nearest, class RowAt>
bool rows_follow(Index rows, const Nearest& nearest, const RowAt& row_at) {
  constexpr Index kLooks = 1024;
  const Index step = (rows / kLooks) | 1;  // odd: lines of grids have even lengths, mostly
  std::int64_t with_operands = 0;
  std::int64_t following = 0;
  for (Index p = 1; p < rows; p += step) {
    const Index operand = nearest(p);
    if (operand < 0) continue;
    ++with_operands;
    following += operand == row_at(p - 1) ? 1 : 0;
  }
  return 4 * following >= 3 * with_operands;
}

}  // namespace taskdag::kernels
