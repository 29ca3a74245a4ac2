#include "taskdag/solve_schedule.hpp"

#include <algorithm>
#include <array>

#include "solver/require_schedule.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// In the order of the enumeration.
constexpr std::array kNames{"auto",          "flat",     "cells",     "level-launch",    "level-graph",
                            "level-barrier", "self",     "blocks",    "ata-concurrency", "ata-locality",
                            "ata-greedy",    "cusparse", "plan",      "locking",         "pivotal-path",
                            "hdagg",         "p2p",      "level-set", "serial"};

constexpr auto kFirstHost = static_cast<std::size_t>(SolveSchedule::plan);
static_assert(kNames.size() == static_cast<std::size_t>(SolveSchedule::serial) + 1);

constexpr auto kAll = [] {
  std::array<SolveSchedule, kNames.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<SolveSchedule>(k);
  return all;
}();
constexpr auto kHost = [] {
  std::array<SolveSchedule, kNames.size() - kFirstHost + 1> host{SolveSchedule::automatic};
  std::copy(kAll.begin() + kFirstHost, kAll.end(), host.begin() + 1);
  return host;
}();

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
      return std::span(kAll).first(kFirstHost);
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
