#include "options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "boundary.hpp"
#include "option_checks.hpp"

namespace taskdag::petsc {
namespace {

// In the order of the enumeration.
constexpr std::array<const char*, 3> backend_names = {"auto", "cuda", "host"};

/// "cuda: flat, …; host: plan, …": which a backend has, from the library's catalogue.
std::string schedule_names() {
  const auto names = [](ScheduleRole SolveScheduleInfo::*role) {
    std::vector<const char*> list;
    for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
      if (row.*role != ScheduleRole::absent) list.push_back(row.name);
    }
    return join(list);
  };
  return "cuda: " + names(&SolveScheduleInfo::cuda) + "; host: " + names(&SolveScheduleInfo::host);
}

constexpr std::array schedulers{engine::Scheduler::megakernel, engine::Scheduler::device_controller,
                                engine::Scheduler::timesliced};
constexpr std::array<const char*, 3> scheduler_names{"megakernel", "controller", "timesliced"};
// In the order of the enumeration.
constexpr std::array<const char*, 2> ata_flow_names{"pull", "push"};
// In the order of the enumeration.
constexpr std::array<const char*, 2> ata_size_names{"equations", "warps_and_levels"};
// In the order of the enumeration.
constexpr std::array<const char*, 3> dependency_names{"ordered", "individual", "phases"};

/// In the order of the enumeration.
std::vector<const char*> factor_schedule_names() {
  std::vector<const char*> names;
  for (const FactorSchedule schedule : factor_schedules(Backend::automatic)) names.push_back(to_string(schedule));
  return names;
}

std::size_t scheduler_place(const SweepSettings& settings) {
  const auto* const at = std::ranges::find(schedulers, settings.run.scheduler);
  return at == schedulers.end() ? 0 : static_cast<std::size_t>(at - schedulers.begin());
}

struct BackendRows {
  OptionRow backend{"-pc_taskdag_backend", backend_names[static_cast<std::size_t>(BackendSettings{}.wanted)],
                    join(backend_names),
                    "Where to work: cuda, host threads, or chosen by where the data lives and by size"};
  OptionRow threads{"-pc_taskdag_threads", std::to_string(BackendSettings{}.threads), "0 or more",
                    "Host threads per rank; 0 shares the processors among the ranks of a node"};
};

struct SweepRows {
  OptionRow schedule{"-pc_taskdag_schedule", to_string(SweepSettings{}.schedule),
                     "a name in docs/schedules.md, or in -help", "Schedule of the triangular sweeps"};
  OptionRow tune{"-pc_taskdag_tune", to_text(SweepSettings{}.tune), "true, false",
                 "With schedule auto: time some solves of several schedules at set-up and keep the fastest"};
  OptionRow tune_file{"-pc_taskdag_tune_file", "none", "a file name",
                      "File that keeps what was found by tuning, for later runs"};
  OptionRow ata_flow{"-pc_taskdag_ata_flow", to_string(SweepSettings{}.ata_flow), join(ata_flow_names),
                     "With a schedule ata-...: a row reads its operands, or adds to the rows that wait for it"};
  OptionRow ata_size{
      "-pc_taskdag_ata_size", to_string(SweepSettings{}.ata_size), join(ata_size_names),
      "With a schedule or a factor schedule ata-...: rows of a task by the paper's equations, or by what "
      "gives each warp a few rows and each task a few levels"};
  OptionRow ata_rows_share_warps{
      "-pc_taskdag_ata_rows_share_warps", to_text(SweepSettings{}.ata_rows_share_warps), "true, false",
      "With a schedule ata-... or level-...: short rows of one level share a warp, or each row has one"};
  OptionRow one_block_rows{
      "-pc_taskdag_one_block_rows", std::to_string(SweepSettings{}.one_block_rows), "-1 or more",
      "With ilu, icc, dilu, dic on a GPU and the schedule auto: up to so many rows a factor is "
      "made on the host and applied by one thread block, for a short set-up; 0: never; -1: up to " +
          std::to_string(few_rows) + ", and for the first applications alone, where ordering and fill are the default"};
  OptionRow factor_schedule{
      "-pc_taskdag_factor_schedule", to_string(SweepSettings{}.factor_schedule), join(factor_schedule_names()),
      "Who runs the rows of the numeric ILU or ICC; those from level-launch on are on CUDA alone"};
  OptionRow scheduler{"-pc_taskdag_engine_scheduler", scheduler_names[0], join(scheduler_names),
                      "With a schedule engine or a Jacobi form by tasks: who starts tasks"};
  OptionRow dependencies{
      "-pc_taskdag_engine_dependencies", engine::to_string(SweepSettings{}.run.dependencies), join(dependency_names),
      "With a schedule engine: when a task starts: in order, when its predecessors have ended, or when "
      "the level before has"};
  OptionRow trace{
      "-pc_taskdag_trace", "none", "a file name",
      "With a schedule engine or a Jacobi form by tasks: file for the tasks that ran, for Perfetto; a plot of them "
      "beside it (.svg)"};
};

}  // namespace

