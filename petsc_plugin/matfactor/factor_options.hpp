/// \file
/// A factorisation's options in the library's terms, and the options that PETSc's own preconditioners do not have.
#pragma once

#include <string>
#include <vector>

#include "compat.hpp"
#include "options.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::petsc {

/// The library's options for a factorisation with PETSc's shift conventions; `levels` of fill, which may be at `fill`.
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, Precision precision, const SweepSettings& sweeps);

/// The error for an amount of a shift or a tolerance for zero pivots that there cannot be, however it was set.
PetscErrorCode check_pivoting(const FactorOptions& options);

/// -pc_taskdag_point_block: whether dense blocks of the matrix are taken as one, by factorisations and by SOR.
enum class PointBlock {
  automatic,  ///< those that MATBAIJ and MATSBAIJ store, where nothing is asked for that only scalar rows have
  on,         ///< those, and MATAIJ's with a block size; what they do not have is refused
  off,
};
OptionRow point_block_row();
const char* point_block_name(PointBlock choice);
PetscErrorCode read_point_block(OptionItems items, PointBlock* choice);
/// Rows of the blocks that the choice is about; 1: none.
PetscErrorCode wanted_block_size(Mat matrix, PointBlock choice, PetscInt* rows);
/// Whether blocks of so many rows are filled up with zeros that the matrix does not store: those may couple what an
/// ordering of its rows has found not to be.
PetscErrorCode fills_blocks_up(Mat matrix, PetscInt block, bool* fills);
/// Why blocks of so many rows cannot be taken as one in this order of rows, which may be empty; nothing where they can.
std::string reason_against_blocks(const std::vector<Index>& order, PetscInt block);
/// The error where there is a reason against blocks that are asked for.
PetscErrorCode check_point_block(PointBlock choice, const std::string& reason);

/// -pc_taskdag_fill.
OptionRow fill_row();
const char* fill_name(FillScope fill);
PetscErrorCode read_fill(OptionItems items, FillScope* fill);

/// -pc_taskdag_precision.
OptionRow precision_row();
PetscErrorCode read_precision(OptionItems items, Precision* precision);

}  // namespace taskdag::petsc
