#include "options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "boundary.hpp"
#include "taskdag/block_jacobi.hpp"

namespace taskdag::petsc {
namespace {

// What the rows of the table call.

constexpr PetscInt most_of_int = std::numeric_limits<int>::max();

/// "cuda: flat, …; host: plan, …": which a backend has, from the library's catalogue.
std::string schedule_names() {
  const auto names = [](ScheduleRole SolveScheduleInfo::*role) {
    std::vector<const char*> list;
    for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
      if (row.*role != ScheduleRole::absent) list.push_back(row.name);
    }
    return join(list);
  };
  return "; cuda: " + names(&SolveScheduleInfo::cuda) + "; host: " + names(&SolveScheduleInfo::host);
}

/// In the order of the enumeration.
std::vector<const char*> factor_schedule_names() {
  std::vector<const char*> names;
  for (const FactorSchedule schedule : factor_schedules(Backend::automatic)) names.push_back(to_string(schedule));
  return names;
}

std::vector<const char*> type_names() {
  return {
#include <taskdag_settings/type_names.inc>
  };
}

void set_type(Settings& settings, PetscInt index) {
  settings.type = static_cast<PCTaskDAGType>(index);
  settings.type_given = true;
}

// Behind the diagonals comes block Jacobi, which is a preconditioner of its own.
constexpr PetscInt block_jacobi_index = 4;

PetscInt jacobi_type(const Settings& settings) {
  return settings.block_jacobi.used ? block_jacobi_index : static_cast<PetscInt>(settings.jacobi.diagonal);
}

void set_jacobi_type(Settings& settings, PetscInt index) {
  settings.block_jacobi.used = index == block_jacobi_index;
  if (!settings.block_jacobi.used) settings.jacobi.diagonal = static_cast<JacobiDiagonal>(index);
}

constexpr std::array schedulers{engine::Scheduler::megakernel, engine::Scheduler::device_controller,
                                engine::Scheduler::timesliced};

PetscInt scheduler_index(engine::Scheduler scheduler) {
  const auto* const at = std::ranges::find(schedulers, scheduler);
  return at == schedulers.end() ? 0 : static_cast<PetscInt>(at - schedulers.begin());
}

void set_trace(Settings& settings, const char* file) {
  settings.sweeps.trace_file = file;
  settings.sweeps.run.trace = *file != '\0';
}

/// As PETSc's own lists of names.
std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

// The makers of rows.

Option flag(OptionText text, bool (*get)(const Settings&), void (*put)(Settings&, bool)) {
  return {std::move(text), "true, false", Flag{{get, put}}};
}

Option integer(OptionText text, PetscInt least, PetscInt most, const char* range, PetscInt (*get)(const Settings&),
               void (*put)(Settings&, PetscInt)) {
  return {std::move(text), range, Integer{{get, put}, least, most}};
}

Option real(OptionText text, const char* range, bool (*valid)(PetscReal), PetscReal (*get)(const Settings&),
            void (*put)(Settings&, PetscReal)) {
  return {std::move(text), range, Real{{get, put}, valid}};
}

Option word(OptionText text, std::vector<const char*> words, PetscInt (*get)(const Settings&),
            void (*put)(Settings&, PetscInt)) {
  std::string range = join(words);
  return {std::move(text), std::move(range), Word{{get, put}, std::move(words), -1}};
}

Option switch_word(OptionText text, std::vector<const char*> words, PetscInt alone, PetscInt (*get)(const Settings&),
                   void (*put)(Settings&, PetscInt)) {
  std::string range = join(words);
  return {std::move(text), std::move(range), Word{{get, put}, std::move(words), alone}};
}

Option text(OptionText text, const char* range, const char* (*get)(const Settings&),
            void (*put)(Settings&, const char*)) {
  return {std::move(text), range, Text{{get, put}}};
}

Option file(OptionText text, const char* range, const char* (*get)(const Settings&),
            void (*put)(Settings&, const char*)) {
  return {std::move(text), range, Text{{get, put}, true}};
}

Option ordering(OptionText text, const char* range, const char* (*get)(const Settings&),
                void (*put)(Settings&, const char*)) {
  return {std::move(text), range, Text{{get, put}, false, true}};
}

/// Calls act(value). Not std::visit(), whose exception would be a symbol of the plugin.
template <class Act>
auto with_kind(const Option& option, const Act& act) {
  if (const auto* flag = std::get_if<Flag>(&option.value)) return act(*flag);
  if (const auto* integer = std::get_if<Integer>(&option.value)) return act(*integer);
  if (const auto* real = std::get_if<Real>(&option.value)) return act(*real);
  if (const auto* word = std::get_if<Word>(&option.value)) return act(*word);
  return act(*std::get_if<Text>(&option.value));
}

// How the kinds take what a user wrote.

PetscErrorCode refuse(const Option& option, const std::string& range, const char* text) {
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not \"%s\"", option.name, range.c_str(), text);
}

