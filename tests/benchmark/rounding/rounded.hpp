/// \file
/// Factors whose entries beside the diagonal are rounded.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// How entries of the unit triangles L and U of a factor L D U are stored. bfloat16: eight bits of a float's fraction.
enum class Storage { in_double, in_single, in_bfloat16 };

const char* to_string(Storage storage);

/// To the nearest, of two the even one.
double rounded(double value, Storage storage);

/// `lu`: L without its unit diagonal, and D U. Rounds the entries of L and of the unit U.
void round_factor(CsrMatrix& lu, Storage storage);

}  // namespace taskdag::benchmark
