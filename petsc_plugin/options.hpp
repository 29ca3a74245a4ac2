/// \file
/// The options of the plugin: one table with names, defaults, ranges and help texts, and the functions that read them.
#pragma once

#include <array>
#include <iosfwd>
#include <string>

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

enum class OptionId {
  type,
  backend,
  threads,
  schedule,
  tune,
  tune_file,
  jacobi_sweeps,
  jacobi_damping,
  jacobi_type,
  jacobi_abs,
  pc_ordering,
  ordering,
  reuse_ordering,
  shift_type,
  shift_amount,
  zero_pivot,
  levels,
  fill,
  bmc_block_size,
  auto_min_rows,
};
inline constexpr std::size_t option_count = 20;

struct OptionRow {
  OptionId id;
  const char* name;           ///< with the leading dash, without prefix
  std::string default_value;  ///< as a user would write it
  std::string range;          ///< the values that are accepted
  const char* help;
};

/// The whole table, in the order of OptionId; the defaults are taken from Settings.
std::array<OptionRow, option_count> option_table();

/// Writes the table as a Markdown table.
void write_option_table(std::ostream& out);

/// Reads the preconditioner's options inside PCSetFromOptions(). Collective on the PC.
/// @returns PETSC_ERR_ARG_OUTOFRANGE for values outside the table's range
PetscErrorCode read_pc_options(OptionItems items, Settings& settings);

/// Reads the options of a factor matrix about backend, threads, schedules and where fill may be under its own prefix.
PetscErrorCode read_factor_options(Mat factor, BackendSettings& backend, SweepSettings& sweeps, FillScope& fill);

/// The value of -taskdag_bmc_block_size; 0: not given.
PetscErrorCode read_bmc_block_size(PetscInt* rows);

/// The value of -taskdag_auto_min_rows.
PetscErrorCode read_auto_min_rows(PetscInt* rows);

}  // namespace taskdag::petsc
