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

/// A line, with its newline.
template <class Info>
std::string schedules_line(const Info& sizes, SolveSchedule wanted) {
  return std::string("schedules: forward ") + to_string(sizes.lower_schedule) + ", backward " +
         to_string(sizes.upper_schedule) + (wanted == SolveSchedule::automatic ? " (auto)" : "") + '\n';
}

}  // namespace taskdag::petsc
