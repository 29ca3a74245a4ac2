/// \file
/// What schedules have in common that solve a part of a triangle beforehand and leave the rest to another schedule.
#pragma once

#include <memory>
#include <utility>

#include "kernels/sptrsv/analysis/measure.hpp"
#include "kernels/sptrsv/schedules/cuda_catalogue.hpp"

namespace taskdag::kernels {

/// A triangle that has been rewritten, and the outlook on what is left of it. Rewritten has input(full).
template <class Rewritten>
struct Left {
  template <class... Arguments>
  Left(const SweepInput& full, cudaStream_t stream, Arguments&&... arguments)
      : triangle(full, std::forward<Arguments>(arguments)..., stream),
        input(triangle.input(full)),
        outlook(input, measure_features(input.pattern, *input.ranges, *input.levels, stream), stream, true) {
    choose_schedule(outlook);
  }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;

  [[nodiscard]] double microseconds() const { return outlook.best->microseconds; }
  /// `left`: `input`, but for index maps.
  [[nodiscard]] std::unique_ptr<Sweep> make(const SweepInput& left) {
    return cuda_row_of(outlook.best->schedule).make(left, outlook, 0);
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
