/// \file
/// Right-hand sides for the soak, and the comparison of their solutions.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace taskdag::benchmark {

/// How many kinds of right-hand sides there are.
inline constexpr int kRhsKinds = 10;

/// "random", "NaN", "infinity", …
const char* rhs_kind_name(int kind);

/// `size` values of a kind in [0, kRhsKinds).
std::vector<double> make_rhs(int kind, std::size_t size, std::mt19937_64& random);

/// Whether x is the reference's solution up to rounding: NaN where it is NaN, the same infinity where it is infinite,
/// elsewhere close relative to its largest finite value.
bool same_solution(const std::vector<double>& x, const std::vector<double>& reference);

bool all_finite(const std::vector<double>& x);

}  // namespace taskdag::benchmark
