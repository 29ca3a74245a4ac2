/// \file
/// The command line of taskdag_host_schedules.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace taskdag::benchmark {

struct Options {
  int cores = host::available_threads();
  bool counts = false;          ///< makes schedules and solves nothing
  bool schedule_times = false;  ///< the same, and says how long that took
  std::vector<std::string> sets;
  std::vector<std::string> only;
  std::vector<std::string> groups;
  std::vector<std::string> schedules;
  int first_seed = 1;
  int seeds = 2;  ///< the last one
  Index rows = 100000;
  Repetition repetition;
  double least_flops = 2e5;
  double least_wavefront = -1.0;
  double most_work = 1e300;  ///< rows · wavefronts
  int at_once = 1;           ///< matrices of which everything is made before the first of them is solved
  double seconds = 1e300;
  std::vector<std::string> rivals;
  std::string csv;
  bool append = false;
};

/// @returns false where it is wrong
bool parse(int argc, char** argv, Options& options);

extern const char* const kUsage;

}  // namespace taskdag::benchmark
