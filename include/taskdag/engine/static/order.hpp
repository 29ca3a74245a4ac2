/// \file
/// The tasks of a static program, known before its first run: how many, in which order, what waits for what. No
/// templates: the same for all programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "taskdag/engine/report.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// When a task of a static program starts.
enum class Dependencies {
  ordered,     ///< in the fixed order, as soon as a worker is free; it waits by itself for values of earlier tasks
  individual,  ///< when the last of its predecessors has ended (MHive, chapter 5)
  phases,      ///< when all tasks of the level before have ended (MHive, chapter 4)
};
TASKDAG_API const char* to_string(Dependencies dependencies);
/// "ordered", "individual", "phases". @throws InvalidInput for another name
TASKDAG_API Dependencies dependencies_from(std::string_view name);

/// Tasks are numbered through: those of the program's first type, 0 to tasks[0] − 1, then those of the second type, and
/// so on. A task may need tasks with smaller numbers only.
struct StaticOrder {
  std::vector<std::uint32_t> tasks;  ///< of each type
  /// Ends of the levels, ascending, the last one the number of all tasks: no task of a level needs another one of it.
  /// Empty: unknown; needed for phases, and where several tasks share a team and wait for each other's values.
  std::vector<std::uint32_t> level_end = {};
  /// For individual: task p is a predecessor of successor[k], successor_begin[p] <= k < successor_begin[p + 1]. No
  /// successor twice.
  std::vector<std::uint32_t> successor_begin = {};
  std::vector<std::uint32_t> successor = {};
};

/// Makes an order from the predecessors of each task.
class TASKDAG_API StaticOrderBuilder {
 public:
  /// The tasks that follow are of the next type; called before the first task, too.
  void begin_type() { order_.tasks.push_back(0); }
  /// The next task. predecessors: numbers of earlier tasks, of any type, in any order, some of them several times.
  void add_task(std::span<const std::uint32_t> predecessors);
  /// The order so far, its levels, and for individual dependencies its successors. A level ends before the first task
  /// that has a predecessor in it.
  [[nodiscard]] StaticOrder order(Dependencies dependencies) const;

 private:
  StaticOrder order_;
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint32_t> predecessor_;
  std::uint32_t level_begin_ = 0;
};

/// How a static program is run. Fixed with the order, since what a run needs is made then.
struct StaticOptions {
  Scheduler scheduler = Scheduler::automatic;
  Dependencies dependencies = Dependencies::ordered;
  /// GPU: blocks of a persistent kernel, 0: as many as are resident.
  int blocks = 0;
  /// Record events, where the program has a SwitchedProbe.
  bool trace = false;
  /// Room for them; later ones are counted as dropped.
  std::uint32_t trace_events = 1U << 20U;
  bool operator==(const StaticOptions&) const = default;
};

// For the engine.

/// What a team takes at a time: tasks first, …, first + count − 1 of their type.
struct StaticClaim {
  std::uint32_t first;
  std::uint32_t count;
};

/// An order as teams take it: tasks of one type and one level, as many as a team runs at a time.
struct StaticClaims {
  std::vector<StaticClaim> claim;        ///< empty: claim c is task c of all
  std::vector<std::uint32_t> type_end;   ///< claims
  std::vector<std::uint32_t> level_end;  ///< claims
  std::vector<std::uint32_t> missing;    ///< predecessors of each, for individual
  std::vector<std::uint32_t> ready;      ///< those without predecessors, then kNotReady, as many as there are claims
  std::uint32_t roots = 0;               ///< without predecessors
};

inline constexpr std::uint32_t kNotReady = 0xFFFFFFFFU;

/// per_team: tasks of each type that a team runs at a time.
/// @throws InvalidInput where the order says nothing of what `dependencies` needs, or contradicts itself
TASKDAG_API StaticClaims make_claims(const StaticOrder& order, std::span<const std::uint32_t> per_team,
                                     Dependencies dependencies);

}  // namespace taskdag::engine
