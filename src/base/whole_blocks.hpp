/// \file
/// What complex values in blocks have to be, wherever they lie.
#pragma once

#include <cstdint>
#include <string>

#include "taskdag/csr.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

/// @throws InvalidInput where so many values are no whole blocks of so many rows
inline void require_whole_blocks(std::int64_t values, Index block_size) {
  if (values < 0 || block_size < 1 || values % (std::int64_t{block_size} * block_size) != 0) {
    throw InvalidInput(std::to_string(values) + " complex values are no whole blocks of " + std::to_string(block_size) +
                       " rows");
  }
}

}  // namespace taskdag
