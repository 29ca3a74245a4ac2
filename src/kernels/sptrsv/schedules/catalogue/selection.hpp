/// \file
/// What schedules of CUDA look at before one of them is chosen for a triangle, and what they keep of it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/sptrsv/analysis/features.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "kernels/sptrsv/schedules/catalogue/expectation.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// Free memory of the current device in bytes.
double free_memory();

class Selection;

/// A schedule of CUDA. All functions synchronise the selection's stream.
struct CudaSchedule {
  SolveSchedule schedule;
  /// Makes the sweep of `input`: that of the selection, but for index maps. variant: one of trials(), 0 for the
  /// schedule's own choice. @throws Unsupported, DeviceError, OutOfMemory where it cannot
  std::unique_ptr<Sweep> (*make)(const SweepInput& input, Selection& selection, int variant);
  /// Microseconds of a solve, or nothing where it cannot run the triangle or would take too much memory. Null: it is
  /// never chosen automatically.
  std::optional<Expectation> (*expect)(Selection& selection) = nullptr;
  /// Whether no schedule that has not been asked yet needs to be, if this one is the best so far. Null: never.
  bool (*settles)(const Selection& selection) = nullptr;
  /// Microseconds of a solve, rather too few than too many: what a pass over several columns must beat. Null: as flat.
  double (*at_least)(const Selection& selection) = nullptr;
  /// Variants that tuning tries, 0 for the schedule's own. Null: 0 alone.
  std::vector<int> (*trials)(const Selection& selection) = nullptr;
  bool complex_numbers = false;  ///< it has a form for these (SweepInput::complex_numbers)
  bool takes_remaining = false;  ///< it goes by the input's ranges, and so runs what another schedule leaves
};

/// A triangle in front of the schedules. What a schedule finds out while it is asked for its expectation stays here
/// until the sweep is made.
class Selection {
 public:
  /// `looked_at` must outlive this. rows: the schedules that there are, in the order in which they are asked.
  /// remaining: the triangle is what another schedule has left, with entries in its ranges only; schedules that go by
  /// all entries of rows are not asked. as_they_are: nor are schedules that rewrite rows.
  Selection(const SweepInput& looked_at, const TriangleFeatures& measured, std::span<const CudaSchedule> all,
            cudaStream_t on_stream, bool is_remaining = false, bool as_they_are = false)
      : input(looked_at),
        features(measured),
        rows(all),
        stream(on_stream),
        remaining(is_remaining),
        keep_rows(as_they_are) {}

  /// The row of a schedule. @throws InvalidInput for a schedule that CUDA does not have
  [[nodiscard]] const CudaSchedule& row_of(SolveSchedule schedule) const;

  /// Asks the schedules of the automatic role one after the other; each sees what the best so far expects. The same
  /// triangle gets the same one on the same kind of device with the same room. Synchronises the stream.
  ExpectedSchedule choose();

  /// Whether that schedule can run the triangle with the input's numbers, in its precision.
  [[nodiscard]] bool has_numbers(SolveSchedule schedule) const;

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
  const std::span<const CudaSchedule> rows;
  const cudaStream_t stream;
  const bool remaining;
  const bool keep_rows;
  std::optional<ExpectedSchedule> best;  ///< of the schedules that were asked so far

 private:
  std::array<std::shared_ptr<void>, kCatalogue.size()> kept_;
};

}  // namespace taskdag::kernels
