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

/// What has to stand where the reference is not finite: NaN for NaN and the same infinity for an infinity; or, where a
/// schedule rewrites rows before it meets an infinity, anything that is not finite.
enum class NotFinite { same, any };

/// Whether x is the reference's solution up to rounding: close relative to its largest finite value where it is finite.
bool same_solution(const std::vector<double>& x, const std::vector<double>& reference,
                   NotFinite expected = NotFinite::same);

bool all_finite(const std::vector<double>& x);

}  // namespace taskdag::benchmark
