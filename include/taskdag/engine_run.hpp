/// \file
/// What programs of the task engine have done for a solver.
#pragma once

#include <string>

#include "taskdag/engine/report.hpp"

namespace taskdag {

struct EngineRun {
  std::string what;       ///< "numeric factorisation", "application", "forward sweep", "sweeps", …
  engine::Report report;  ///< of all its runs; `slices` is their number
};

}  // namespace taskdag
