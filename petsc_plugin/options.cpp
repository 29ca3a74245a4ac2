#include "options.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <sstream>

#include "boundary.hpp"

namespace taskdag::petsc {
namespace {

// In the order of the enumerations that they stand for.
constexpr std::array<const char*, 4> type_names = {"ilu", "icc", "jacobi", "sor"};
constexpr std::array<const char*, 3> backend_names = {"auto", "cuda", "host"};
constexpr std::array<const char*, 2> fill_names = {"all", "blocks"};
constexpr std::array<const char*, 3> jacobi_type_names = {"diagonal", "rowmax", "rowsum"};

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// All schedules: which a backend has is known when the backend is.
std::string schedule_names() {
  std::string names;
  for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(schedule));
  }
  return names;
}

OptionRow row(OptionId id) {
  const Settings defaults;
  switch (id) {
    case OptionId::type:
      return {id, "-pc_taskdag_type", type_names[static_cast<std::size_t>(defaults.type)], "ilu, icc, jacobi",
              "What to do: ILU, ICC or Jacobi sweeps; sor is reserved and refused"};
    case OptionId::backend:
      return {id, "-pc_taskdag_backend", backend_names[static_cast<std::size_t>(defaults.backend.wanted)],
              "auto, cuda, host", "Where to work: cuda, host threads, or chosen by where the data lives and by size"};
    case OptionId::threads:
      return {id, "-pc_taskdag_threads", std::to_string(defaults.backend.threads), "0 or more",
              "Host threads per rank; 0 shares the processors among the ranks of a node"};
    case OptionId::schedule:
      return {id, "-pc_taskdag_schedule", to_string(defaults.sweeps.schedule), schedule_names(),
              "Schedule of the triangular sweeps; those up to cusparse are of cuda, plan and what follows of host, "
              "others of both"};
    case OptionId::tune:
      return {id, "-pc_taskdag_tune", defaults.sweeps.tune ? "true" : "false", "true, false",
              "With schedule auto: time some solves of several schedules at set-up and keep the fastest"};
    case OptionId::tune_file:
      return {id, "-pc_taskdag_tune_file", defaults.sweeps.tune_file.empty() ? "none" : defaults.sweeps.tune_file,
              "a file name", "File that keeps what was found by tuning, for later runs"};
    case OptionId::jacobi_sweeps:
      return {id, "-pc_taskdag_jacobi_sweeps", std::to_string(defaults.jacobi.sweeps), "1 or more",
              "Jacobi sweeps per application"};
    case OptionId::jacobi_damping:
      return {id, "-pc_taskdag_jacobi_damping", number(defaults.jacobi.damping), "finite, not 0",
              "Factor on each Jacobi correction"};
    case OptionId::jacobi_type:
      return {id, "-pc_taskdag_jacobi_type", jacobi_type_names[static_cast<std::size_t>(defaults.jacobi.diagonal)],
              "diagonal, rowmax, rowsum",
              "What Jacobi divides by: the diagonal, a row's largest absolute value or sum of absolute values"};
    case OptionId::jacobi_abs:
      return {id, "-pc_taskdag_jacobi_abs", defaults.jacobi.absolute ? "true" : "false", "true, false",
              "Divide by absolute values"};
    case OptionId::pc_ordering:
      return {id, "-pc_taskdag_ordering", defaults.ordering, "auto, any registered ordering",
              "Ordering of the factor; auto takes taskdag_bmc where a GPU would go through many levels, else natural"};
    case OptionId::ordering:
      return {id, "-pc_factor_mat_ordering_type", "as -pc_taskdag_ordering",
              "any registered ordering, also taskdag_rcm, taskdag_color, taskdag_bmc",
              "PETSc's name for the same choice; -pc_taskdag_ordering counts where both are given"};
    case OptionId::reuse_ordering:
      return {id, "-pc_factor_reuse_ordering", defaults.reuse_ordering ? "true" : "false", "true, false",
              "Keep the ordering when the pattern changes"};
    case OptionId::shift_type:
      return {id, "-pc_factor_shift_type", "NONE for ilu, POSITIVE_DEFINITE for icc",
              "NONE, NONZERO, POSITIVE_DEFINITE, INBLOCKS", "What to do at a zero pivot"};
    case OptionId::shift_amount:
      return {id, "-pc_factor_shift_amount", number(defaults.shift_amount), "0 or more", "Amount of a shift"};
    case OptionId::zero_pivot:
      return {id, "-pc_factor_zeropivot", number(defaults.zero_pivot), "0 or more",
              "A pivot up to this size counts as zero"};
    case OptionId::levels:
      return {id, "-pc_factor_levels", std::to_string(defaults.levels), "0 or more", "Levels of fill of ILU and ICC"};
    case OptionId::fill:
      return {id, "-pc_taskdag_fill", fill_names[static_cast<std::size_t>(defaults.fill)], "all, blocks",
              "Where levels of fill may be: anywhere, or inside the blocks of the ordering taskdag_bmc alone"};
    case OptionId::bmc_block_size:
      return {id, "-taskdag_bmc_block_size", "256, less for fewer than 65536 rows", "1 or more",
              "Rows in a block of the ordering taskdag_bmc; without prefix"};
    case OptionId::auto_min_rows:
      return {id, "-taskdag_auto_min_rows", std::to_string(default_auto_min_rows), "0 or more",
              "Rows per rank from which auto sends host data to a GPU; without prefix"};
  }
  return {};
}

