/// \file
/// Level schedules of triangular patterns.
#pragma once

#include <span>
#include <vector>

#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Which strict triangle of a square pattern holds the dependencies.
/// lower: row i waits for the columns j < i, rows run forward. upper: it waits for j > i, rows run backward.
enum class Triangle { lower, upper };

/// The order in which the rows of a triangular system may run: an immutable value that every executor takes.
///
/// A row's level is 0 where it waits for nothing, else one more than the largest level among its columns.
/// Positions number the rows by level, inside a level in the direction of the sweep (ascending rows for a lower
/// triangle, descending for an upper one). So each dependency of position p has a position smaller than p, and
/// lies in an earlier level.
class TASKDAG_API Schedule {
 public:
  /// @pre `level` holds one level per row, computed for `triangle`; checked only for non-negative, gapless levels.
  /// @throws InvalidInput
  Schedule(Triangle triangle, std::span<const Index> level);

  [[nodiscard]] Triangle triangle() const { return triangle_; }
  [[nodiscard]] Index rows() const { return static_cast<Index>(order_.size()); }
  [[nodiscard]] Index levels() const { return static_cast<Index>(level_offsets_.size()) - 1; }
  [[nodiscard]] Index widest_level() const { return widest_level_; }
  /// order()[p] is the row at position p.
  [[nodiscard]] std::span<const Index> order() const { return order_; }
  /// position()[row] is the position of that row: the inverse of order().
  [[nodiscard]] std::span<const Index> position() const { return position_; }
  /// Level l holds the positions [level_offsets()[l], level_offsets()[l + 1]).
  [[nodiscard]] std::span<const Index> level_offsets() const { return level_offsets_; }

 private:
  Triangle triangle_;
  Index widest_level_ = 0;
  std::vector<Index> order_;
  std::vector<Index> position_;
  std::vector<Index> level_offsets_;
};

/// Computes the levels of the strict `triangle` of a square host pattern; entries of the other triangle and the
/// diagonal are ignored. One serial pass over the entries: several threads were slower; `threads` must not be negative
/// and has no other meaning yet.
/// Source: Anderson & Saad 1989; Saltz 1990. @throws InvalidInput if the pattern is not square.
TASKDAG_API Schedule make_level_schedule(const CsrPattern& pattern, Triangle triangle, int threads = 1);

}  // namespace taskdag
