/// \file
/// What a method's own setters were called with, where PETSc has no getter.
#pragma once

#include <array>
#include <optional>

#include "compat.hpp"

namespace taskdag::petsc {

enum class Setter : std::size_t {
  radius,
  objective,
  happy_tolerance,
  breakdown_tolerance,
  modify_pc,
  scale,
  self_scale,
  minres_radius,
  cg_type,
  count
};

struct SetterCalls {
  static constexpr auto count = static_cast<std::size_t>(Setter::count);
  std::array<std::optional<double>, count> values;  ///< of the last call; 1 where it has no number
  std::array<void (*)(), count> theirs{};           ///< PETSc's functions; null: the method has no such setter

  [[nodiscard]] double value(Setter setter, double otherwise = 0.0) const {
    return values[static_cast<std::size_t>(setter)].value_or(otherwise);
  }
};

/// Puts ours before all setters that the method has; they call PETSc's.
PetscErrorCode watch_setters(KSP ksp, SetterCalls* calls);

}  // namespace taskdag::petsc
