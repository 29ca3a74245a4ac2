/// \file
/// Where numbers that go on from solve to solve begin.
#pragma once

#include <cstdint>

namespace taskdag {

/// The first of tickets, solves, exchanges and jobs, which go on from one to the next and wrap at 2^32: what compares
/// them takes that. 0; a test of the wrap sets another one before objects are made (tests/fault/wrap_test.cpp).
inline std::uint32_t first_number = 0;

}  // namespace taskdag