/// The index of a word, whatever the case of its letters; -1: it is none of them.
PetscErrorCode find_word(const std::vector<const char*>& words, const char* text, PetscInt* index) {
  PetscFunctionBegin;
  *index = -1;
  for (std::size_t k = 0; k < words.size() && *index < 0; ++k) {
    PetscBool same = PETSC_FALSE;
    PetscCall(PetscStrcasecmp(text, words[k], &same));
    if (same) *index = static_cast<PetscInt>(k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// No text is true, as PETSc has it.
PetscErrorCode put(const Option& option, const Flag& flag, const char* text, Settings* settings) {
  PetscFunctionBegin;
  std::vector<const char*> words;
  PetscInt index = 0;
  PetscCall(guarded([&] { words = {"true", "yes", "on", "1", "false", "no", "off", "0"}; }));
  if (*text) PetscCall(find_word(words, text, &index));
  if (index < 0) PetscCall(refuse(option, option.range, text));
  flag.put(*settings, index < 4);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put(const Option& option, const Integer& integer, const char* text, Settings* settings) {
  PetscFunctionBegin;
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  const bool held =
      errno == 0 && value >= std::numeric_limits<PetscInt>::min() && value <= std::numeric_limits<PetscInt>::max();
  if (!*text || *end || !held) PetscCall(refuse(option, option.range, text));
  PetscCheck(value >= integer.least && (value <= integer.most || integer.most == most_of_int), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %s", option.name, option.range.c_str(), text);
  PetscCheck(value <= integer.most, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must be %s and at most %" PetscInt_FMT ", not %s", option.name, option.range.c_str(), integer.most,
             text);
  integer.put(*settings, static_cast<PetscInt>(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put(const Option& option, const Real& real, const char* text, Settings* settings) {
  PetscFunctionBegin;
  char* end = nullptr;
  const auto value = static_cast<PetscReal>(std::strtod(text, &end));
  if (!*text || *end || !std::isfinite(value)) PetscCall(refuse(option, option.range, text));
  PetscCheck(real.valid(value), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %g", option.name,
             option.range.c_str(), value);
  real.put(*settings, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put(const Option& option, const Word& word, const char* text, Settings* settings) {
  PetscFunctionBegin;
  PetscInt index = word.alone;
  if (*text || index < 0) PetscCall(find_word(word.words, text, &index));
  if (index < 0) PetscCall(refuse(option, option.range, text));
  PetscCall(guarded([&] { word.put(*settings, index); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The error for what is neither `auto` nor the name of an ordering that is registered.
PetscErrorCode check_ordering(const Option& option, const char* text) {
  PetscFunctionBegin;
  PetscFunctionList registered = nullptr;
  const char** names = nullptr;
  int count = 0;
  PetscInt index = -1;
  std::vector<const char*> words;
  std::string range;
  PetscCall(MatGetOrderingList(&registered));
  PetscCall(PetscFunctionListGet(registered, &names, &count));
  PetscErrorCode listed = guarded([&] {
    words.assign({ordering_auto});
    // Some releases count the null at the end, too.
    for (int k = 0; k < count && names[k]; ++k) words.push_back(names[k]);
    std::sort(words.begin() + 1, words.end(), [](const char* a, const char* b) { return std::string_view(a) < b; });
    range = join(words);
  });
  if (static_cast<int>(listed) == 0) listed = find_word(words, text, &index);
  PetscCall(PetscFree(names));
  PetscCall(listed);
  if (index < 0) PetscCall(refuse(option, range, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put(const Option& option, const Text& value, const char* text, Settings* settings) {
  PetscFunctionBegin;
  if (value.is_ordering)
    PetscCall(check_ordering(option, text));
  else if (!*text)
    PetscCall(refuse(option, option.range, text));
  PetscCheck(std::strlen(text) + 1 < PETSC_MAX_PATH_LEN, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s has %d characters or more: PETSc reads fewer", option.name, PETSC_MAX_PATH_LEN - 1);
  PetscCall(guarded([&] { value.put(*settings, text); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How -help shows the kinds: by PETSc's own functions, which read what put() has taken already.

PetscErrorCode show(OptionItems PetscOptionsObject, const Option& option, const char* help, const Flag& flag,
                    const Settings& now) {
  PetscFunctionBegin;
  const PetscBool current = to_petsc(flag.get(now));
  PetscBool value = current;
  PetscCall(PetscOptionsBool(option.name, help, option.function, current, &value, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show(OptionItems PetscOptionsObject, const Option& option, const char* help, const Integer& integer,
                    const Settings& now) {
  PetscFunctionBegin;
  const PetscInt current = integer.get(now);
  PetscInt value = current;
  // What is chosen by the plugin may be none of the values that are accepted.
  PetscCall(PetscOptionsBoundedInt(option.name, help, option.function, current, &value, nullptr,
                                   std::min(integer.least, current)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show(OptionItems PetscOptionsObject, const Option& option, const char* help, const Real& real,
                    const Settings& now) {
  PetscFunctionBegin;
  const PetscReal current = real.get(now);
  PetscReal value = current;
  PetscCall(PetscOptionsReal(option.name, help, option.function, current, &value, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show(OptionItems PetscOptionsObject, const Option& option, const char* help, const Word& word,
                    const Settings& now) {
  PetscFunctionBegin;
  PetscInt value = word.get(now);
  PetscCall(PetscOptionsEList(option.name, help, option.function, word.words.data(),
                              static_cast<PetscInt>(word.words.size()), word.words[static_cast<std::size_t>(value)],
                              &value, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show(OptionItems PetscOptionsObject, const Option& option, const char* help, const Text& text,
                    const Settings& now) {
  PetscFunctionBegin;
  std::array<char, PETSC_MAX_PATH_LEN> value{};
  PetscFunctionList orderings = nullptr;
  if (text.is_ordering) {
    PetscCall(MatGetOrderingList(&orderings));
    PetscCall(PetscOptionsFList(option.name, help, option.function, orderings, text.get(now), value.data(),
                                value.size(), nullptr));
  } else {
    PetscCall(
        PetscOptionsString(option.name, help, option.function, text.get(now), value.data(), value.size(), nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode show(OptionItems items, const Option& option, const Settings& now) {
  PetscFunctionBegin;
  std::string help;
  Option other;
  PetscCall(guarded([&] {
    help = option.sentence + option.more;
    other = option;
  }));
  PetscCall(with_kind(option, [&](const auto& value) { return show(items, option, help.c_str(), value, now); }));
  if (!option.petsc_name) PetscFunctionReturn(PETSC_SUCCESS);
  other.name = option.petsc_name;
  PetscCall(
      guarded([&] { help = std::string("PETSc's name for ") + option.name + ", which counts where both are given"; }));
  PetscCall(with_kind(other, [&](const auto& value) { return show(items, other, help.c_str(), value, now); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Shows an option as if it was not given, and leaves it to -options_left.
PetscErrorCode show_unread(OptionItems items, const Option& option, const Settings& now) {
  PetscFunctionBegin;
  if (!items->printhelp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscOptions nothing = nullptr;
  PetscCall(PetscOptionsCreate(&nothing));
  PetscOptions given = std::exchange(items->options, nothing);
  const PetscErrorCode shown = show(items, option, now);
  items->options = given;
  PetscCall(PetscOptionsDestroy(&nothing));
  PetscCall(shown);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes what is given under a name of the option.
PetscErrorCode take(OptionItems items, const Option& option, const char* name, Settings* settings) {
  PetscFunctionBegin;
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscBool given = PETSC_FALSE;
  if (!name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(items->options, items->prefix, name, text.data(), text.size(), &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  std::optional<Option> named;  // what is complained of is what the user wrote
  PetscCall(guarded([&] {
    named = option;
    named->name = name;
  }));
  PetscCall(put_text(*named, text.data(), settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where both names are given ours counts.
PetscErrorCode read_option(OptionItems items, const Option& option, Settings* settings) {
  PetscFunctionBegin;
  std::optional<Settings> before;
  if (items->printhelp) PetscCall(guarded([&] { before = *settings; }));
  PetscCall(take(items, option, option.petsc_name, settings));
  PetscCall(take(items, option, option.name, settings));
  if (before) PetscCall(show(items, option, *before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a user would write for the value that the settings have.
std::string value_text(const Option& option, const Settings& settings) {
  struct Writer {
    const Settings& settings;
    std::string operator()(const Flag& flag) const { return flag.get(settings) ? "true" : "false"; }
    std::string operator()(const Integer& integer) const { return std::to_string(integer.get(settings)); }
    std::string operator()(const Real& real) const { return number(real.get(settings)); }
    std::string operator()(const Word& word) const {
      return word.words.at(static_cast<std::size_t>(word.get(settings)));
    }
    std::string operator()(const Text& text) const { return text.get(settings); }
  };
  return with_kind(option, Writer{settings});
}

const char* title_of(Reader reader) {
  switch (reader) {
#include <taskdag_settings/titles.inc>
  }
  return "TaskDAG options";
}

PetscErrorCode get_table(const std::vector<Option>** table) {
  return guarded([&] { *table = &option_table(); });
}

}  // namespace

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = {
#include <taskdag_settings/rows.inc>
  };
  return table;
}

const Option* find_option(const std::string& name) {
  const auto& table = option_table();
  const auto found = std::ranges::find_if(table, [&](const Option& option) { return option.name == name; });
  return found != table.end() ? &*found : nullptr;
}

void write_option_table(std::ostream& out, Tier tier) {
  const Settings initial;
  out << "| Option | Default | Values | What it is |\n|---|---|---|---|\n";
  for (const Option& option : option_table()) {
    if (option.tier != tier) continue;
    std::string value = option.default_value ? option.default_value : value_text(option, initial);
    if (value.empty()) value = "none";
    out << "| `" << option.name << "`";
    if (option.petsc_name) out << ", `" << option.petsc_name << "`";
    out << " | " << value << " | " << option.range << " | " << option.sentence << " |\n";
  }
}

PetscErrorCode put_text(const Option& option, const char* text, Settings* settings) {
  PetscFunctionBegin;
  PetscCall(with_kind(option, [&](const auto& value) { return put(option, value, text, settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_options(OptionItems items, Readers readers, Settings* settings) {
  PetscFunctionBegin;
  const std::vector<Option>* table = nullptr;
  PetscCall(get_table(&table));
  for (const Option& option : *table) {
    if ((option.readers & readers) != 0) PetscCall(read_option(items, option, settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_titled(const char* prefix, Reader reader, Settings* settings) {
  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_SELF, prefix, title_of(reader), "Mat");
  PetscCall(read_options(PetscOptionsObject, reader, settings));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_tier(OptionItems items, Tier tier, PCTaskDAGType (*type_of)(const Settings&), Settings* settings) {
  PetscFunctionBegin;
  constexpr Readers types = by_package - 1;
  const std::vector<Option>* table = nullptr;
  PetscCall(get_table(&table));
  for (const Option& option : *table) {
    if (option.tier != tier) continue;
    if ((option.readers & reader_of(type_of(*settings))) != 0)
      PetscCall(read_option(items, option, settings));
    else if ((option.readers & types) != 0)
      PetscCall(show_unread(items, option, *settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_trace(const SweepSettings& settings, bool has_program) {
  PetscFunctionBegin;
  PetscCheck(!settings.run.trace || has_program || settings.schedule == SolveSchedule::engine ||
                 settings.factor_schedule == FactorSchedule::engine,
             PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_taskdag_trace records programs of the task engine: it needs -pc_taskdag_schedule engine, "
             "-pc_taskdag_factor_schedule engine, or a -pc_taskdag_jacobi_form that is a program");
  PetscFunctionReturn(PETSC_SUCCESS);
}

MatFactorShiftType shift_type_of(const FactorSettings& settings, FactorKind kind) {
  return settings.shift.value_or(kind == FactorKind::ic ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE);
}

MatFactorShiftType shift_type_of(const Settings& settings) { return shift_type_of(settings.factor, kind_of(settings)); }

FactorKind kind_of(const Settings& settings) {
  return settings.type == PC_TASKDAG_ICC || settings.type == PC_TASKDAG_DIC ? FactorKind::ic : FactorKind::ilu;
}

std::string join(const std::vector<const char*>& words, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace taskdag::petsc
