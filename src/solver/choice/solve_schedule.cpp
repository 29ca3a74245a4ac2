#include "taskdag/solve_schedule.hpp"

#include <algorithm>
#include <array>

#include "solver/choice/require_schedule.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// In the order of the enumeration.
constexpr std::array kNames{
    "auto",          "flat",         "cells",           "supernodes",   "joined-levels", "level-launch", "level-graph",
    "level-barrier", "self",         "ata-concurrency", "ata-locality", "ata-greedy",    "cusparse",     "blocks",
    "locking",       "pivotal-path", "hdagg",           "plan",         "p2p",           "level-set",    "serial"};

static_assert(kNames.size() == static_cast<std::size_t>(SolveSchedule::serial) + 1);

constexpr auto kAll = [] {
  std::array<SolveSchedule, kNames.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<SolveSchedule>(k);
  return all;
}();

constexpr auto count(SolveSchedule first, SolveSchedule last) {
  return static_cast<std::size_t>(last) - static_cast<std::size_t>(first) + 1;
}

/// `automatic` and first … last, without `blocks`, which not every triangle has.
template <SolveSchedule kFirst, SolveSchedule kLast>
constexpr auto kRange = [] {
  static_assert(kFirst <= SolveSchedule::blocks && SolveSchedule::blocks <= kLast);
  std::array<SolveSchedule, count(kFirst, kLast)> range{SolveSchedule::automatic};
  std::size_t used = 1;
  for (std::size_t k = static_cast<std::size_t>(kFirst); k <= static_cast<std::size_t>(kLast); ++k) {
    if (kAll[k] != SolveSchedule::blocks) range[used++] = kAll[k];
  }
  return range;
}();
constexpr auto kCuda = kRange<SolveSchedule::flat, SolveSchedule::hdagg>;
constexpr auto kHost = kRange<SolveSchedule::blocks, SolveSchedule::serial>;

std::string names(std::span<const SolveSchedule> schedules) {
  std::string list;
  for (const SolveSchedule schedule : schedules) list += (list.empty() ? "" : ", ") + std::string(to_string(schedule));
  return list;
}

}  // namespace

const char* to_string(SolveSchedule schedule) { return kNames.at(static_cast<std::size_t>(schedule)); }

SolveSchedule solve_schedule_from(const std::string& name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) throw InvalidInput("no schedule is named \"" + name + "\"; there are " + names(kAll));
  return kAll.at(static_cast<std::size_t>(found - kNames.begin()));
}

std::span<const SolveSchedule> solve_schedules(Backend backend) {
  switch (backend) {
    case Backend::cuda:
      return kCuda;
    case Backend::host:
      return kHost;
    case Backend::automatic:
      break;
  }
  return kAll;
}

void require_schedule(Backend backend, SolveSchedule schedule) {
  if (schedule == SolveSchedule::blocks) return;  // of both, for those who have blocks
  const auto offered = solve_schedules(backend);
  if (std::ranges::find(offered, schedule) != offered.end()) return;
  throw InvalidInput(std::string("the schedule ") + to_string(schedule) + " is not one of the " + to_string(backend) +
                     " backend, which has " + names(offered));
}

}  // namespace taskdag
