/// \file
/// A factorisation's options in the library's terms, and point blocks.
#pragma once

#include <string>
#include <vector>

#include "compat.hpp"
#include "settings.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::petsc {

/// The library's options for a factorisation with PETSc's shift conventions; `levels` of fill, which may be at `fill`.
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, Precision precision, const SweepSettings& sweeps);

/// The error for an amount of a shift or a tolerance for zero pivots that there cannot be, however it was set.
PetscErrorCode check_pivoting(const FactorOptions& options);

/// Rows of the blocks that the choice is about; 1: none.
PetscErrorCode wanted_block_size(Mat matrix, PointBlock choice, PetscInt* rows);
/// Whether blocks of so many rows are filled up with zeros that the matrix does not store: those may couple what an
/// ordering of its rows has found not to be.
PetscErrorCode fills_blocks_up(Mat matrix, PetscInt block, bool* fills);
/// Why blocks of so many rows cannot be taken as one in this order of rows, which may be empty; nothing where they can.
std::string reason_against_blocks(const std::vector<Index>& order, PetscInt block);
/// The error where there is a reason against blocks that are asked for.
PetscErrorCode check_point_block(PointBlock choice, const std::string& reason);

}  // namespace taskdag::petsc
