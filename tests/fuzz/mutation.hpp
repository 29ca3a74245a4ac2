/// \file
/// Changes of inputs, for compilers without libFuzzer.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace taskdag::fuzz {

/// One of the inputs after one to four changes: bits, bytes, numbers, parts that are left out, doubled or another
/// input's. The same for the same state of `random` on every machine. @pre there are inputs
std::string mutated(const std::vector<std::string>& inputs, std::mt19937_64& random);

}  // namespace taskdag::fuzz
