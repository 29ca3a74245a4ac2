/// \file
/// What the command line of taskdag_bench says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskdag/engine/static/order.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/solve_schedule.hpp"
#include "timing.hpp"

namespace taskdag::benchmark {

struct Options {
  bool smoke = false;                    ///< two small problems
  bool table = false;                    ///< the ten of the table alone
  bool all = false;                      ///< every problem, small ones too
  std::vector<std::string> only;         ///< by name, whatever set they are in
  std::vector<SolveSchedule> schedules;  ///< what to measure, in this order
  engine::StaticOptions run;             ///< of the schedule engine
  TimingLimits timing;
  bool transposed = false;
  int rhs = 1;             ///< right-hand sides of one solve
  int hang_seconds = 120;  ///< a step that takes longer is given up, and the program with it
  std::string csv;         ///< files for the rows; empty: none
  std::string json;
  bool resume = false;  ///< leave out what the CSV file has already, and add to it

  std::vector<Precision> precisions;  ///< ilu0, application: of applications, in this order
  bool block_order = false;           ///< ilu0: rows in the order of a block multicolour ordering

  bool study = false;         ///< ata: S and R in place of the schedules
  bool classes = false;       ///< ata: problems by class, with the cases of the paper's figures
  bool sizes = false;         ///< ata: these problems, both rules for the size of tasks, of sweeps and factorisations
  int budget_seconds = 3600;  ///< ata: no measurement begins later

  std::vector<JacobiForm> forms;  ///< jacobi: beside kernels; empty: all, and solves
  bool jacobi_solves = false;     ///< jacobi: solves alone

  // soak
  std::int64_t solves = 100000;
  std::uint64_t seed = 1;

  /// "flat", "engine", "engine controller individual": in rows.
  [[nodiscard]] std::string name_of(SolveSchedule schedule) const {
    std::string name = to_string(schedule);
    if (schedule != SolveSchedule::engine || run == engine::StaticOptions{}) return name;
    return name + " " + engine::to_string(run.scheduler) + " " + engine::to_string(run.dependencies);
  }
};

}  // namespace taskdag::benchmark
