/// \file
/// Patterns of matrices before and after reverse Cuthill–McKee, as rows of CSV to draw: MHive, figure 8.1.
#pragma once

#include <cstdio>
#include <string>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// The head of the rows.
void write_pattern_head(std::FILE* file);

/// How many entries each cell of a grid of 48 × 48 cells over the matrix holds, cells without entries left out: in
/// natural order, and by reverse_cuthill_mckee().
void write_patterns(std::FILE* file, const std::string& name, const CsrMatrix& a);

}  // namespace taskdag::benchmark
