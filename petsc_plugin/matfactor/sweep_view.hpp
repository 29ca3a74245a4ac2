/// \file
/// What views say of triangular sweeps, those of a factor and those of SOR.
#pragma once

#include <string>
#include <vector>

#include "mat/rank_view.hpp"
#include "scalar.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/study.hpp"

namespace taskdag::petsc {

/// Counts of PETSc's numbers. `Info`: FactorizationInfo, SorInfo.
template <class Info>
Info sizes_in_scalars(Info sizes) {
  if (sizes.block_size > 1) sizes.block_size /= reals_per_scalar;
  sizes.rows /= reals_per_scalar;
  sizes.entries /= reals_per_scalar * reals_per_scalar;
  return sizes;
}

template <class Info>
std::vector<RankNumber> size_numbers(const Info& sizes) {
  return {{"rows", static_cast<double>(sizes.rows), true},
          {"entries", static_cast<double>(sizes.entries), true},
          {"forward levels", static_cast<double>(sizes.lower_levels), false},
          {"backward levels", static_cast<double>(sizes.upper_levels), false},
          {"MB", static_cast<double>(sizes.bytes) / 1.0e6, true}};
}

/// `Schedule`: SolveSchedule, FactorSchedule.
template <class Schedule>
bool by_ata(Schedule schedule) {
  return schedule == Schedule::ata_concurrency || schedule == Schedule::ata_locality ||
         schedule == Schedule::ata_greedy;
}

template <class Info>
bool sweeps_by_ata(const Info& sizes) {
  return by_ata(sizes.lower_schedule) || by_ata(sizes.upper_schedule);
}

/// Under self-scheduling rows wait for neighbours, and never share a warp.
template <class Info>
bool sweeps_may_share_warps(const Info& sizes) {
  const auto may = [](SolveSchedule schedule) {
    return by_ata(schedule) || schedule == SolveSchedule::level_launch || schedule == SolveSchedule::level_graph ||
           schedule == SolveSchedule::level_barrier;
  };
  return may(sizes.lower_schedule) || may(sizes.upper_schedule);
}

/// Lines with their newlines: the schedules, and the flow where one has it.
template <class Info>
std::string schedules_text(const Info& sizes, SolveSchedule wanted, const Study& study) {
  std::string text = std::string("schedules: forward ") + to_string(sizes.lower_schedule) + ", backward " +
                     to_string(sizes.upper_schedule) + (wanted == SolveSchedule::automatic ? " (auto)" : "") + '\n';
  if (sweeps_by_ata(sizes)) text += std::string("flow of values: ") + to_string(study.flow) + '\n';
  return text;
}

/// A line with its newline: which rows have a warp.
inline std::string warps_text(const Study& study) {
  return std::string("warps of sweeps: ") + (study.rows_share_warps ? "short rows share them" : "one a row") + '\n';
}

/// A line with its newline: how the tasks of ATA got their size.
inline std::string task_size_text(const Study& study) {
  return std::string("size of tasks: ") + to_string(study.size) + '\n';
}

}  // namespace taskdag::petsc
