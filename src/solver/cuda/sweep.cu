#include <optional>
#include <utility>

#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.cuh"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/cut/estimate.hpp"
#include "kernels/sptrsv/schedules/joined/joined.hpp"
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"
#include "solver/choice/selector.hpp"
#include "solver/cuda/sweep.hpp"
#include "solver/cuda/trial.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

/// With fewer levels neither cells nor supernodes are considered: what they save is per level.
constexpr Index kFewLevels = 16;

/// With fewer rows that need the one before them supernodes are not considered.
constexpr double kLeastShare = 0.4;

/// With more terms an entry levels are not joined.
constexpr std::int64_t kMostTerms = 3;
/// What joining takes, most of it while terms are sorted.
constexpr double kJoiningBytesPerTerm = 90.0;

/// What cells may take, and joining, so that the other sweep and the application have room.
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

/// The usual schedule of a triangle, and how its cells are cut where they are a candidate.
struct Outlook {
  kernels::TriangleFeatures features;
  std::optional<kernels::cells::Cut> cut;
  ExpectedSchedule usual;
};

/// `features` are those of the input's triangle.
Outlook look_at(const kernels::TriangleFeatures& features, const kernels::SweepInput& input, cudaStream_t stream) {
  Outlook outlook{features, {}, {}};
  if (features.levels >= kFewLevels && features.longest_row <= kLongestRowOfCells && kernels::cells_supported()) {
    kernels::cells::Estimate estimate = kernels::cells::estimate(input, stream);
    // Thin levels take much memory: an automatic choice must not be what makes a problem too large.
    if (estimate.bytes < kShareOfFreeMemory * free_memory()) {
      outlook.features.cells = estimate.cut.cells;
      outlook.features.cells_microseconds = estimate.microseconds;
      outlook.cut = std::move(estimate.cut);
    }
  }
  if (input.blocks != nullptr) outlook.features.colours = input.blocks->colours();
  outlook.usual = choose_schedule(outlook.features);
  return outlook;
}

/// The same of a triangle that another sweep leaves: by cells or flat, which go by the ranges.
Outlook look_at_left(const kernels::SweepInput& left, cudaStream_t stream) {
  Outlook outlook = look_at(kernels::measure_features(left.pattern, *left.ranges, *left.levels, stream), left, stream);
  if (outlook.usual.schedule != SolveSchedule::cells) outlook.usual.schedule = SolveSchedule::flat;
  return outlook;
}

/// A triangle whose supernodes have been solved for, and what is left to run.
struct Condensed {
  Condensed(const kernels::SweepInput& input, kernels::supernodes::Supernodes supernodes, cudaStream_t stream)
      : triangle(input, std::move(supernodes), stream), outlook(look_at_left(triangle.input(input), stream)) {}
  Condensed(const Condensed&) = delete;
  Condensed& operator=(const Condensed&) = delete;

  kernels::CondensedTriangle triangle;
  Outlook outlook;
};

/// A triangle with joined levels.
struct Joined {
  Joined(const kernels::SweepInput& input, std::int64_t most_terms, cudaStream_t stream)
      : levels(input, most_terms, stream), outlook(look_at_left(levels.input(input), stream)) {}
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  kernels::JoinedLevels levels;
  Outlook outlook;
};

/// Not tiles: they need rows by lines, which joining breaks up.
bool may_join(const Outlook& outlook, const kernels::SweepInput& input) {
  if (input.recurrence || outlook.features.levels < kFewLevels) return false;
  const double terms = static_cast<double>(kMostTerms) * outlook.features.entries;
  if (kJoiningBytesPerTerm * terms > kShareOfFreeMemory * free_memory()) return false;
  if (outlook.usual.schedule == SolveSchedule::cells) return outlook.cut && !outlook.cut->tiles;
  return outlook.usual.schedule == SolveSchedule::flat;
}

/// Makes the sweeps of one triangle, by the outlook where there is one.
class SweepMaker {
 public:
  SweepMaker(const kernels::SweepInput& input, cudaStream_t stream) : input_(input), stream_(stream) {}

  /// Looks at everything that is cheap to look at. @returns the usual schedule
  SolveSchedule look(kernels::TriangleFeatures& features) {
    outlook_ = look_at(features, input_, stream_);
    features = outlook_.features;
    // Values of the triangle that is left, and where they come from.
    constexpr double kBytesPerEntry = sizeof(double) + sizeof(Offset);
    if (features.levels < kFewLevels || kBytesPerEntry * input_.pattern.entries > kShareOfFreeMemory * free_memory()) {
      return outlook_.usual.schedule;
    }
    if (look_at_supernodes()) return SolveSchedule::supernodes;
    if (may_join(outlook_, input_) && look_at_joined()) return SolveSchedule::joined_levels;
    return outlook_.usual.schedule;
  }

