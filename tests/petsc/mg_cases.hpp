/// \file
/// What tests of multigrid with cycles of ours have in common: solves with our cycle in our loop and in PETSc's, held
/// against PETSc's cycle, and what is done to a KSP between solves.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {

/// Options: our cycle in our loop, and in PETSc's.
inline const std::string kInLoop = "-taskdag_mg -taskdag_ksp auto ";
inline const std::string kInPetscs = "-taskdag_mg -taskdag_ksp off ";
/// Bounds of Chebyshev's, in place of estimates.
inline const std::string kBounds = "-mg_levels_ksp_chebyshev_eigenvalues 0.2,2.1 ";

/// The KSP of a matrix, or of a grid.
using MakeCase = std::function<Case(const std::string& options)>;

MakeCase of_blocks(MatType type, const Blocks& blocks);

bool says(const Outcome& outcome, const std::string& words);
/// What is said of cycles and loops.
std::string said_by(const Outcome& outcome);
/// The cycle is; on several ranks, with levels that are dealt out to all.
bool is_ours(const Outcome& outcome);
PC pc_of(const Case& with);

/// Lets PETSc interpolate by the grid of `dm` and not ask it for operators.
void give_grid(const Case& with, DM dm);

/// Our cycle in our loop and in PETSc's, and PETSc's cycle: the same iterations, and the same application. make_petscs:
/// what PETSc's cycle is of.
void expect_same_cycles(const MakeCase& make, const MakeCase& make_petscs, const std::string& options,
                        double tolerance = 1e-12);
void expect_same_cycles(const MakeCase& make, const std::string& options, double tolerance = 1e-12);

/// What is done to a KSP between solves.
using Step = std::function<void(Case&)>;
void nothing(Case& with);
/// Other values, symmetric as before.
void change_values(Case& with);
/// Another matrix of the same type; the one before goes.
Step replaced_by(const CsrMatrix& csr);
/// On the finest level, without PETSc being told.
void change_interpolation(Case& with);
void smooth_more(Case& with);
void keep(Case& with);
void renew(Case& with);
void forget(Case& with);

/// KSPs with PETSc's cycle, with ours in our loop, and with ours in PETSc's, each with its options.
struct Trio {
  std::array<MakeCase, 3> make;
  std::array<std::string, 3> options;
};
/// Compares solves and applications after each step.
void expect_same_steps(const Trio& trio, const std::vector<Step>& steps);
void expect_same_steps(const MakeCase& make, const MakeCase& make_petscs, const std::string& options,
                       const std::vector<Step>& steps);
void expect_same_steps(const MakeCase& make, const std::string& options, const std::vector<Step>& steps);

}  // namespace taskdag::test
