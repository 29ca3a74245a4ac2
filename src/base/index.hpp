/// \file
/// From the project's index type to that of containers.
#pragma once

#include <cstddef>

#include "taskdag/csr.hpp"

namespace taskdag {

/// An index that is not negative, as containers count.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace taskdag
