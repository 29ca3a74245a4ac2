/// \file
/// How much of their work the tests do: less under a sanitizer, which makes everything five to twenty times slower.
#pragma once

namespace taskdag::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// What numbers of tasks and repetitions are divided by.
inline constexpr int kReduction = kSanitized ? 10 : 1;
/// What the sizes of test problems are divided by.
inline constexpr int kSmaller = kSanitized ? 3 : 1;

}  // namespace taskdag::test
