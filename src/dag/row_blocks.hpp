/// \file
/// The check of the offsets of blocks of rows.
#pragma once

#include <optional>
#include <string>

#include "taskdag/row_blocks.hpp"

namespace taskdag {

/// What of the offsets is not as the contract of RowBlocks says, in words; the couplings are not looked at.
std::optional<std::string> find_shape_fault(const RowBlocks& blocks, Index rows);

}  // namespace taskdag
