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

#define TASKDAG_ROW(option, value, wrong, type, set, get) \
  InterfaceRow { option, value, wrong, set_text<type, set>, get_text<type, get> }
#define TASKDAG_SWEEP_ROW(option, sweep) \
  InterfaceRow { option, "true", "", set_sweep<sweep>, get_sweep<sweep> }

inline std::vector<InterfaceRow> interface_table() {
  using Text = const char*;
  return {
      {"-pc_taskdag_type", "dic", "none", set_enum<PCTaskDAGType, PCTaskDAGSetType, PCTaskDAGTypes>,
       get_enum<PCTaskDAGType, PCTaskDAGGetType, PCTaskDAGTypes>},
      {"-pc_taskdag_backend", "host", "none", set_enum<PCTaskDAGBackend, PCTaskDAGSetBackend, PCTaskDAGBackends>,
       get_enum<PCTaskDAGBackend, PCTaskDAGGetBackend, PCTaskDAGBackends>},
      TASKDAG_ROW("-pc_taskdag_threads", "2", "-1", PetscInt, PCTaskDAGSetThreads, PCTaskDAGGetThreads),
      TASKDAG_ROW("-pc_taskdag_consolidate", "on", "no_such", Text, PCTaskDAGSetConsolidate, PCTaskDAGGetConsolidate),
      TASKDAG_ROW("-pc_taskdag_consolidate_ranks", "2", "-1", PetscInt, PCTaskDAGSetConsolidateRanks,
                  PCTaskDAGGetConsolidateRanks),
      TASKDAG_ROW("-pc_taskdag_schedule", "plan", "no_such", Text, PCTaskDAGSetSchedule, PCTaskDAGGetSchedule),
      TASKDAG_ROW("-pc_taskdag_tune", "true", "", PetscBool, PCTaskDAGSetTune, PCTaskDAGGetTune),
      TASKDAG_ROW("-pc_taskdag_tune_file", "tune.json", "", Text, PCTaskDAGSetTuneFile, PCTaskDAGGetTuneFile),
      TASKDAG_ROW("-pc_taskdag_ata_flow", "push", "no_such", Text, PCTaskDAGSetATAFlow, PCTaskDAGGetATAFlow),
      TASKDAG_ROW("-pc_taskdag_ata_size", "warps_and_levels", "no_such", Text, PCTaskDAGSetATASize,
                  PCTaskDAGGetATASize),
      TASKDAG_ROW("-pc_taskdag_ata_rows_share_warps", "false", "", PetscBool, PCTaskDAGSetATARowsShareWarps,
                  PCTaskDAGGetATARowsShareWarps),
      TASKDAG_ROW("-pc_taskdag_one_block_rows", "500", "-2", PetscInt, PCTaskDAGSetOneBlockRows,
                  PCTaskDAGGetOneBlockRows),
      TASKDAG_ROW("-pc_taskdag_factor_schedule", "engine", "no_such", Text, PCTaskDAGSetFactorSchedule,
                  PCTaskDAGGetFactorSchedule),
      TASKDAG_ROW("-pc_taskdag_engine_scheduler", "timesliced", "no_such", Text, PCTaskDAGSetEngineScheduler,
                  PCTaskDAGGetEngineScheduler),
      TASKDAG_ROW("-pc_taskdag_engine_dependencies", "phases", "no_such", Text, PCTaskDAGSetEngineDependencies,
                  PCTaskDAGGetEngineDependencies),
      TASKDAG_ROW("-pc_taskdag_trace", "trace.json", "", Text, PCTaskDAGSetTrace, PCTaskDAGGetTrace),
      TASKDAG_ROW("-pc_taskdag_ordering", "rcm", "", Text, PCTaskDAGSetOrdering, PCTaskDAGGetOrdering),
      TASKDAG_ROW("-pc_taskdag_bmc_block_size", "32", "-1", PetscInt, PCTaskDAGSetBMCBlockSize,
                  PCTaskDAGGetBMCBlockSize),
      TASKDAG_ROW("-pc_taskdag_icc_shift", "petsc", "no_such", Text, PCTaskDAGSetICCShift, PCTaskDAGGetICCShift),
      TASKDAG_ROW("-pc_taskdag_point_block", "off", "no_such", Text, PCTaskDAGSetPointBlock, PCTaskDAGGetPointBlock),
      TASKDAG_ROW("-pc_taskdag_precision", "single", "no_such", Text, PCTaskDAGSetPrecision, PCTaskDAGGetPrecision),
      TASKDAG_ROW("-pc_taskdag_fill", "blocks", "no_such", Text, PCTaskDAGSetFill, PCTaskDAGGetFill),
      TASKDAG_ROW("-pc_taskdag_eisenstat", "true", "", PetscBool, PCTaskDAGSetEisenstat, PCTaskDAGGetEisenstat),
      TASKDAG_ROW("-pc_taskdag_eisenstat_scaling", "symmetric", "no_such", Text, PCTaskDAGSetEisenstatScaling,
                  PCTaskDAGGetEisenstatScaling),
      TASKDAG_ROW("-pc_taskdag_jacobi_sweeps", "3", "0", PetscInt, PCTaskDAGJacobiSetSweeps, PCTaskDAGJacobiGetSweeps),
      TASKDAG_ROW("-pc_taskdag_jacobi_damping", "0.7", "0", PetscReal, PCTaskDAGJacobiSetDamping,
                  PCTaskDAGJacobiGetDamping),
      TASKDAG_ROW("-pc_taskdag_jacobi_type", "rowl1", "no_such", Text, PCTaskDAGJacobiSetType, PCTaskDAGJacobiGetType),
      TASKDAG_ROW("-pc_taskdag_jacobi_rowl1_scale", "0.25", "1.5", PetscReal, PCTaskDAGJacobiSetRowl1Scale,
                  PCTaskDAGJacobiGetRowl1Scale),
      TASKDAG_ROW("-pc_taskdag_jacobi_abs", "true", "", PetscBool, PCTaskDAGJacobiSetUseAbs, PCTaskDAGJacobiGetUseAbs),
      TASKDAG_ROW("-pc_taskdag_jacobi_weights", "chebyshev", "no_such", Text, PCTaskDAGJacobiSetWeights,
                  PCTaskDAGJacobiGetWeights),
      TASKDAG_ROW("-pc_taskdag_jacobi_form", "kernels", "no_such", Text, PCTaskDAGJacobiSetForm,
                  PCTaskDAGJacobiGetForm),
      TASKDAG_ROW("-pc_taskdag_jacobi_part_entries", "77", "0", PetscInt, PCTaskDAGJacobiSetPartEntries,
                  PCTaskDAGJacobiGetPartEntries),
      TASKDAG_ROW("-pc_taskdag_jacobi_long_row", "99", "-1", PetscInt, PCTaskDAGJacobiSetLongRow,
                  PCTaskDAGJacobiGetLongRow),
      TASKDAG_ROW("-pc_taskdag_jacobi_blocks", "matrix", "no_such", Text, PCTaskDAGJacobiSetBlocks,
                  PCTaskDAGJacobiGetBlocks),
      TASKDAG_ROW("-pc_taskdag_jacobi_block_size", "16", "33", PetscInt, PCTaskDAGJacobiSetBlockSize,
                  PCTaskDAGJacobiGetBlockSize),
      TASKDAG_ROW("-pc_taskdag_sor_omega", "1.5", "2", PetscReal, PCSORSetOmega, PCSORGetOmega),
      TASKDAG_ROW("-pc_taskdag_sor_diagonal_shift", "0.5", "inf", PetscReal, PCTaskDAGSORSetDiagonalShift,
                  PCTaskDAGSORGetDiagonalShift),
      {"-pc_taskdag_sor_its", "3", "0", set_its, get_its},
      {"-pc_taskdag_sor_lits", "2", "0", set_lits, get_lits},
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_symmetric", SOR_SYMMETRIC_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_backward", SOR_BACKWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_forward", SOR_FORWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_symmetric", SOR_LOCAL_SYMMETRIC_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_backward", SOR_LOCAL_BACKWARD_SWEEP),
      TASKDAG_SWEEP_ROW("-pc_taskdag_sor_local_forward", SOR_LOCAL_FORWARD_SWEEP),
  };
}

#undef TASKDAG_ROW
#undef TASKDAG_SWEEP_ROW

}  // namespace taskdag::test
