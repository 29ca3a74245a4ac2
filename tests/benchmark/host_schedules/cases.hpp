/// \file
/// The triangles that the host's schedules are compared on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// A lower triangle that can be made.
struct Case {
  std::string set;  ///< real, stencil, erdos-renyi, narrow-band
  std::string name;
  std::function<CsrMatrix()> make;
};

/// The data sets of Böhnlein et al. 2025, section 6.2, in kind: the files of TASKDAG_MATRIX_DIR (none where it is not
/// set) in place of the SuiteSparse collection; `seeds` random triangles of each kind, with the parameters of the
/// paper; and four stencils. `rows`: of a random triangle.
std::vector<Case> list_cases(int seeds, Index rows);

/// The lower triangle with its diagonal. Values are made: the strict part of a row adds up to less than 1 and
/// the diagonal is 1, so that no solution overflows, however deep the triangle.
CsrMatrix take_lower(const CsrMatrix& a);

}  // namespace taskdag::benchmark
