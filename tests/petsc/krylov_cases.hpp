/// \file
/// Solves by Krylov methods for the tests of ours, which compare them with PETSc's. All functions are collective.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "support.hpp"

namespace taskdag::test {

void ok(PetscErrorCode code);

CsrMatrix poisson();
CsrMatrix convection();

/// A method, by PETSc's name.
struct Kind {
  std::string name;
  std::string options = "";
  bool symmetric = true;  ///< the matrix
  std::vector<std::string> norms;
  std::vector<std::string> sides = {"left"};
  /// The options that choose it.
  [[nodiscard]] std::string chosen() const { return "-ksp_type " + name + " " + options; }
};

std::vector<Kind> kinds();

/// Options, as all below.
inline const std::string kOurs = "-taskdag_ksp on ";
/// With PETSc's loop unless they say something else.
std::string petscs_unless_said(const std::string& options);

/// A KSP with what it works on.
struct Case {
  OwnedMat a;
  OwnedKsp ksp;
  OwnedVec b;
  OwnedVec x;
};

/// With PETSc's loop unless the options say something else.
Case make_case(OwnedMat a, const std::string& options);
Case make_case(const CsrMatrix& csr, MatType type, const std::string& options);

/// What a solve left in its KSP.
struct Outcome {
  PetscErrorCode code{};
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  double norm = 0.0;
  std::vector<double> history;
  std::string view;  ///< on all ranks
  int loops = 0;     ///< of ours
};

/// With the options in force; from the x of the case where the KSP takes a guess.
Outcome solve_in(const Case& with, const std::string& options);
Outcome solve_of(const CsrMatrix& csr, MatType type, const std::string& options);

/// Whether the method is one that is compared with PETSc's of this release.
bool is_there(const Outcome& outcome);

/// A solve of ours went as one of PETSc's.
void expect_same(const Outcome& ours, const Outcome& theirs);

/// That a solve with more iterations sends no more messages than one with few: what the third of these numbers needs is
/// what the second one does. The first solve may set up.
void expect_no_messages(const Case& with, const std::string& options, const std::array<PetscInt, 3>& iterations);

/// Of so many rows on this rank: `split` says how they are dealt out, "unequal", "first" or "last" (has none), "one
/// alone".
PetscInt local_rows(const std::string& split, Index rows);

using OwnedNullSpace = Owned<MatNullSpace, MatNullSpaceDestroy>;

std::vector<double> null_vector(Index rows, bool constant);
/// The matrix with that vector in its null space.
CsrMatrix singular(CsrMatrix a, const std::vector<double>& null);
/// Attaches the vector, which is constant or not, and takes a right-hand side that has a solution.
void attach(const Case& with, const std::vector<double>& null, bool constant);

}  // namespace taskdag::test
