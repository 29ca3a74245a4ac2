/// \file
/// One random case.
#pragma once

#include <string>
#include <vector>

#include "../support.hpp"

namespace taskdag::test {

struct CaseResult {
  std::vector<std::string> faults;  ///< what is wrong, in words
  int set_ups = 0;
  int refused = 0;      ///< set-ups that ended with an error, as PETSc's
  int bad_numbers = 0;  ///< set-ups with a failed reason, as PETSc's
  int compared = 0;     ///< results held against PETSc's
  int unstable = 0;     ///< results that PETSc itself changes a lot where values change in their last bits
  int same_bits = 0;    ///< results held against those with one thread
};

CaseResult run_case(unsigned long seed, bool verbose);

}  // namespace taskdag::test
