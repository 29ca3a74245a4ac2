#include "solver/cuda_sweep.hpp"
#include "solver/cuda_trial.hpp"
#include "solver/selector.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

TuneKey key_of(const std::string& device, const AnalysedTriangle& triangle, cudaStream_t stream) {
  TuneKey key;
  key.device = device;
  key.triangle = triangle.triangle;
  key.rows = triangle.features.rows;
  key.entries = triangle.features.entries;
  key.levels = triangle.features.levels;
  key.pattern = kernels::hash_triangle(triangle.pattern, triangle.ranges, stream);
  return key;
}

/// `usual` and some others.
TrialResult fastest(SolveSchedule usual, const kernels::SweepInput& input, cudaStream_t stream) {
  SweepTrial trial(input, stream);
  TrialResult best{{usual}, trial.microseconds(*kernels::make_sweep(usual, input, stream))};
  for (const SolveSchedule other : {SolveSchedule::flat, SolveSchedule::cells, SolveSchedule::cusparse}) {
    if (other == usual) continue;
    try {
      const double took = trial.microseconds(*kernels::make_sweep(other, input, stream));
      if (took < best.microseconds) best = {{other}, took};
    } catch (const DeviceError&) {  // a device or a system that cannot run it: no candidate here
    } catch (const OutOfMemory&) {  // nor is one that does not fit
    }
  }
  return best;
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

ChosenSweep::ChosenSweep(const ScheduleRequest& request, const AnalysedTriangle& triangle,
                         const kernels::SweepInput& input, cudaStream_t stream)
    : features(triangle.features) {
  ScheduleChoice choice{SolveSchedule::flat};
  if (features.rows > 0) {
    const SolveSchedule usual = choose_schedule(features);
    choice = settle_schedule(
        request, usual, [&] { return key_of(request.device, triangle, stream); },
        [&] { return fastest(usual, input, stream); });
    if (choice.schedule == SolveSchedule::automatic) choice = {usual};  // a file may say so
  }
  schedule = choice.schedule;
  sweep = kernels::make_sweep(schedule, input, stream);
}

}  // namespace taskdag::cuda