template <std::size_t N>
PetscErrorCode read_list(OptionItems PetscOptionsObject, const OptionRow& option,
                         const std::array<const char*, N>& names, PetscInt* value) {
  PetscCall(PetscOptionsEList(option.name, option.help, nullptr, names.data(), static_cast<PetscInt>(N),
                              names[static_cast<std::size_t>(*value)], value, nullptr));
  return PETSC_SUCCESS;
}

PetscErrorCode read_int(OptionItems PetscOptionsObject, const OptionRow& option, PetscInt least, PetscInt* value) {
  PetscCall(PetscOptionsInt(option.name, option.help, nullptr, *value, value, nullptr));
  PetscCheck(*value >= least, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %" PetscInt_FMT,
             option.name, option.range.c_str(), *value);
  return PETSC_SUCCESS;
}

PetscErrorCode read_bool(OptionItems PetscOptionsObject, const OptionRow& option, bool* value) {
  PetscBool flag = to_petsc(*value);
  PetscCall(PetscOptionsBool(option.name, option.help, nullptr, flag, &flag, nullptr));
  *value = flag == PETSC_TRUE;
  return PETSC_SUCCESS;
}

PetscErrorCode read_tolerance(OptionItems PetscOptionsObject, const OptionRow& option, PetscReal* value) {
  PetscCall(PetscOptionsReal(option.name, option.help, nullptr, *value, value, nullptr));
  PetscCheck(std::isfinite(*value) && *value >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %g",
             option.name, option.range.c_str(), *value);
  return PETSC_SUCCESS;
}

PetscErrorCode read_backend(OptionItems PetscOptionsObject, BackendSettings& settings) {
  auto backend = static_cast<PetscInt>(settings.wanted);
  PetscCall(read_list(PetscOptionsObject, row(OptionId::backend), backend_names, &backend));
  settings.wanted = static_cast<Backend>(backend);
  PetscCall(read_int(PetscOptionsObject, row(OptionId::threads), 0, &settings.threads));
  return PETSC_SUCCESS;
}

PetscErrorCode read_text(OptionItems PetscOptionsObject, const OptionRow& option, std::string& value,
                         PetscBool* given) {
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscCall(PetscOptionsString(option.name, option.help, nullptr, value.c_str(), text.data(), text.size(), given));
  if (*given) PetscCall(guarded([&] { value = text.data(); }));
  return PETSC_SUCCESS;
}

PetscErrorCode read_sweeps(OptionItems PetscOptionsObject, SweepSettings& settings) {
  const OptionRow schedule = row(OptionId::schedule);
  std::string name;
  PetscBool given = PETSC_FALSE;
  PetscCall(guarded([&] { name = to_string(settings.schedule); }));
  PetscCall(read_text(PetscOptionsObject, schedule, name, &given));
  if (given) PetscCall(guarded([&] { settings.schedule = solve_schedule_from(name); }));
  PetscCall(read_bool(PetscOptionsObject, row(OptionId::tune), &settings.tune));
  PetscCall(read_text(PetscOptionsObject, row(OptionId::tune_file), settings.tune_file, &given));
  return PETSC_SUCCESS;
}

PetscErrorCode read_fill(OptionItems PetscOptionsObject, FillScope& fill) {
  auto value = static_cast<PetscInt>(fill);
  PetscCall(read_list(PetscOptionsObject, row(OptionId::fill), fill_names, &value));
  fill = static_cast<FillScope>(value);
  return PETSC_SUCCESS;
}

