/// \file
/// What schedules have in common that solve a part of a triangle beforehand and leave the rest to another schedule.
#pragma once

#include <memory>
#include <utility>

#include "kernels/sptrsv/analysis/measure.hpp"
#include "kernels/sptrsv/schedules/catalogue/selection.hpp"

namespace taskdag::kernels {

/// A triangle that has been rewritten, and the selection on what remains of it. Rewritten has input(full).
template <class Rewritten>
struct Left {
  /// full: the selection on the whole triangle.
  template <class... Arguments>
  explicit Left(const Selection& full, Arguments&&... arguments)
      : triangle(full.input, std::forward<Arguments>(arguments)..., full.stream),
        input(triangle.input(full.input)),
        selection(input, measure_features(input.pattern, *input.ranges, *input.levels, full.stream), full.rows,
                  full.stream, true) {
    selection.choose();
  }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;

  [[nodiscard]] double microseconds() const { return selection.best->microseconds; }
  /// `remaining`: `input`, but for index maps.
  [[nodiscard]] std::unique_ptr<Sweep> make(const SweepInput& remaining) {
    return selection.row_of(selection.best->schedule).make(remaining, selection, 0);
  }

  Rewritten triangle;
  SweepInput input;
  Selection selection;
};

/// Whether rewriting is worth a look: levels to save, and room for the values of what remains and where they come from.
inline bool may_rewrite(const Selection& selection) {
  constexpr double kBytesPerEntry = sizeof(double) + sizeof(Offset);
  return selection.features.levels >= kFewLevels &&
         kBytesPerEntry * selection.input.pattern.entries <= kShareOfFreeMemory * free_memory();
}

}  // namespace taskdag::kernels
