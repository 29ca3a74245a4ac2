#include "krylov_cases.hpp"

#include <algorithm>
#include <cmath>

namespace taskdag::test {
namespace {

/// What the first rank has.
std::string shared(std::string text) {
  auto size = static_cast<int>(text.size());
  EXPECT_EQ(MPI_Bcast(&size, 1, MPI_INT, 0, PETSC_COMM_WORLD), MPI_SUCCESS);
  text.resize(static_cast<std::size_t>(size));
  EXPECT_EQ(MPI_Bcast(text.data(), size, MPI_CHAR, 0, PETSC_COMM_WORLD), MPI_SUCCESS);
  return text;
}

/// FGMRES of older releases keeps the norm of a restart twice: by recurrence, and anew.
std::vector<double> without_repetitions(std::vector<double> history) {
  const auto same = [](double x, double y) { return std::abs(x - y) <= 1e-5 * x; };
  history.erase(std::unique(history.begin(), history.end(), same), history.end());
  return history;
}

}  // namespace

std::string petscs_unless_said(const std::string& options) {
  return (options.find("-taskdag_ksp") == std::string::npos ? "-taskdag_ksp off " : "") + options;
}

void ok(PetscErrorCode code) { ASSERT_EQ(static_cast<int>(code), 0); }

CsrMatrix poisson() { return make_stencil({.stencil = Stencil::five_point, .nx = 33, .ny = 29, .nz = 1}); }
CsrMatrix convection() {
  return make_stencil({.stencil = Stencil::five_point, .nx = 31, .ny = 27, .nz = 1, .wind = 1.5});
}

std::vector<Kind> kinds() {
  return {{"cg", "", true, {"preconditioned", "unpreconditioned", "natural"}},
          {"bcgs", "", false, {"preconditioned"}},
          {"bcgs", "", false, {"unpreconditioned"}, {"right"}},
          {"gmres", "-ksp_gmres_restart 12", false, {"preconditioned"}},
          {"gmres", "-ksp_gmres_restart 12 -ksp_gmres_modifiedgramschmidt", false, {"unpreconditioned"}, {"right"}},
          {"fgmres", "-ksp_gmres_restart 12", false, {"unpreconditioned"}, {"right"}},
          {"minres", "", true, {"preconditioned"}},
          {"richardson", "-ksp_richardson_scale 0.9 -ksp_max_it 200", true, {"preconditioned", "unpreconditioned"}},
          {"chebyshev", "-ksp_chebyshev_eigenvalues 0.05,2.1", true, {"preconditioned", "unpreconditioned"}}};
}

Case make_case(OwnedMat a, const std::string& options) {
  const ScopedOptions scope("-ksp_rtol 1e-8 " + petscs_unless_said(options));
  OwnedVec b = make_vector(a);
  OwnedVec x = make_vector(a, 3.0);
  Case made{std::move(a), {}, std::move(b), std::move(x)};
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, made.ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(made.ksp, made.a, made.a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(made.ksp)), 0);
  return made;
}

Case make_case(const CsrMatrix& csr, MatType type, const std::string& options) {
  return make_case(make_matrix(csr, type), options);
}

Outcome solve_in(const Case& with, const std::string& options) {
  const ScopedOptions scope(petscs_unless_said(options));
  Outcome outcome;
  PetscInt count = 0;
  const PetscReal* history = nullptr;
  PetscReal norm = 0.0;
  const int loops = event_count("TaskDAGKrylov");
  EXPECT_EQ(static_cast<int>(KSPSetResidualHistory(with.ksp, nullptr, 20000, PETSC_TRUE)), 0);
  outcome.code = KSPSolve(with.ksp, with.b, with.x);
  if (static_cast<int>(outcome.code) != 0) return outcome;
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(with.ksp, &outcome.reason)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(with.ksp, &outcome.iterations)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetResidualNorm(with.ksp, &norm)), 0);
  outcome.norm = norm;
  EXPECT_EQ(static_cast<int>(KSPGetResidualHistory(with.ksp, &history, &count)), 0);
  outcome.history.assign(history, history + count);
  outcome.view = shared(view_text(with.ksp));
  outcome.loops = event_count("TaskDAGKrylov") - loops;
  return outcome;
}

Outcome solve_of(const CsrMatrix& csr, MatType type, const std::string& options) {
  return solve_in(make_case(csr, type, options), options);
}

bool is_there(const Outcome& outcome) {
  return outcome.view.find("of this release of PETSc is another one") == std::string::npos;
}

