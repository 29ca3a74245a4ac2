/// \file
/// Fails the first, second, … internal call of a public call, until the public call has no more of them.
#pragma once

#include <vector>

#include "fault/calls.hpp"
#include "fault/fault.hpp"

namespace taskdag::test {

/// What a public call promises under each failure: the right exception; nothing is held once its objects are gone; the
/// call made again gives bitwise what it gives without failures. Adds a GoogleTest failure for each broken promise.
/// `most`: failures that are tried of each call, evenly spread where there are more.
/// @returns how many were tried
std::int64_t expect_to_survive(const std::vector<Call>& calls, Fault& fault, std::int64_t most);

}  // namespace taskdag::test
