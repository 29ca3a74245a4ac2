#include "pc/access.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "boundary.hpp"
#include "options.hpp"
#include "pc/pc_taskdag.hpp"
#include "pc/types.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Whether the PC is one of this type.
PetscErrorCode is_ours(PC pc, bool* ours) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(is_taskdag(pc, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Change>
PetscErrorCode change_here(PC pc, const char* name, const Change& change) {
  PetscFunctionBegin;
  Settings settings;
  const Option* option = nullptr;
  PetscCall(guarded([&] {
    settings = settings_of(pc);
    option = find_option(name);
  }));
  PetscCall(change(*option, &settings));
  PetscCall(guarded([&] { settle_type(&settings); }));
  PetscCall(take_settings(pc, std::move(settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// change(option, settings) is given a copy, which is taken where it succeeds. A value that is refused on one rank is
/// on all.
template <class Change>
PetscErrorCode change_option(PC pc, const char* name, const Change& change) {
  PetscFunctionBegin;
  bool ours = false;
  PetscCall(is_ours(pc, &ours));
  if (ours) PetscCall(share_error(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), change_here(pc, name, change)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_text(PC pc, const char* name, const char* text) {
  return change_option(pc, name,
                       [&](const Option& option, Settings* settings) { return put_text(option, text, settings); });
}

/// The option, of a PC that has it.
PetscErrorCode find_of(PC pc, const char* name, const void* place, const Option** option) {
  PetscFunctionBegin;
  bool ours = false;
  PetscCall(is_ours(pc, &ours));
  PetscCheck(ours, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
             "the PC is not of type " PCTASKDAG);
  PetscCheck(place, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "there is no place for the value");
  PetscCall(guarded([&] { *option = find_option(name); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The value of an option of that kind.
template <class Kind, class Value>
PetscErrorCode get_of_kind(PC pc, const char* name, Value* value) {
  PetscFunctionBegin;
  const Option* option = nullptr;
  PetscCall(find_of(pc, name, value, &option));
  PetscCall(guarded([&] { *value = static_cast<Value>(std::get_if<Kind>(&option->value)->get(settings_of(pc))); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode set_value(PC pc, const char* name, const char* value) {
  PetscFunctionBegin;
  PetscCall(change_option(pc, name, [&](const Option& option, Settings* settings) {
    PetscFunctionBegin;
    PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s needs a value", name);
    PetscCall(put_text(option, value, settings));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_value(PC pc, const char* name, PetscInt value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, value, 2);
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%" PetscInt_FMT, value);
  PetscCall(set_text(pc, name, text.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_value(PC pc, const char* name, PetscReal value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, value, 2);
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "%.17g", value);  // all digits
  PetscCall(set_text(pc, name, text.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_value(PC pc, const char* name, PetscBool value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, value, 2);
  PetscCall(set_text(pc, name, value == PETSC_TRUE ? "true" : "false"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_place(PC pc, const char* name, const char* enumeration, PetscInt place) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, place, 2);
  PetscCall(change_option(pc, name, [&](const Option& option, Settings* settings) {
    PetscFunctionBegin;
    const Word& word = *std::get_if<Word>(&option.value);
    PetscCheck(place >= 0 && place < static_cast<PetscInt>(word.words.size()), PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "%s %" PetscInt_FMT " is not known", enumeration, place);
    PetscCall(guarded([&] { word.put(*settings, place); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_file(PC pc, const char* name, const char* file) {
  PetscFunctionBegin;
  PetscCall(change_option(pc, name, [&](const Option& option, Settings* settings) {
    if (file && *file) return put_text(option, file, settings);
    return guarded([&] { std::get_if<Text>(&option.value)->put(*settings, ""); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_value(PC pc, const char* name, const char** value) {
  PetscFunctionBegin;
  const Option* option = nullptr;
  PetscCall(find_of(pc, name, value, &option));
  const Word* const word = std::get_if<Word>(&option->value);
  PetscCall(guarded([&] {
    *value = word ? word->words.at(static_cast<std::size_t>(word->get(settings_of(pc))))
                  : std::get_if<Text>(&option->value)->get(settings_of(pc));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_value(PC pc, const char* name, PetscInt* value) { return get_of_kind<Integer>(pc, name, value); }
PetscErrorCode get_value(PC pc, const char* name, PetscReal* value) { return get_of_kind<Real>(pc, name, value); }
PetscErrorCode get_value(PC pc, const char* name, PetscBool* value) { return get_of_kind<Flag>(pc, name, value); }

template <class Enumeration>
PetscErrorCode get_place(PC pc, const char* name, Enumeration* value) {
  return get_of_kind<Word>(pc, name, value);
}
template PetscErrorCode get_place(PC pc, const char* name, PCTaskDAGType* value);
template PetscErrorCode get_place(PC pc, const char* name, PCTaskDAGBackend* value);

}  // namespace taskdag::petsc
