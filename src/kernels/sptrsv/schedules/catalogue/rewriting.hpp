/// \file
/// What schedules have in common that solve a part of a triangle beforehand and leave the rest to another schedule.
#pragma once

#include <memory>
#include <utility>

#include "kernels/sptrsv/analysis/measure.hpp"
#include "kernels/sptrsv/schedules/catalogue/outlook.hpp"

namespace taskdag::kernels {

/// A triangle that has been rewritten, and the outlook on what is left of it. Rewritten has input(full).
template <class Rewritten>
struct Left {
  /// full: the outlook on the whole triangle.
  template <class... Arguments>
  explicit Left(const Outlook& full, Arguments&&... arguments)
      : triangle(full.input, std::forward<Arguments>(arguments)..., full.stream),
        input(triangle.input(full.input)),
        outlook(input, measure_features(input.pattern, *input.ranges, *input.levels, full.stream), full.rows,
                full.stream, true) {
    outlook.choose();
  }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;

  [[nodiscard]] double microseconds() const { return outlook.best->microseconds; }
  /// `left`: `input`, but for index maps.
  [[nodiscard]] std::unique_ptr<Sweep> make(const SweepInput& left) {
    return outlook.row_of(outlook.best->schedule).make(left, outlook, 0);
  }

  Rewritten triangle;
  SweepInput input;
  Outlook outlook;
};

/// Whether rewriting is worth a look: levels to save, and room for the values of what is left and where they come from.
inline bool may_rewrite(const Outlook& outlook) {
  constexpr double kBytesPerEntry = sizeof(double) + sizeof(Offset);
  return outlook.features.levels >= kFewLevels &&
         kBytesPerEntry * outlook.input.pattern.entries <= kShareOfFreeMemory * free_memory();
}

}  // namespace taskdag::kernels
