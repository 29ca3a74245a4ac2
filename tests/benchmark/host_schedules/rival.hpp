/// \file
/// A rival from a shared library (rival_interface.h).
#pragma once

#include <memory>
#include <string>

#include "rival_interface.h"

namespace taskdag::benchmark {

/// The functions of a library, which stays loaded.
class Rival {
 public:
  /// @throws std::runtime_error where the file cannot be loaded, or lacks a function
  explicit Rival(const std::string& file);

  decltype(&taskdag_rival_name) name = nullptr;
  decltype(&taskdag_rival_schedule) schedule = nullptr;
  decltype(&taskdag_rival_pack) pack = nullptr;
  decltype(&taskdag_rival_solve) solve = nullptr;
  decltype(&taskdag_rival_free) free = nullptr;
};

}  // namespace taskdag::benchmark
