/// \file
/// What the fuzzers share: the function that each defines, and the end of a run that found something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Takes any bytes. libFuzzer calls it, or corpus_main.cpp. @returns 0, as libFuzzer wants it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace taskdag::fuzz {

/// Ends the program where a property does not hold, as a crash that libFuzzer keeps the input of.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", property);
  std::abort();
}

}  // namespace taskdag::fuzz
