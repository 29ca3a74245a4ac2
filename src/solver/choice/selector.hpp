/// \file
/// The choice of a CUDA schedule from a pattern's features.
#pragma once

#include "kernels/sptrsv/analysis/features.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// A row of more entries takes all lanes of a fetcher by itself, and waits for one batch of operands after the other:
/// cells are not taken then.
inline constexpr Index kLongestRowOfCells = 128;

/// A schedule and what a solve by it is expected to take.
struct ExpectedSchedule {
  SolveSchedule schedule = SolveSchedule::flat;
  double microseconds = 0.0;
};

/// The fastest schedule by features, supernodes and joined levels apart. The same features give the same schedule.
ExpectedSchedule choose_schedule(const kernels::TriangleFeatures& features);

/// Whether supernodes are worth it: `condensed` is what is expected of the triangle that they leave.
bool supernodes_pay(const ExpectedSchedule& usual, const ExpectedSchedule& condensed);

/// Whether joining levels is: `joined` is what is expected of the triangle with joined levels.
bool joining_pays(const ExpectedSchedule& usual, const ExpectedSchedule& joined);

}  // namespace taskdag
