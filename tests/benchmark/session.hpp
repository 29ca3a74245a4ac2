/// \file
/// What every part of taskdag_bench shares: the machine, the rows, the failures, and the walk over the problems.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "options.hpp"
#include "problems.hpp"
#include "ratios.hpp"
#include "rivals.hpp"
#include "rows.hpp"
#include "taskdag/context.hpp"
#include "watchdog.hpp"

namespace taskdag::benchmark {

class Session {
 public:
  /// `key`: columns that tell rows apart. @throws DeviceError without a usable GPU
  Session(const Options& options, std::vector<std::string> key);

  /// Calls `visit` with every square problem that the options ask for. What it throws is a failure of that problem.
  void for_each_problem(const std::function<void(const Problem&, const CsrMatrix&)>& visit);

  /// The next step, for the watchdog: if it hangs, `row` is written with status "hung".
  void step(const std::string& what, const Row& row);

  void fail(const std::string& what);

  /// Prints ratios and failures. @returns the exit status: 1 after a failure
  int finish();

  const Options options;
  const Machine machine;
  const Context context;
  const CusparseHandle cusparse;
  Rows rows;
  Ratios ratios;

 private:
  std::vector<std::string> failures_;
  Row current_;
  Watchdog watchdog_;
};

}  // namespace taskdag::benchmark
