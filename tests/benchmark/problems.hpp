/// \file
/// The matrices that the benchmarks run on.
#pragma once

#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

struct Problem {
  std::string name;
  bool in_table = false;   ///< one of the table of rivals that the project's targets are stated on
  bool symmetric = false;  ///< IC(0) makes sense
};

/// The generated problems, then the files of TASKDAG_MATRIX_DIR if it is set.
std::vector<Problem> list_problems();
/// Small ones for the smoke test.
std::vector<Problem> list_smoke_problems();

/// Builds or reads a problem by name. A file with a missing or zero diagonal entry gets one (row sum of absolute
/// values): the benchmarks measure speed on its pattern. `repaired` says whether that happened.
CsrMatrix make_problem(const std::string& name, bool& repaired);

}  // namespace taskdag::benchmark
