/// \file
/// The table of all options, which declared/table.py declares, and how they are read, set and shown.
#pragma once

#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Whom an option is for: users, experts, or those who compare methods.
enum class Tier { user, expert, study };

/// A set of those who read options: types of the preconditioner, and the readers below.
using Readers = unsigned;
enum Reader : Readers {
#include <taskdag_settings/readers.inc>
};
/// The type as one who reads options.
constexpr Readers reader_of(PCTaskDAGType type) { return 1U << static_cast<unsigned>(type); }

/// Where the settings have the value.
template <class Value>
struct Access {
  Value (*get)(const Settings& settings);
  void (*put)(Settings& settings, Value value);  ///< may throw
};

// The kinds of values that options take.
struct Flag : Access<bool> {};
struct Integer : Access<PetscInt> {
  PetscInt least;
  PetscInt most;
};
struct Real : Access<PetscReal> {
  bool (*valid)(PetscReal value);  ///< of a finite one
};
struct Word : Access<PetscInt> {
  std::vector<const char*> words;  ///< the value is an index of one of them
  PetscInt alone = -1;             ///< that of the option without a value; below 0: it needs one
};
struct Text : Access<const char*> {
  bool is_file = false;      ///< may be empty: none
  bool is_ordering = false;  ///< is auto, or registered in PETSc
};

/// What the table says of an option beside its values.
struct OptionText {
  const char* name;        ///< with the leading dash, without prefix
  const char* petsc_name;  ///< what PETSc's own preconditioner of this kind calls it; or null
  const char* function;    ///< the setter; or null
  Tier tier;
  Readers readers;
  const char* sentence;       ///< what it is
  std::string more;           ///< what -help says behind that
  const char* default_value;  ///< in documents, where the initial value does not say it; or null
};

/// One row of the table.
struct Option : OptionText {
  std::string range;  ///< the values that are accepted
  std::variant<Flag, Integer, Real, Word, Text> value;
};

/// The whole table. May throw.
const std::vector<Option>& option_table();
/// The row of an option with that name, or null. May throw.
const Option* find_option(const std::string& name);

/// Writes the options of a tier as a Markdown table. May throw.
void write_option_table(std::ostream& out, Tier tier);

/// Sets an option to what a user wrote. @returns PETSC_ERR_ARG_OUTOFRANGE with "OPTION must be RANGE, not "TEXT"" for
/// other values; the settings are as they were then
PetscErrorCode put_text(const Option& option, const char* text, Settings* settings);

/// Reads the options that one of `readers` reads, inside PetscOptionsBegin(); -help shows them. What is not given
/// stays.
PetscErrorCode read_options(OptionItems items, Readers readers, Settings* settings);
/// Reads those of one reader under its title, PETSc prints the help under each title once, and with a prefix, which may
/// be null.
PetscErrorCode read_titled(const char* prefix, Reader reader, Settings* settings);
/// Reads those of one tier that the type reads, which `type_of` tells at each, inside PetscOptionsBegin(). -help shows
/// those of other types, too, which are not read: -options_left names them where they are given.
PetscErrorCode read_tier(OptionItems items, Tier tier, PCTaskDAGType (*type_of)(const Settings&), Settings* settings);

/// A trace is asked for only where there are programs: schedules engine, or another one.
PetscErrorCode check_trace(const SweepSettings& settings, bool has_program);

/// PETSc's shift in force: the chosen one, else none for ILU and positive definite for ICC, as PETSc's own; where
/// -pc_taskdag_icc_shift scaled counts, the one that it replaces.
MatFactorShiftType shift_type_of(const FactorSettings& settings, FactorKind kind);
MatFactorShiftType shift_type_of(const Settings& settings);
/// What the settings mean for a factor: ICC for its types, ILU for all others.
FactorKind kind_of(const Settings& settings);

/// The words one after the other, with commas between.
std::string join(const std::vector<const char*>& words, const char* last = ", ");
/// A number as a user would write it.
std::string number(double value);

}  // namespace taskdag::petsc
