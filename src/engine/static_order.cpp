/// \file
/// Orders of static programs: levels and successors from predecessors, and checks of what is given.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "taskdag/engine/static/order.hpp"
#include "taskdag/error.hpp"

namespace taskdag::engine {

namespace {

constexpr std::array<const char*, 3> kNames{"ordered", "individual", "phases"};
constexpr std::uint64_t kMostTasks = std::uint64_t{1} << 30U;

void check_levels(const StaticOrder& order, std::uint32_t total) {
  if (!std::ranges::is_sorted(order.level_end)) throw InvalidInput("a static program's levels do not ascend");
  if (!order.level_end.empty() && order.level_end.back() != total) {
    throw InvalidInput("a static program's levels end at " + std::to_string(order.level_end.back()) + " of " +
                       std::to_string(total) + " tasks");
  }
}

void check_successors(const StaticOrder& order, std::uint32_t total) {
  const auto& begin = order.successor_begin;
  if (begin.size() != std::size_t{total} + 1 || begin.front() != 0 || begin.back() != order.successor.size() ||
      !std::ranges::is_sorted(begin)) {
    throw InvalidInput("individual dependencies: the successors of a static program's tasks are not one list a task");
  }
  for (std::uint32_t task = 0; task < total; ++task) {
    for (std::uint32_t k = begin[task]; k < begin[task + 1]; ++k) {
      if (order.successor[k] <= task || order.successor[k] >= total) {
        throw InvalidInput("task " + std::to_string(task) + " of a static program is followed by task " +
                           std::to_string(order.successor[k]) + ": successors have larger numbers");
      }
    }
  }
}

}  // namespace

const char* to_string(Dependencies dependencies) { return kNames.at(static_cast<std::size_t>(dependencies)); }

Dependencies dependencies_from(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<Dependencies>(found - kNames.begin());
  throw InvalidInput("no kind of dependencies is named \"" + std::string(name) +
                     "\"; there are ordered, individual, phases");
}

void StaticOrderBuilder::add_task(std::span<const std::uint32_t> predecessors) {
  const auto task = static_cast<std::uint32_t>(begin_.size() - 1);
  const auto first = static_cast<std::ptrdiff_t>(predecessor_.size());
  predecessor_.insert(predecessor_.end(), predecessors.begin(), predecessors.end());
  std::sort(predecessor_.begin() + first, predecessor_.end());
  predecessor_.erase(std::unique(predecessor_.begin() + first, predecessor_.end()), predecessor_.end());
  if (static_cast<std::ptrdiff_t>(predecessor_.size()) > first) {
    if (predecessor_.back() >= task) {
      throw InvalidInput("task " + std::to_string(task) + " of a static program waits for task " +
                         std::to_string(predecessor_.back()) + ": predecessors have smaller numbers");
    }
    if (predecessor_.back() >= level_begin_) {
      order_.level_end.push_back(task);
      level_begin_ = task;
    }
  }
  begin_.push_back(predecessor_.size());
  ++order_.tasks.back();
}

StaticOrder StaticOrderBuilder::order(Dependencies dependencies) const {
  StaticOrder order = order_;
  const std::size_t tasks = begin_.size() - 1;
  if (tasks > 0) order.level_end.push_back(static_cast<std::uint32_t>(tasks));
  if (dependencies != Dependencies::individual) return order;
  order.successor_begin.assign(tasks + 1, 0);
  for (const std::uint32_t task : predecessor_) ++order.successor_begin[task + 1];
  std::partial_sum(order.successor_begin.begin(), order.successor_begin.end(), order.successor_begin.begin());
  order.successor.resize(predecessor_.size());
  std::vector<std::uint32_t> at(order.successor_begin.begin(), order.successor_begin.end() - 1);
  for (std::size_t task = 0; task < tasks; ++task) {
    for (std::size_t k = begin_[task]; k < begin_[task + 1]; ++k) {
      order.successor[at[predecessor_[k]]++] = static_cast<std::uint32_t>(task);
    }
  }
  return order;
}

StaticClaims make_claims(const StaticOrder& order, std::span<const std::uint32_t> per_team, Dependencies dependencies) {
  if (order.tasks.size() != per_team.size()) {
    throw InvalidInput("a static program of " + std::to_string(per_team.size()) + " task types has an order of " +
                       std::to_string(order.tasks.size()));
  }
  const std::uint64_t all = std::accumulate(order.tasks.begin(), order.tasks.end(), std::uint64_t{0});
  if (all > kMostTasks) throw InvalidInput("a static program has at most 2^30 tasks");
  const auto total = static_cast<std::uint32_t>(all);
  check_levels(order, total);
  if (dependencies == Dependencies::phases && order.level_end.empty() && total > 0) {
    throw InvalidInput("phases: the levels of the static program are not given");
  }

  StaticClaims result;
  const bool single = std::ranges::all_of(per_team, [](std::uint32_t tasks) { return tasks == 1; });
  std::uint32_t claims = 0;
  std::uint32_t type_begin = 0;
  std::size_t level = 0;
  for (std::size_t type = 0; type < per_team.size(); ++type) {
    const std::uint32_t type_end = type_begin + order.tasks[type];
    for (std::uint32_t task = type_begin; task < type_end;) {
      while (level < order.level_end.size() && order.level_end[level] <= task) {
        result.level_end.push_back(claims);
        ++level;
      }
      // Of one level, where levels are known: no worker of a team then waits for another one of it.
      std::uint32_t end = type_end;
      if (level < order.level_end.size()) end = std::min(end, order.level_end[level]);
      if (single) {
        claims += end - task;
        task = end;
      } else {
        const std::uint32_t count = std::min(per_team[type], end - task);
        result.claim.push_back({task - type_begin, count});
        ++claims;
        task += count;
      }
    }
    result.type_end.push_back(claims);
    type_begin = type_end;
  }
  for (; level < order.level_end.size(); ++level) result.level_end.push_back(claims);

  if (dependencies != Dependencies::individual) return result;
  if (!single) {
    throw InvalidInput(
        "individual dependencies of a static program need teams of one worker with one item: warps or blocks on a GPU, "
        "fetch = 1");
  }
  check_successors(order, total);
  result.missing.assign(total, 0);
  for (const std::uint32_t successor : order.successor) ++result.missing[successor];
  result.ready.assign(total, kNotReady);
  for (std::uint32_t task = 0; task < total; ++task) {
    if (result.missing[task] == 0) result.ready[result.roots++] = task;
  }
  return result;
}

}  // namespace taskdag::engine
