/// \file
/// From a pattern in device memory to a sweep: the analysis, the choice of a schedule, the sweep itself.
#pragma once

#include <cmath>
#include <memory>

#include "kernels/sptrsv/analysis/features.hpp"
#include "kernels/sptrsv/sweep.hpp"
#include "solver/choice/request.hpp"

namespace taskdag::cuda {

/// Length of an array that `index` (device, `rows` entries; null: the identity) points into. Synchronises `stream`.
std::size_t extent(const Index* index, Index rows, cudaStream_t stream);

/// What every sweep over a triangle starts from. The arrays are scratch memory: not to outlive the stream.
struct AnalysedTriangle {
  /// Synchronises `stream`. `pattern` is not copied.
  AnalysedTriangle(const kernels::DevicePattern& device_pattern, Triangle which, cudaStream_t stream);

  /// `source_entry`: see SweepInput.
  [[nodiscard]] kernels::SweepInput input(const Offset* source_entry) const;

  kernels::DevicePattern pattern;
  Triangle triangle;
  kernels::TriangleRanges ranges;
  kernels::RowLevels levels;
  kernels::TriangleFeatures features;
};

/// Beyond so many times what rounding leaves in a row (RewritesRows::measure_loss()), no schedule that rewrites rows is
/// kept. Where it is not finite, results are not either, and nothing is to be kept.
inline constexpr double kMostLoss = 64.0;
inline bool loses_too_much(double loss) { return loss > kMostLoss && std::isfinite(loss); }

/// A sweep and what the solvers report of it.
struct ChosenSweep {
  std::unique_ptr<kernels::Sweep> sweep;
  SolveSchedule schedule = SolveSchedule::automatic;  ///< the one in use, never automatic
  kernels::TriangleFeatures features;
  double at_least = 0.0;  ///< microseconds of a solve, rather too few than too many

  ChosenSweep() = default;
  /// `input` is one of `triangle`, with index maps. A triangle without rows is always flat. Synchronises `stream`.
  ChosenSweep(const ScheduleRequest& request, const AnalysedTriangle& triangle, const kernels::SweepInput& input,
              cudaStream_t stream);
  kernels::Sweep* operator->() const { return sweep.get(); }
  /// Without a sweep: none.
  [[nodiscard]] kernels::Capabilities can() const { return sweep ? sweep->capabilities() : kernels::Capabilities{}; }
  /// RewritesRows::measure_loss(), which leaves *most as it is where rows are solved as they are.
  void measure_loss(const double* source, const double* pivot, double* most, cudaStream_t s) const {
    if (kernels::RewritesRows* const rewritten = can().rewrites_rows) rewritten->measure_loss(source, pivot, most, s);
  }
  [[nodiscard]] bool rewrites_rows() const;
};

}  // namespace taskdag::cuda
