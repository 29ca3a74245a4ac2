#include <cub/device/device_reduce.cuh>
#include <optional>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/cells/cells.hpp"
#include "kernels/sptrsv/cells/estimate.hpp"
#include "solver/cuda_sweep.hpp"
#include "solver/cuda_trial.hpp"
#include "solver/selector.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

/// With fewer levels cells are not considered: what they save is per level.
constexpr Index kFewLevels = 16;

/// What cells may take, so that the other sweep and the application have room.
constexpr double kShareOfFreeMemory = 0.25;

double free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<double>(free);
}

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

std::unique_ptr<kernels::Sweep> make(const ScheduleChoice& choice, const kernels::SweepInput& input,
                                     cudaStream_t stream) {
  if (choice.cells > 0) return kernels::make_cells_sweep(input, kernels::CellsOptions{.cells = choice.cells}, stream);
  return kernels::make_sweep(choice.schedule, input, stream);
}

/// `usual` and some others.
TrialResult fastest(SolveSchedule usual, const kernels::SweepInput& input, cudaStream_t stream) {
  SweepTrial trial(input, stream);
  TrialResult best{{usual}, trial.microseconds(*make({usual}, input, stream))};
  const int all = device_limits().multiprocessors;
  std::vector<ScheduleChoice> others{{SolveSchedule::flat},           {SolveSchedule::cells},
                                     {SolveSchedule::cells, all},     {SolveSchedule::cells, all / 2},
                                     {SolveSchedule::cells, all / 4}, {SolveSchedule::cusparse}};
  if (input.blocks != nullptr) others.push_back({SolveSchedule::blocks});
  for (const ScheduleChoice& other : others) {
    if (other == ScheduleChoice{usual}) continue;
    try {
      const double took = trial.microseconds(*make(other, input, stream));
      if (took < best.microseconds) best = {other, took};
    } catch (const DeviceError&) {  // a device or a system that cannot run it: no candidate here
    } catch (const Unsupported&) {  // nor is one that cannot take so large a triangle
    } catch (const OutOfMemory&) {  // or that does not fit
    }
  }
  return best;
}

}  // namespace

std::size_t extent(const Index* index, Index rows, cudaStream_t stream) {
  if (index == nullptr || rows == 0) return static_cast<std::size_t>(rows);
  const ScratchArray<Index> largest(1, stream);
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Max(scratch, bytes, index, largest.data(), rows, stream);
      },
      stream);
  return static_cast<std::size_t>(fetch(largest.data(), stream)) + 1;
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
                         const kernels::SweepInput& input, cudaStream_t stream)
    : features(triangle.features) {
  ScheduleChoice choice{SolveSchedule::flat};
  std::optional<kernels::cells::Cut> cut;
  if (features.rows > 0) {
    if (request.schedule == SolveSchedule::automatic && features.levels >= kFewLevels && kernels::cells_supported()) {
      kernels::cells::Estimate estimate = kernels::cells::estimate(input, stream);
      // Thin levels take much memory: an automatic choice must not be what makes a problem too large.
      if (estimate.bytes < kShareOfFreeMemory * free_memory()) {
        features.cells = estimate.cut.cells;
        features.cells_microseconds = estimate.microseconds;
        cut = std::move(estimate.cut);
      }
    }
    if (input.blocks != nullptr) features.colours = input.blocks->colours();
    const SolveSchedule usual = choose_schedule(features);
    choice = settle_schedule(
        request, usual, [&] { return key_of(request.device, triangle, stream); },
        [&] { return fastest(usual, input, stream); });
    if (choice.schedule == SolveSchedule::automatic) choice = {usual};  // a file may say so
  }
  schedule = choice.schedule;
  const bool known = choice == ScheduleChoice{SolveSchedule::cells} && cut;
  sweep = known ? kernels::make_sweep_of_cells(input, *cut, stream) : make(choice, input, stream);
}

}  // namespace taskdag::cuda
