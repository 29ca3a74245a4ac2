/// \file
/// How much of their work the tests do: less under a sanitizer, which makes everything five to twenty times slower.
#pragma once

#include <vector>

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

/// Numbers of host threads: where races are looked for, more than one, since one thread races with nobody; where errors
/// of memory are, one and several.
inline std::vector<int> host_threads() {
#if defined(__SANITIZE_THREAD__)
  return {3};
#elif defined(__SANITIZE_ADDRESS__)
  return {1, 3};
#else
  return {1, 2, 3, 8};
#endif
}

}  // namespace taskdag::test
