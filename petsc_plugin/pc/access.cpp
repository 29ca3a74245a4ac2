#include "pc/access.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "boundary.hpp"
#include "pc/pc_options.hpp"

namespace taskdag::petsc {
namespace {

/// Reads from the database that is on top. The title is another one than PETSc's of a PC: what has been looked at under
/// a title is not shown by -help again.
PetscErrorCode read_top(PC pc, Settings* settings) {
  PetscFunctionBegin;
  const char* prefix = nullptr;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscOptionsBegin(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), prefix, "TaskDAG setter", "PC");
  PetscCall(read_settings(PetscOptionsObject, settings));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reads from a database that holds one option.
PetscErrorCode read_one(PC pc, const char* name, const char* value, Settings* settings) {
  PetscFunctionBegin;
  PetscOptions one = nullptr;
  PetscCall(PetscOptionsCreate(&one));
  PetscErrorCode read = PetscOptionsSetValue(one, name, value);
  if (static_cast<int>(read) == 0) {
    PetscCall(PetscOptionsPush(one));
    read = read_top(pc, settings);
    PetscCall(PetscOptionsPop());
  }
  PetscCall(PetscOptionsDestroy(&one));
  PetscCall(read);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode is_ours(PC pc, bool* ours) {
  PetscFunctionBegin;
  PetscBool same = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCTASKDAG, &same));
  *ours = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_option(PC pc, const char* name, const char* value) {
  PetscFunctionBegin;
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s needs a value", name);
  bool ours = false;
  PetscCall(is_ours(pc, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  const char* prefix = nullptr;
  Settings settings;
  std::string whole;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(guarded([&] {
    settings = settings_of(pc);
    whole = std::string("-") + (prefix ? prefix : "") + (name + 1);
  }));
  PetscCall(read_one(pc, whole.c_str(), value, &settings));
  PetscCall(take_settings(pc, std::move(settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_option(PC pc, const char* name, PetscInt value) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%" PetscInt_FMT, value);
  return set_option(pc, name, text.data());
}

PetscErrorCode set_option(PC pc, const char* name, PetscReal value) {
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "%.17g", value);  // all digits
  return set_option(pc, name, text.data());
}

PetscErrorCode set_option(PC pc, const char* name, PetscBool value) {
  return set_option(pc, name, to_text(value == PETSC_TRUE));
}

}  // namespace taskdag::petsc
