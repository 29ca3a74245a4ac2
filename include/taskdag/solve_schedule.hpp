/// \file
/// The named schedules of a triangular solve.
#pragma once

#include <span>
#include <string>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"
#include "taskdag/study.hpp"

namespace taskdag {

/// How the rows of a triangular solve are grouped, ordered and waited for. The result is the same triangular solve;
/// sums of a row may be added in another order. Schedules that rewrite rows (SolveScheduleInfo) may be chosen by
/// automatic: name flat or cells where each row must hold to rounding. docs/schedules.md describes each.
enum class SolveSchedule {
  automatic,  ///< chosen from the pattern
  flat,
  cells,
  supernodes,
  joined_levels,
  one_block,
  level_launch,
  level_graph,
  level_barrier,
  self_scheduled,
  ata_concurrency,
  ata_locality,
  ata_greedy,
  cusparse,
  blocks,
  engine,
  locking,
  pivotal_path,
  hdagg,
  plan,
  point_to_point,
  level_set,
  serial,  ///< stays the last one: the catalogue is counted up to it
};

/// What a schedule is to a backend.
enum class ScheduleRole {
  absent,     ///< the backend does not have it
  automatic,  ///< SolveSchedule::automatic may choose it, tuning tries it
  tuned,      ///< tuning tries it
  study,      ///< runs only where it is named: a baseline, or a paper's algorithm
};

/// A row of the catalogue of schedules.
struct SolveScheduleInfo {
  SolveSchedule schedule;
  const char* name;  ///< "flat", "level-launch", …: what options take
  ScheduleRole cuda;
  ScheduleRole host;
  bool needs_blocks;   ///< of an ordering: FactorOptions::blocks
  bool rewrites_rows;  ///< its rounding errors grow with the condition of what it rewrites
  const char* sentence;
  /// It has a form for values in single precision (FactorOptions::precision); cells for some triangles alone, where it
  /// throws Unsupported for the others.
  bool single_on_cuda = false;
  bool single_on_host = false;
};

/// All schedules in the order of the enumeration, `automatic` first.
TASKDAG_API std::span<const SolveScheduleInfo> solve_schedule_catalogue();

/// "auto", "flat", "cells", "level-launch", …: the names that options take.
TASKDAG_API const char* to_string(SolveSchedule schedule);

/// The schedule of that name. @throws InvalidInput with the list of names
TASKDAG_API SolveSchedule solve_schedule_from(const std::string& name);

/// The schedules that a backend can run on any triangle, automatic first; all there are for Backend::automatic. Those
/// that need blocks are in the last list only.
TASKDAG_API std::span<const SolveSchedule> solve_schedules(Backend backend);

}  // namespace taskdag