std::string join(std::span<const char* const> words, const char* last) {
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

const char* to_text(bool value) { return value ? "true" : "false"; }

PetscErrorCode read_list(OptionItems PetscOptionsObject, const OptionRow& option, std::span<const char* const> names,
                         PetscInt* value, PetscBool* given) {
  PetscFunctionBegin;
  PetscCall(check_word(PetscOptionsObject, option, names));
  PetscCall(PetscOptionsEList(option.name, option.help.c_str(), nullptr, names.data(),
                              static_cast<PetscInt>(names.size()), names[static_cast<std::size_t>(*value)], value,
                              given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_int(OptionItems PetscOptionsObject, const OptionRow& option, PetscInt least, PetscInt* value) {
  PetscFunctionBegin;
  PetscCall(check_int(PetscOptionsObject, option));
  PetscCall(PetscOptionsInt(option.name, option.help.c_str(), nullptr, *value, value, nullptr));
  PetscCheck(*value >= least, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %" PetscInt_FMT,
             option.name, option.range.c_str(), *value);
  PetscCheck(*value <= std::numeric_limits<int>::max(), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must be %s and at most %d, not %" PetscInt_FMT, option.name, option.range.c_str(),
             std::numeric_limits<int>::max(), *value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_bool(OptionItems PetscOptionsObject, const OptionRow& option, bool* value) {
  PetscFunctionBegin;
  PetscBool flag = to_petsc(*value);
  PetscCall(check_bool(PetscOptionsObject, option));
  PetscCall(PetscOptionsBool(option.name, option.help.c_str(), nullptr, flag, &flag, nullptr));
  *value = flag == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_tolerance(OptionItems PetscOptionsObject, const OptionRow& option, PetscReal* value) {
  PetscFunctionBegin;
  PetscCall(check_real(PetscOptionsObject, option));
  PetscCall(PetscOptionsReal(option.name, option.help.c_str(), nullptr, *value, value, nullptr));
  PetscCheck(std::isfinite(*value) && *value >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, not %g",
             option.name, option.range.c_str(), *value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_text(OptionItems PetscOptionsObject, const OptionRow& option, std::string* value,
                         PetscBool* given) {
  PetscFunctionBegin;
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscCall(check_text(PetscOptionsObject, option));
  PetscCall(
      PetscOptionsString(option.name, option.help.c_str(), nullptr, value->c_str(), text.data(), text.size(), given));
  if (*given) PetscCall(guarded([&] { *value = text.data(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<OptionRow> backend_rows() {
  const BackendRows rows;
  return {rows.backend, rows.threads};
}

PetscErrorCode read_backend(OptionItems items, BackendSettings* settings) {
  PetscFunctionBegin;
  std::optional<BackendRows> rows;
  PetscCall(guarded([&] { rows.emplace(); }));
  auto backend = static_cast<PetscInt>(settings->wanted);
  PetscCall(read_list(items, rows->backend, backend_names, &backend));
  settings->wanted = static_cast<Backend>(backend);
  PetscCall(read_int(items, rows->threads, 0, &settings->threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<OptionRow> sweep_rows() {
  const SweepRows rows;
  return {rows.schedule,       rows.tune,
          rows.tune_file,      rows.ata_flow,
          rows.ata_size,       rows.ata_rows_share_warps,
          rows.one_block_rows, rows.factor_schedule,
          rows.scheduler,      rows.dependencies,
          rows.trace};
}

PetscErrorCode read_sweeps(OptionItems items, SweepSettings* settings) {
  PetscFunctionBegin;
  std::optional<SweepRows> rows;
  std::string name;
  std::vector<const char*> factor_names;
  PetscBool given = PETSC_FALSE;
  PetscCall(guarded([&] {
    rows.emplace();
    factor_names = factor_schedule_names();
    rows->schedule.help += "; " + schedule_names();
    name = to_string(settings->schedule);
  }));
  PetscCall(read_text(items, rows->schedule, &name, &given));
  if (given) {
    PetscCall(PetscStrtolower(name.data()));  // as PETSc's own lists of names
    PetscCall(guarded([&] { settings->schedule = solve_schedule_from(name); }));
  }
  PetscCall(read_bool(items, rows->tune, &settings->tune));
  PetscCall(read_text(items, rows->tune_file, &settings->tune_file, &given));
  auto ata_flow = static_cast<PetscInt>(settings->ata_flow);
  PetscCall(read_list(items, rows->ata_flow, ata_flow_names, &ata_flow));
  settings->ata_flow = static_cast<AtaFlow>(ata_flow);
  auto ata_size = static_cast<PetscInt>(settings->ata_size);
  PetscCall(read_list(items, rows->ata_size, ata_size_names, &ata_size));
  settings->ata_size = static_cast<AtaSize>(ata_size);
  PetscCall(read_bool(items, rows->ata_rows_share_warps, &settings->ata_rows_share_warps));
  PetscInt one_block_rows = settings->one_block_rows;
  PetscCall(read_int(items, rows->one_block_rows, one_block_decided, &one_block_rows));
  settings->one_block_rows = static_cast<Index>(one_block_rows);
  auto factor_schedule = static_cast<PetscInt>(settings->factor_schedule);
  PetscCall(read_list(items, rows->factor_schedule, factor_names, &factor_schedule));
  settings->factor_schedule = static_cast<FactorSchedule>(factor_schedule);
  auto scheduler = static_cast<PetscInt>(scheduler_place(*settings));
  PetscCall(read_list(items, rows->scheduler, scheduler_names, &scheduler));
  settings->run.scheduler = schedulers.at(static_cast<std::size_t>(scheduler));
  auto dependencies = static_cast<PetscInt>(settings->run.dependencies);
  PetscCall(read_list(items, rows->dependencies, dependency_names, &dependencies));
  settings->run.dependencies = static_cast<engine::Dependencies>(dependencies);
  PetscCall(read_text(items, rows->trace, &settings->trace_file, &given));
  settings->run.trace = !settings->trace_file.empty();
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

const char* scheduler_name(const SweepSettings& settings) { return scheduler_names.at(scheduler_place(settings)); }

OptionRow auto_min_rows_row() {
  return {"-taskdag_auto_min_rows", std::to_string(default_auto_min_rows), "0 or more",
          "Rows per rank from which auto sends host data to a GPU; without prefix"};
}

PetscErrorCode read_auto_min_rows(PetscInt* rows) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  PetscCall(guarded([&] { option = auto_min_rows_row(); }));
  *rows = default_auto_min_rows;
  PetscOptionsBegin(PETSC_COMM_SELF, nullptr, "TaskDAG options for all solvers", "PC");
  PetscCall(read_int(PetscOptionsObject, *option, 0, rows));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

OptionRow mat_sor_row() {
  return {
      "-taskdag_mat_sor", "false", "true, false",
      "MatSOR() of seqaij, seqaijcusparse and seqaijkokkos matrices by our sweeps, for PETSc's own preconditioners sor "
      "and eisenstat; read when the plugin is loaded, without prefix"};
}

PetscErrorCode read_mat_sor(bool* use) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  PetscCall(guarded([&] { option = mat_sor_row(); }));
  PetscOptionsBegin(PETSC_COMM_SELF, nullptr, "TaskDAG options for all matrices", "Mat");
  PetscCall(read_bool(PetscOptionsObject, *option, use));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