PetscErrorCode read_jacobi(OptionItems PetscOptionsObject, JacobiOptions& jacobi) {
  PetscInt sweeps = jacobi.sweeps;
  PetscCall(read_int(PetscOptionsObject, row(OptionId::jacobi_sweeps), 1, &sweeps));
  jacobi.sweeps = static_cast<int>(sweeps);

  const OptionRow damping = row(OptionId::jacobi_damping);
  PetscCall(PetscOptionsReal(damping.name, damping.help, nullptr, jacobi.damping, &jacobi.damping, nullptr));
  PetscCheck(std::isfinite(jacobi.damping) && jacobi.damping != 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must be %s, not %g", damping.name, damping.range.c_str(), jacobi.damping);

  auto diagonal = static_cast<PetscInt>(jacobi.diagonal);
  PetscCall(read_list(PetscOptionsObject, row(OptionId::jacobi_type), jacobi_type_names, &diagonal));
  jacobi.diagonal = static_cast<JacobiDiagonal>(diagonal);
  PetscCall(read_bool(PetscOptionsObject, row(OptionId::jacobi_abs), &jacobi.absolute));
  return PETSC_SUCCESS;
}

PetscErrorCode read_factor(OptionItems PetscOptionsObject, Settings& settings) {
  const OptionRow ordering = row(OptionId::ordering);
  std::array<char, 256> name{};
  PetscBool given = PETSC_FALSE;
  PetscFunctionList orderings = nullptr;
  PetscCall(MatGetOrderingList(&orderings));
  PetscCall(PetscOptionsFList(ordering.name, ordering.help, "PCFactorSetMatOrderingType", orderings,
                              settings.ordering.c_str(), name.data(), name.size(), &given));
  if (given) PetscCall(guarded([&] { settings.ordering = name.data(); }));
  PetscCall(read_text(PetscOptionsObject, row(OptionId::pc_ordering), settings.ordering, &given));
  PetscCall(read_bool(PetscOptionsObject, row(OptionId::reuse_ordering), &settings.reuse_ordering));

  const OptionRow shift = row(OptionId::shift_type);
  MatFactorShiftType chosen = effective_shift(settings);
  PetscCall(PetscOptionsEnum(shift.name, shift.help, "PCFactorSetShiftType", MatFactorShiftTypes,
                             static_cast<PetscEnum>(chosen), reinterpret_cast<PetscEnum*>(&chosen), &given));
  if (given) {
    settings.shift = chosen;
    settings.shift_chosen = true;
  }
  PetscCall(read_tolerance(PetscOptionsObject, row(OptionId::shift_amount), &settings.shift_amount));
  PetscCall(read_tolerance(PetscOptionsObject, row(OptionId::zero_pivot), &settings.zero_pivot));
  PetscCall(read_int(PetscOptionsObject, row(OptionId::levels), 0, &settings.levels));
  PetscCall(read_fill(PetscOptionsObject, settings.fill));
  return PETSC_SUCCESS;
}

}  // namespace

std::array<OptionRow, option_count> option_table() {
  std::array<OptionRow, option_count> table;
  for (std::size_t i = 0; i < option_count; ++i) table[i] = row(static_cast<OptionId>(i));
  return table;
}

void write_option_table(std::ostream& out) {
  out << "| Option | Default | Values | Meaning |\n|---|---|---|---|\n";
  for (const OptionRow& option : option_table())
    out << "| `" << option.name << "` | " << option.default_value << " | " << option.range << " | " << option.help
        << " |\n";
}

PetscErrorCode read_pc_options(OptionItems PetscOptionsObject, Settings& settings) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "TaskDAG options");
  auto type = static_cast<PetscInt>(settings.type);
  PetscCall(read_list(PetscOptionsObject, row(OptionId::type), type_names, &type));
  settings.type = static_cast<PCTaskDAGType>(type);
  PetscCall(read_backend(PetscOptionsObject, settings.backend));
  PetscCall(read_sweeps(PetscOptionsObject, settings.sweeps));
  PetscCall(read_jacobi(PetscOptionsObject, settings.jacobi));
  PetscCall(read_factor(PetscOptionsObject, settings));
  // Read here for -help only; the values are taken where a backend is chosen and where an ordering is made.
  PetscInt rows = default_auto_min_rows;
  PetscCall(read_auto_min_rows(&rows));
  PetscCall(read_bmc_block_size(&rows));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_factor_options(Mat factor, BackendSettings& backend, SweepSettings& sweeps, FillScope& fill) {
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm(reinterpret_cast<PetscObject>(factor)),
                    reinterpret_cast<PetscObject>(factor)->prefix, "TaskDAG factor options", "Mat");
  PetscCall(read_backend(PetscOptionsObject, backend));
  PetscCall(read_sweeps(PetscOptionsObject, sweeps));
  PetscCall(read_fill(PetscOptionsObject, fill));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_bmc_block_size(PetscInt* rows) {
  PetscFunctionBegin;
  const OptionRow option = row(OptionId::bmc_block_size);
  PetscBool given = PETSC_FALSE;
  *rows = 0;
  // A title of its own: PETSc prints the help under each title once.
  PetscOptionsBegin(PETSC_COMM_SELF, nullptr, "TaskDAG options for all orderings", "Mat");
  PetscCall(PetscOptionsInt(option.name, option.help, nullptr, *rows, rows, &given));
  PetscCheck(!given || *rows >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %" PetscInt_FMT,
             option.name, option.range.c_str(), *rows);
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_auto_min_rows(PetscInt* rows) {
  PetscFunctionBegin;
  const OptionRow option = row(OptionId::auto_min_rows);
  *rows = default_auto_min_rows;
  PetscOptionsBegin(PETSC_COMM_SELF, nullptr, "TaskDAG options for all solvers", "PC");
  PetscCall(read_int(PetscOptionsObject, option, 0, rows));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
