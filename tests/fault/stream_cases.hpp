/// \file
/// Orders in which a user may call one object on CUDA: streams, captures, ends of lives.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "fault/trial.hpp"

namespace taskdag::test {

struct StreamCase {
  const char* name;
  void (*run)(Trial& trial);
  bool large = false;  ///< with a matrix that takes long enough to be in flight
};

/// Direct solves on one stream and on several, ends of streams and objects, other devices.
std::span<const StreamCase> direct_cases();
/// Captured solves.
std::span<const StreamCase> captured_cases();

}  // namespace taskdag::test
