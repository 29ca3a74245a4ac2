/// \file
/// What schedules of CUDA look at before one of them is chosen for a triangle, and what they keep of it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "kernels/sptrsv/analysis/features.hpp"
#include "kernels/sptrsv/schedules/catalogue.hpp"
#include "kernels/sptrsv/schedules/expectation.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// Free memory of the current device in bytes.
double free_memory();

/// A triangle in front of the schedules. What a schedule finds out while it is asked for its expectation stays here
/// until the sweep is made.
class Outlook {
 public:
  /// `looked_at` must outlive this. left: the triangle is what another schedule has left, with entries in its ranges
  /// only; schedules that go by all entries of rows are not asked.
  Outlook(const SweepInput& looked_at, const TriangleFeatures& measured, cudaStream_t on_stream, bool is_left = false)
      : input(looked_at), features(measured), stream(on_stream), left(is_left) {}

  /// What the schedule of that name has kept; null: nothing. A schedule always keeps the same type.
  template <class Found>
  [[nodiscard]] std::shared_ptr<Found> kept(SolveSchedule schedule) const {
    return std::static_pointer_cast<Found>(kept_[static_cast<std::size_t>(schedule)]);
  }
  void keep(SolveSchedule schedule, std::shared_ptr<void> found) {
    kept_[static_cast<std::size_t>(schedule)] = std::move(found);
  }

  const SweepInput& input;
  const TriangleFeatures features;
  const cudaStream_t stream;
  const bool left;
  std::optional<ExpectedSchedule> best;  ///< of the schedules that were asked so far

 private:
  std::array<std::shared_ptr<void>, kCatalogue.size()> kept_;
};

}  // namespace taskdag::kernels
