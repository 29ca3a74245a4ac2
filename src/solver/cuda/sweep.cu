#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device_rates.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/reduce.hpp"
#include "kernels/sptrsv/analysis/measure.hpp"
#include "kernels/sptrsv/schedules/cuda_catalogue.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "solver/cuda/sweep.hpp"
#include "solver/cuda/trial.hpp"
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

/// The selection's choice and what tuning tries beside it.
TrialResult fastest(SolveSchedule usual, kernels::Selection& selection) {
  SweepTrial trial(selection.input, selection.stream);
  const auto took = [&](const ScheduleChoice& choice) {
    return trial.microseconds(*selection.row_of(choice.schedule).make(selection.input, selection, choice.variant));
  };
  TrialResult best{{usual}, took({usual})};
  for (const kernels::CudaSchedule& row : selection.rows) {
    if (kernels::row_of(row.schedule).cuda == ScheduleRole::study || !selection.has_numbers(row.schedule)) continue;
    const std::vector<int> variants = row.trials != nullptr ? row.trials(selection) : std::vector<int>{0};
    for (const int variant : variants) {
      const ScheduleChoice other{row.schedule, variant};
      if (other == ScheduleChoice{usual}) continue;
      try {
        const double microseconds = took(other);
        if (microseconds < best.microseconds) best = {other, microseconds};
      } catch (const DeviceError&) {          // a device or a system that cannot run it: no candidate here
        cuda::synchronize(selection.stream);  // one that is lost says so again
      } catch (const Unsupported&) {          // nor is one that cannot take this triangle
      } catch (const OutOfMemory&) {          // or that does not fit
      }
    }
  }
  return best;
}

}  // namespace

std::size_t extent(const Index* index, Index rows, cudaStream_t stream) {
  if (index == nullptr || rows == 0) return static_cast<std::size_t>(rows);
  return static_cast<std::size_t>(largest(index, rows, stream)) + 1;
}

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
                         const kernels::SweepInput& asked, cudaStream_t stream)
    : features(triangle.features) {
  kernels::SweepInput input = asked;
  input.precision = request.precision;
  input.complex_numbers = request.complex_numbers;
  kernels::Selection selection(input, features, kernels::cuda_catalogue(), stream, false, request.keep_rows);
  ScheduleChoice choice{SolveSchedule::flat};
  if (features.rows > 0) {
    SolveSchedule usual = SolveSchedule::flat;
    if (request.schedule == SolveSchedule::automatic) usual = selection.choose().schedule;
    choice = settle_schedule(
        request, usual, [&] { return key_of(request.device, triangle, stream); },
        [&] { return fastest(usual, selection); });
    if (choice.schedule == SolveSchedule::automatic) choice = {usual};  // a file may say so
    if (request.keep_rows && kernels::row_of(choice.schedule).rewrites_rows) choice = {selection.choose().schedule};
  }
  schedule = choice.schedule;
  const kernels::CudaSchedule& row = selection.row_of(schedule);
  kernels::SweepInput as_asked = input;
  as_asked.run = request.run;
  as_asked.study = request.study.get();
  sweep = row.make(as_asked, selection, choice.variant);
  at_least =
      row.at_least != nullptr ? row.at_least(selection) : kernels::flat::least_microseconds(features, device_rates());
}

bool ChosenSweep::rewrites_rows() const { return sweep && kernels::row_of(schedule).rewrites_rows; }

}  // namespace taskdag::cuda
