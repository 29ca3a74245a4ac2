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
  std::string set;  ///< real, large, stencil, erdos-renyi, erdos-renyi-dense, narrow-band
  std::string name;
  std::function<CsrMatrix()> make;
};

/// The data sets of Böhnlein et al. 2025, section 6.2, in kind: the files of TASKDAG_MATRIX_DIR (none where it is not
/// set) in place of the SuiteSparse collection; four stencils; and random triangles of each kind with the parameters of
/// the paper, one for each seed of [first_seed, last_seed]. `rows`: of a random triangle.
///
/// Two more that a run has to name: large, the files and what large_cases.hpp generates; and erdos-renyi-dense, twice
/// the paper's probabilities. Its tables list as many entries, without diagonals, as those give, and wavefronts to
/// match.
std::vector<Case> list_cases(int first_seed, int last_seed, Index rows);

/// Whether a run has to name the set.
bool is_extra(const std::string& set);

/// The lower triangle with its diagonal. Values are made: the strict part of a row adds up to less than 1 and
/// the diagonal is 1, so that no solution overflows, however deep the triangle.
CsrMatrix take_lower(const CsrMatrix& a);

}  // namespace taskdag::benchmark
