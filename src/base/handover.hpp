/// \file
/// Value-encoded hand-over: how a task publishes a double that other tasks wait for, without a flag beside it.
///
/// A slot holds either a result or the bit pattern `kNotYet`, a NaN with a payload that no arithmetic produces. A
/// producer writes the slot once; a consumer reads it until the bits differ from kNotYet. Since the value itself is
/// what is waited for, relaxed atomic loads and stores are enough: nothing else is read on the strength of it.
/// A result that is a NaN is an ordinary result: publishable() moves the one payload that would be mistaken for
/// "not yet" to the default NaN, so that a consumer of a NaN ends.
/// See docs/design.md, invariant 3.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/macros.hpp"

namespace taskdag {

/// A quiet NaN with the sign set and an arbitrary payload.
inline constexpr std::uint64_t kNotYetBits = 0xFFF87A5CDA600001ULL;

#if defined(__CUDA_ARCH__)
TASKDAG_HD std::uint64_t to_bits(double value) { return static_cast<std::uint64_t>(__double_as_longlong(value)); }
TASKDAG_HD double from_bits(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
#else
TASKDAG_HD std::uint64_t to_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
TASKDAG_HD double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
#endif

/// The content of a slot that has not been written yet.
TASKDAG_HD double not_yet() { return from_bits(kNotYetBits); }
TASKDAG_HD bool is_ready(double slot) { return to_bits(slot) != kNotYetBits; }

/// What to store for `result`: itself, except that kNotYet becomes the default quiet NaN.
TASKDAG_HD double publishable(double result) { return is_ready(result) ? result : from_bits(0x7FF8000000000000ULL); }

/// Exponent all ones: NaN or infinity. Bit test, immune to -ffast-math in a host application's flags.
TASKDAG_HD bool is_finite(double value) { return (to_bits(value) & 0x7FF0000000000000ULL) != 0x7FF0000000000000ULL; }

}  // namespace taskdag
