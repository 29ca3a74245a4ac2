#include "option_checks.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace taskdag::petsc {
namespace {

/// What stands behind the option, cut off at PETSc's length.
struct Given {
  PetscBool there = PETSC_FALSE;
  std::array<char, PETSC_MAX_PATH_LEN> text{};

  [[nodiscard]] bool empty() const { return text[0] == '\0'; }
};

PetscErrorCode read(OptionItems items, const OptionRow& option, Given* given) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(items->options, items->prefix, option.name, given->text.data(), given->text.size(),
                                  &given->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require(bool condition, const OptionRow& option, const Given& given) {
  PetscFunctionBegin;
  PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not \"%s\"", option.name,
             option.range.c_str(), given.text.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_one_of(const Given& given, std::span<const char* const> words, bool* found) {
  PetscFunctionBegin;
  *found = false;
  for (const char* word : words) {
    PetscBool same = PETSC_FALSE;
    PetscCall(PetscStrcasecmp(given.text.data(), word, &same));
    *found = *found || same == PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode check_word(OptionItems items, const OptionRow& option, std::span<const char* const> words) {
  PetscFunctionBegin;
  Given given;
  bool found = false;
  PetscCall(read(items, option, &given));
  PetscCall(is_one_of(given, words, &found));
  PetscCall(require(!given.there || found, option, given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_int(OptionItems items, const OptionRow& option) {
  PetscFunctionBegin;
  Given given;
  PetscCall(read(items, option, &given));
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(given.text.data(), &end, 10);
  const bool held =
      errno == 0 && value >= std::numeric_limits<PetscInt>::min() && value <= std::numeric_limits<PetscInt>::max();
  PetscCall(require(!given.there || (!given.empty() && *end == '\0' && held), option, given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_real(OptionItems items, const OptionRow& option) {
  PetscFunctionBegin;
  Given given;
  PetscCall(read(items, option, &given));
  char* end = nullptr;
  const double value = std::strtod(given.text.data(), &end);
  PetscCall(require(!given.there || (!given.empty() && *end == '\0' && std::isfinite(value)), option, given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_bool(OptionItems items, const OptionRow& option) {
  PetscFunctionBegin;
  // PETSc's words for truth values.
  constexpr std::array<const char*, 8> words = {"true", "false", "yes", "no", "on", "off", "1", "0"};
  Given given;
  bool found = false;
  PetscCall(read(items, option, &given));
  PetscCall(is_one_of(given, words, &found));
  PetscCall(require(!given.there || given.empty() || found, option, given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_text(OptionItems items, const OptionRow& option) {
  PetscFunctionBegin;
  Given given;
  PetscCall(read(items, option, &given));
  PetscCall(require(!given.there || !given.empty(), option, given));
  PetscCheck(given.text[given.text.size() - 2] == '\0', PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s has %d characters or more: PETSc reads fewer", option.name, static_cast<int>(given.text.size()) - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
