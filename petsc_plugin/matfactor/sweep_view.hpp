/// \file
/// What views say of triangular sweeps, those of a factor and those of SOR.
#pragma once

#include <string>
#include <vector>

#include "mat/rank_view.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::petsc {

/// `Info`: FactorizationInfo, SorInfo.
template <class Info>
std::vector<RankNumber> size_numbers(const Info& sizes) {
  return {{"rows", static_cast<double>(sizes.rows), true},
          {"entries", static_cast<double>(sizes.entries), true},
          {"forward levels", static_cast<double>(sizes.lower_levels), false},
          {"backward levels", static_cast<double>(sizes.upper_levels), false},
          {"MB", static_cast<double>(sizes.bytes) / 1.0e6, true}};
}

inline bool has_ata_flow(SolveSchedule schedule) {
  return schedule == SolveSchedule::ata_concurrency || schedule == SolveSchedule::ata_locality ||
         schedule == SolveSchedule::ata_greedy;
}

/// Lines with their newlines: the schedules, and the flow where one has it.
template <class Info>
std::string schedules_text(const Info& sizes, SolveSchedule wanted, AtaFlow flow) {
  std::string text = std::string("schedules: forward ") + to_string(sizes.lower_schedule) + ", backward " +
                     to_string(sizes.upper_schedule) + (wanted == SolveSchedule::automatic ? " (auto)" : "") + '\n';
  if (has_ata_flow(sizes.lower_schedule) || has_ata_flow(sizes.upper_schedule)) {
    text += std::string("flow of values: ") + to_string(flow) + '\n';
  }
  return text;
}

}  // namespace taskdag::petsc
