#include <limits>
#include <utility>

#include "solver/cuda_sweep.hpp"
#include "solver/cuda_trial.hpp"
#include "solver/require_schedule.hpp"
#include "solver/selector.hpp"
#include "solver/tune_file.hpp"
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

/// The schedule of that name from a tune file, which may come from another version of the library.
SolveSchedule tuned_schedule(const std::string& file, const std::string& name) {
  try {
    const SolveSchedule schedule = solve_schedule_from(name);
    require_schedule(Backend::cuda, schedule);
    if (schedule != SolveSchedule::automatic) return schedule;
  } catch (const InvalidInput&) {  // told below, with the file's name
  }
  throw ParseError(file, 0, "\"" + name + "\" is no schedule of the cuda backend");
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
  if (features.rows == 0) {
    make(SolveSchedule::flat, input, stream);
  } else if (request.schedule != SolveSchedule::automatic) {
    make(request.schedule, input, stream);
  } else if (request.tune_file.empty()) {
    if (request.tune) {
      make_fastest(input, stream);
    } else {
      make(choose_schedule(features), input, stream);
    }
  } else {
    const TuneKey key = key_of(request.device, triangle, stream);
    if (const auto known = find_tuned(request.tune_file, key, request.tune)) {
      make(tuned_schedule(request.tune_file, *known), input, stream);
    } else if (request.tune) {
      const double microseconds = make_fastest(input, stream);
      save_tuned(request.tune_file, key, to_string(schedule), microseconds);
    } else {
      make(choose_schedule(features), input, stream);
    }
  }
}

void ChosenSweep::make(SolveSchedule which, const kernels::SweepInput& input, cudaStream_t stream) {
  schedule = which;
  sweep = kernels::make_sweep(which, input, stream);
}

double ChosenSweep::make_fastest(const kernels::SweepInput& input, cudaStream_t stream) {
  SweepTrial trial(input, stream);
  make(choose_schedule(features), input, stream);
  double least = trial.microseconds(*sweep);
  for (const SolveSchedule other : {SolveSchedule::flat, SolveSchedule::cells, SolveSchedule::cusparse}) {
    if (other == choose_schedule(features)) continue;
    try {
      auto candidate = kernels::make_sweep(other, input, stream);
      const double microseconds = trial.microseconds(*candidate);
      if (microseconds >= least) continue;
      least = microseconds;
      schedule = other;
      sweep = std::move(candidate);
    } catch (const DeviceError&) {  // a device or a system that cannot run it: no candidate here
    } catch (const OutOfMemory&) {  // nor is one that does not fit beside another
    }
  }
  return least;
}

}  // namespace taskdag::cuda
