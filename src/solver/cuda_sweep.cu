#include "solver/cuda_sweep.hpp"
#include "solver/selector.hpp"

namespace taskdag::cuda {

namespace {

SolveSchedule settle(SolveSchedule wanted, const kernels::TriangleFeatures& features) {
  if (features.rows == 0) return SolveSchedule::flat;
  return wanted == SolveSchedule::automatic ? choose_schedule(features) : wanted;
}

}  // namespace

AnalysedTriangle::AnalysedTriangle(const kernels::DevicePattern& device_pattern, Triangle which, cudaStream_t stream)
    : pattern(device_pattern),
      triangle(which),
      ranges(kernels::find_triangle(pattern, triangle, stream)),
      levels(kernels::compute_levels(pattern, ranges, triangle, stream)),
      features(kernels::measure_features(pattern, ranges, levels, stream)) {}

kernels::SweepInput AnalysedTriangle::input(const Offset* source_entry) const {
  kernels::SweepInput result;
  result.pattern = pattern;
  result.triangle = triangle;
  result.ranges = &ranges;
  result.levels = &levels;
  result.source_entry = source_entry;
  return result;
}

ChosenSweep::ChosenSweep(SolveSchedule wanted, const kernels::SweepInput& input,
                         const kernels::TriangleFeatures& measured, cudaStream_t stream)
    : schedule(settle(wanted, measured)), features(measured) {
  sweep = kernels::make_sweep(schedule, input, stream);
}

}  // namespace taskdag::cuda
