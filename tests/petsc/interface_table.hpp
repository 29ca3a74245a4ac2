/// \file
/// For each option of the preconditioner's own the setter and the getter that go with it, in terms of text.
#pragma once

#include <petscpc.h>

#include <sstream>
#include <string>
#include <vector>

#include "taskdagpetsc.h"

namespace taskdag::test {

struct InterfaceRow {
  const char* option;
  const char* type;   ///< of the preconditioner, one that reads it
  const char* value;  ///< not the default
  const char* wrong;  ///< not taken; empty: everything is
  PetscErrorCode (*set)(PC pc, const char* value);
  PetscErrorCode (*get)(PC pc, std::string* value);
};

inline std::string as_text(const char* value) { return value; }
inline std::string as_text(PetscInt value) { return std::to_string(value); }
inline std::string as_text(PetscBool value) { return value == PETSC_TRUE ? "true" : "false"; }
inline std::string as_text(PetscReal value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

inline void from_text(const char* text, const char** value) { *value = text; }
inline void from_text(const char* text, PetscInt* value) { *value = static_cast<PetscInt>(std::stoll(text)); }
inline void from_text(const char* text, PetscReal* value) { *value = std::stod(text); }
inline void from_text(const char* text, PetscBool* value) {
  *value = std::string(text) == "true" ? PETSC_TRUE : PETSC_FALSE;
}

template <class Value, PetscErrorCode (*set)(PC, Value)>
PetscErrorCode set_text(PC pc, const char* text) {
  Value value{};
  from_text(text, &value);
  return set(pc, value);
}

template <class Value, PetscErrorCode (*get)(PC, Value*)>
PetscErrorCode get_text(PC pc, std::string* text) {
  Value value{};
  const PetscErrorCode code = get(pc, &value);
  if (static_cast<int>(code) == 0) *text = as_text(value);
  return code;
}

template <class Enum, PetscErrorCode (*set)(PC, Enum), const char* const* names>
PetscErrorCode set_enum(PC pc, const char* text) {
  int place = 0;
  while (names[place] && std::string(names[place]) != text) ++place;
  return set(pc, static_cast<Enum>(place));
}

template <class Enum, PetscErrorCode (*get)(PC, Enum*), const char* const* names>
PetscErrorCode get_enum(PC pc, std::string* text) {
  Enum value{};
  const PetscErrorCode code = get(pc, &value);
  if (static_cast<int>(code) == 0) *text = names[value];
  return code;
}

template <MatSORType sweep>
PetscErrorCode set_sweep(PC pc, const char* /*text*/) {
  return PCSORSetSymmetric(pc, sweep);
}
template <MatSORType sweep>
PetscErrorCode get_sweep(PC pc, std::string* text) {
  MatSORType got{};
  const PetscErrorCode code = PCSORGetSymmetric(pc, &got);
  *text = got == sweep ? "true" : "false";
  return code;
}

inline PetscErrorCode set_its(PC pc, const char* text) { return PCSORSetIterations(pc, std::stoi(text), 1); }
inline PetscErrorCode set_lits(PC pc, const char* text) { return PCSORSetIterations(pc, 1, std::stoi(text)); }
inline PetscErrorCode get_its(PC pc, std::string* text) {
  PetscInt its = 0;
  const PetscErrorCode code = PCSORGetIterations(pc, &its, nullptr);
  *text = as_text(its);
  return code;
}
inline PetscErrorCode get_lits(PC pc, std::string* text) {
  PetscInt its = 0;
  const PetscErrorCode code = PCSORGetIterations(pc, nullptr, &its);
  *text = as_text(its);
  return code;
}

#define TASKDAG_SWEEP_ROW(option, sweep) \
  InterfaceRow { option, "sor", "true", "", set_sweep<sweep>, get_sweep<sweep> }

/// What the plugin's table declares, and what PETSc's own functions of PCSOR set.
inline std::vector<InterfaceRow> interface_table() {
  return {
#include <taskdag_settings/tests.inc>
      {"-pc_taskdag_sor_omega", "sor", "1.5", "2", set_text<PetscReal, PCSORSetOmega>,
       get_text<PetscReal, PCSORGetOmega>},
      {"-pc_taskdag_sor_its", "sor", "3", "0", set_its, get_its},
      {"-pc_taskdag_sor_lits", "sor", "2", "0", set_lits, get_lits},
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_symmetric", SOR_SYMMETRIC_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_backward", SOR_BACKWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_forward", SOR_FORWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_symmetric", SOR_LOCAL_SYMMETRIC_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_backward", SOR_LOCAL_BACKWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_forward", SOR_LOCAL_FORWARD_SWEEP),
  };
}

#undef TASKDAG_SWEEP_ROW

}  // namespace taskdag::test
