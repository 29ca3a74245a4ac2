/// \file
/// The error for a row without a diagonal entry.
#pragma once

#include <span>

#include "taskdag/csr.hpp"

namespace taskdag {

/// What the rows of a pattern are called in errors: what their matrix' user knows them by.
struct RowNames {
  std::span<const Index> order = {};  ///< the user's number of each row; empty: its own
  bool blocks = false;                ///< they are rows of point blocks
};

/// @throws InvalidInput "row R has no diagonal entry", "block row R has no diagonal entry"
[[noreturn]] void refuse_missing_diagonal(Index row, const RowNames& names = {});

}  // namespace taskdag