  [[nodiscard]] bool has_supernodes() const { return condensed_ != nullptr; }

  /// What is expected of a triangle that supernodes or joined levels have left; 0 for other schedules. After make().
  [[nodiscard]] double microseconds_left(SolveSchedule schedule) const {
    if (schedule == SolveSchedule::supernodes) return condensed_->outlook.usual.microseconds;
    return schedule == SolveSchedule::joined_levels ? joined_->outlook.usual.microseconds : 0.0;
  }

  std::unique_ptr<kernels::Sweep> make(const ScheduleChoice& choice) {
    if (choice.cells > 0) {
      return kernels::make_cells_sweep(input_, kernels::CellsOptions{.cells = choice.cells}, stream_);
    }
    if (choice.schedule == SolveSchedule::joined_levels) {
      if (!joined_) joined_ = std::make_unique<Joined>(input_, kernels::joined::most_terms(input_.pattern), stream_);
      return kernels::make_joined_sweep(
          input_, joined_->levels, [&](const kernels::SweepInput& left) { return make(joined_->outlook, left); },
          stream_);
    }
    if (choice.schedule != SolveSchedule::supernodes) return make(choice.schedule, outlook_, input_);
    if (!condensed_) {
      condensed_ = std::make_unique<Condensed>(input_, kernels::supernodes::find(input_, stream_), stream_);
    }
    return kernels::make_supernodes_sweep(
        input_, condensed_->triangle, [&](const kernels::SweepInput& left) { return make(condensed_->outlook, left); },
        stream_);
  }

 private:
  /// @returns whether they pay
  bool look_at_supernodes() {
    kernels::supernodes::Supernodes found = kernels::supernodes::find(input_, stream_);
    if (found.share < kLeastShare) return false;
    condensed_ = std::make_unique<Condensed>(input_, std::move(found), stream_);
    return supernodes_pay(outlook_.usual, condensed_->outlook.usual);
  }
  bool look_at_joined() {
    try {
      joined_ = std::make_unique<Joined>(input_, kMostTerms * outlook_.features.entries, stream_);
    } catch (const Unsupported&) {  // too many terms
      return false;
    }
    return joining_pays(outlook_.usual, joined_->outlook.usual);
  }

  [[nodiscard]] std::unique_ptr<kernels::Sweep> make(const Outlook& outlook, const kernels::SweepInput& left) const {
    return make(outlook.usual.schedule, outlook, left);
  }
  [[nodiscard]] std::unique_ptr<kernels::Sweep> make(SolveSchedule schedule, const Outlook& outlook,
                                                     const kernels::SweepInput& input) const {
    if (schedule == SolveSchedule::cells && outlook.cut) {
      return kernels::make_sweep_of_cells(input, *outlook.cut, stream_);
    }
    return kernels::make_sweep(schedule, input, stream_);
  }

  const kernels::SweepInput& input_;
  cudaStream_t stream_;
  Outlook outlook_;
  std::unique_ptr<Condensed> condensed_;
  std::unique_ptr<Joined> joined_;
};

/// `usual` and some others.
TrialResult fastest(SolveSchedule usual, SweepMaker& maker, const kernels::SweepInput& input, cudaStream_t stream) {
  SweepTrial trial(input, stream);
  TrialResult best{{usual}, trial.microseconds(*maker.make({usual}))};
  const int all = device_limits().multiprocessors;
  std::vector<ScheduleChoice> others{{SolveSchedule::flat},           {SolveSchedule::cells},
                                     {SolveSchedule::cells, all},     {SolveSchedule::cells, all / 2},
                                     {SolveSchedule::cells, all / 4}, {SolveSchedule::cusparse}};
  if (input.blocks != nullptr) others.push_back({SolveSchedule::blocks});
  if (maker.has_supernodes()) others.push_back({SolveSchedule::supernodes});
  others.push_back({SolveSchedule::joined_levels});
  for (const ScheduleChoice& other : others) {
    if (other == ScheduleChoice{usual}) continue;
    try {
      const double took = trial.microseconds(*maker.make(other));
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
                         const kernels::SweepInput& input, cudaStream_t stream)
    : features(triangle.features) {
  SweepMaker maker(input, stream);
  ScheduleChoice choice{SolveSchedule::flat};
  if (features.rows > 0) {
    SolveSchedule usual = SolveSchedule::flat;
    if (request.schedule == SolveSchedule::automatic) usual = maker.look(features);
    choice = settle_schedule(
        request, usual, [&] { return key_of(request.device, triangle, stream); },
        [&] { return fastest(usual, maker, input, stream); });
    if (choice.schedule == SolveSchedule::automatic) choice = {usual};  // a file may say so
  }
  schedule = choice.schedule;
  sweep = maker.make(choice);
  microseconds_left = maker.microseconds_left(schedule);
}

}  // namespace taskdag::cuda