void expect_same(const Outcome& ours, const Outcome& theirs_and_repetitions) {
  Outcome theirs = theirs_and_repetitions;
  theirs.history = without_repetitions(theirs.history);
  EXPECT_GE(ours.loops, 1) << ours.view;  // two where the preconditioner auto takes another one
  EXPECT_EQ(theirs.loops, 0);
  EXPECT_EQ(ours.reason, theirs.reason);
  const double differs = std::abs(static_cast<double>(ours.iterations - theirs.iterations));
  EXPECT_LE(differs, std::max(1.0, 0.02 * static_cast<double>(theirs.iterations))) << theirs.iterations;
  // Rounding grows from iteration to iteration: the first ten tell whether the method is the same.
  const std::size_t common = std::min(ours.history.size(), theirs.history.size());
  ASSERT_GT(common, 0U);
  EXPECT_LE(std::abs(static_cast<double>(ours.history.size()) - static_cast<double>(theirs.history.size())), differs);
  for (std::size_t k = 0; k < std::min<std::size_t>(common, 10); ++k)
    EXPECT_NEAR(ours.history[k], theirs.history[k], 1e-6 * theirs.history[k]) << "iteration " << k;
  EXPECT_EQ(ours.history.back(), ours.norm);
}

PetscInt local_rows(const std::string& split, Index rows) {
  const auto all = static_cast<PetscInt>(rows);
  if (split == "unequal") {  // 1 : 2 : 3 …
    const PetscInt parts = ranks() * (ranks() + 1) / 2;
    const PetscInt mine = all * (rank() + 1) / parts;
    PetscInt before = 0;
    for (int r = 0; r < ranks() - 1; ++r) before += all * (r + 1) / parts;
    return rank() == ranks() - 1 ? all - before : mine;
  }
  const int empty = split == "first" ? 0 : split == "last" ? ranks() - 1 : -1;
  if (split == "one alone") return rank() == 1 ? all : 0;
  if (rank() == empty) return 0;
  const int others = ranks() - 1;
  const int place = rank() - (empty == 0 ? 1 : 0);
  return all / others + (place < static_cast<int>(all % others) ? 1 : 0);
}

std::vector<double> null_vector(Index rows, bool constant) {
  std::vector<double> null(static_cast<std::size_t>(rows), 1.0);
  for (std::size_t i = 0; i < null.size(); ++i) null[i] += constant ? 0.0 : 0.01 * static_cast<double>(i % 37);
  return null;
}

CsrMatrix singular(CsrMatrix a, const std::vector<double>& null) {
  for (std::size_t i = 0; i < null.size(); ++i) {
    double others = 0.0;
    std::size_t diagonal = 0;
    for (auto k = static_cast<std::size_t>(a.row_offsets[i]); k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(a.col_indices[k]);
      if (j == i) diagonal = k;
      if (j != i) others += a.values[k] * null[j];
    }
    a.values[diagonal] = -others / null[i];
  }
  return a;
}

void attach(const Case& with, const std::vector<double>& null, bool constant) {
  OwnedNullSpace owned;
  OwnedVec vector = make_vector(with.a);
  const OwnedVec any = make_vector(with.a, 7.0);
  PetscScalar* elements = nullptr;
  PetscInt first = 0;
  PetscInt end = 0;
  ok(VecGetArrayWrite(vector, &elements));
  ok(VecGetOwnershipRange(vector, &first, &end));
  std::copy(null.begin() + first, null.begin() + end, elements);
  ok(VecRestoreArrayWrite(vector, &elements));
  ok(VecNormalize(vector, nullptr));
  ok(MatNullSpaceCreate(PETSC_COMM_WORLD, constant ? PETSC_TRUE : PETSC_FALSE, constant ? 0 : 1, vector.out(),
                        owned.out()));
  ok(MatSetNullSpace(with.a, owned));
  ok(MatMult(with.a, any, with.b));
}

void expect_no_messages(const Case& with, const std::string& options, const std::array<PetscInt, 3>& iterations) {
  // By PETSc and the plugin so far, sums over ranks among them; the library has none of MPI.
  const auto messages = [] { return petsc_allreduce_ct + petsc_gather_ct + petsc_isend_ct + petsc_send_ct; };
  const ScopedOptions scope(options);
  std::array<double, 3> sent{};
  for (const std::size_t k : {0U, 1U, 2U}) {
    PETSC_OK(KSPSetTolerances(with.ksp, PetscReal(1e-14), PETSC_DEFAULT, PETSC_DEFAULT, iterations[k]));
    const double before = messages();
    PETSC_OK(KSPSolve(with.ksp, with.b, with.x));
    sent[k] = messages() - before;
    PetscInt made = 0;
    PETSC_OK(KSPGetIterationNumber(with.ksp, &made));
    EXPECT_EQ(made, iterations[k]);
  }
  EXPECT_EQ(sent[2], sent[1]);
  EXPECT_GT(sent[2], 0);  // they are counted
}

}  // namespace taskdag::test
