/// \file
/// The part of validate() that looks at one row.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag {

/// Checks a row's offsets, and as validate() does its columns: for who looks at some rows of a large pattern.
/// @pre row_offsets are there
/// @throws InvalidInput
void validate_row(const CsrPattern& pattern, Index row);

}  // namespace taskdag
