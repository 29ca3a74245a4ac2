// Who keeps what: a preconditioner that PETSc keeps (KSPSetReusePreconditioner(), the lags of SNES) while the matrix
// gets other values, is replaced, or is destroyed. The operator is the matrix of now, whatever the preconditioner
// holds, so the residual that counts is that of now; where PETSc has the same preconditioner, so are the iterations.
#include <petscsnes.h>

#include <array>
#include <cstdlib>
#include <functional>

#include "support.hpp"

namespace taskdag::test {
namespace {

void ok(PetscErrorCode code) { EXPECT_EQ(static_cast<int>(code), 0); }

/// A method with a preconditioner.
struct Kind {
  std::string name;
  std::string method;         ///< options but for the preconditioner's
  std::string ours;           ///< of ours
  std::string petscs;         ///< of the same in PETSc on one rank; empty: there is none
  PetscInt more = 0;          ///< iterations by which the two may differ
  bool symmetric = true;      ///< the matrix
  bool sweeps_by_us = false;  ///< matrices get our MatSOR()
  int most_ranks = 4;         ///< it is for
  /// Steps with a good inverse of a matrix diverge for one that is more than twice as large in some direction.
  bool diverges_by_another_pattern = false;
};

const std::string kCg = "-ksp_type cg ";
const std::string kGmres = "-ksp_type gmres ";
const std::string kRichardson = "-ksp_type richardson -ksp_norm_type none -ksp_max_it 300 ";

std::string type(const std::string& options) {
  return "-pc_type taskdag -pc_taskdag_ordering natural -pc_taskdag_type " + options + " ";
}
std::string jacobi(const std::string& options) { return "-pc_type taskdag -pc_taskdag_type jacobi " + options + " "; }
std::string trick(const std::string& options) { return "-pc_taskdag_eisenstat " + type(options); }
std::string consolidated(const std::string& options) { return "-pc_taskdag_consolidate on " + type(options); }

std::vector<Kind> plain_kinds() {
  const std::string petscs_icc = "-pc_type icc -pc_factor_shift_type none ";
  return {
      {"ilu", kCg, type("ilu"), "-pc_type ilu"},
      {"icc", kCg, type("icc -pc_factor_shift_type none"), petscs_icc},
      {"dilu", kCg, type("dilu"), ""},
      {"dic", kCg, type("dic"), ""},
      {"ilu_gmres", kGmres, type("ilu"), "-pc_type ilu", 0, false},
      {"automatic", kCg, "-pc_type taskdag -pc_taskdag_type auto", ""},
      {"tuned", kCg, "-pc_type taskdag -pc_taskdag_type auto -pc_taskdag_tune", ""},
      {"no_type", kCg, "-pc_type taskdag", ""},
      {"no_type_gmres", kGmres, "-pc_type taskdag", "", 0, false},
      {"package_ilu", kGmres, "-pc_type ilu -pc_factor_mat_solver_type taskdag", "-pc_type ilu", 0, false, false, 1},
      {"package_in_blocks", kGmres, "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag",
       "-pc_type bjacobi -sub_pc_type ilu", 0, false},
      {"sor_in_blocks", kGmres, "-pc_type bjacobi -sub_pc_type taskdag -sub_pc_taskdag_type sor",
       "-pc_type bjacobi -sub_pc_type sor", 0, false},
      {"consolidated_ilu", kGmres, consolidated("ilu"), "-pc_type ilu", 0, false},
      {"consolidated_icc", kCg, consolidated("icc -pc_factor_shift_type none"), petscs_icc},
      {"consolidated_dilu", kGmres, consolidated("dilu"), "", 0, false},
      {"consolidated_dic", kCg, consolidated("dic"), ""}};
}

std::vector<Kind> jacobi_kinds() {
  // Small enough for other values than those that are kept, too.
  const std::string chebyshev =
      "-pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_weights chebyshev -pc_taskdag_jacobi_damping 0.15";
  return {{"jacobi", kCg, jacobi(""), "-pc_type jacobi"},
          {"jacobi_sweeps", kCg, jacobi("-pc_taskdag_jacobi_sweeps 3"), ""},
          {"jacobi_rowmax", kCg, jacobi("-pc_taskdag_jacobi_type rowmax"), "-pc_type jacobi -pc_jacobi_type rowmax"},
          {"jacobi_rowsum", kCg, jacobi("-pc_taskdag_jacobi_type rowsum"), "-pc_type jacobi -pc_jacobi_type rowsum"},
          {"jacobi_rowl1", kCg, jacobi("-pc_taskdag_jacobi_type rowl1"), ""},
          {"jacobi_blocks", kCg, jacobi("-pc_taskdag_jacobi_type block"), ""},
          {"jacobi_block_sweeps", kCg, jacobi("-pc_taskdag_jacobi_type block -pc_taskdag_jacobi_sweeps 2"), ""},
          {"jacobi_steps", kRichardson, jacobi("-pc_taskdag_jacobi_damping 0.3"), ""},
          {"chebyshev_steps", kRichardson, jacobi(chebyshev), "", 0, true, false, 4, true},
          {"block_chebyshev_steps", kRichardson, jacobi("-pc_taskdag_jacobi_type block " + chebyshev), "", 0, true,
           false, 4, true}};
}

std::vector<Kind> sor_kinds() {
  const std::string forward = type("sor -pc_taskdag_sor_local_forward");
  return {{"ssor", kCg, type("sor"), "-pc_type sor"},
          {"ssor_transposed", "-ksp_type bicg ", type("sor"), "-pc_type sor"},
          {"ssor_omega", kCg, type("sor -pc_taskdag_sor_omega 1.3"), "-pc_type sor -pc_sor_omega 1.3"},
          {"sor_gmres", kGmres, forward, "-pc_type sor -pc_sor_local_forward", 0, false},
          {"sor_steps", kRichardson, forward, "-pc_type sor -pc_sor_local_forward", 0, false},
          {"ssor_steps", kRichardson, type("sor -pc_taskdag_sor_its 2"), "-pc_type sor -pc_sor_its 2"},
          {"matsor", kCg, "-pc_type sor", "-pc_type sor", 0, true, true},
          {"matsor_steps", kRichardson, "-pc_type sor", "-pc_type sor", 0, true, true},
          // On several ranks PETSc 3.18's needs an operation that MATAIJ does not have.
          {"matsor_eisenstat", kCg, "-pc_type eisenstat", "-pc_type eisenstat", 0, true, true, 1}};
}

/// PETSc's keeps the diagonal between the halves, which the norms see; ours takes that of the halves.
std::vector<Kind> trick_kinds() {
  std::vector<Kind> kinds = {{"trick_sor", kCg, trick("sor"), "-pc_type eisenstat", 2},
                             {"trick_sor_gmres", kGmres, trick("sor"), "-pc_type eisenstat", 2, false}};
  for (const std::string name : {"dilu", "dic", "ilu", "icc"}) {
    kinds.push_back({"trick_" + name, kCg, trick(name), ""});
    kinds.push_back({"trick_" + name + "_scaled", kCg + "-ksp_norm_type natural ",
                     trick(name) + "-pc_taskdag_eisenstat_scaling symmetric ", ""});
  }
  for (const std::string name : {"dilu", "ilu"})
    kinds.push_back({"trick_" + name + "_gmres", kGmres, trick(name), "", 0, false});
  kinds.push_back({"trick_transposed", "-ksp_type bicg ", trick("sor"), ""});
  return kinds;
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const auto& some : {plain_kinds(), jacobi_kinds(), sor_kinds(), trick_kinds()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Of 168 rows, dominant enough for sweeps without a norm.
OwnedMat make_first(bool symmetric) {
  OwnedMat a =
      make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 14, .ny = 12, .wind = symmetric ? 0.0 : 0.7}));
  ok(MatShift(a, 1.0));
  if (symmetric) ok(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  return a;
}

/// Other values, no multiples of those of before.
void change_values(Mat a) {
  const OwnedVec more = make_vector(a, 2.0);
  PETSC_OK(VecScale(more, 0.2));
  PETSC_OK(MatScale(a, 1.2));
  PETSC_OK(MatDiagonalSet(a, more, ADD_VALUES));
}

OwnedMat with_other_values(Mat a) {
  OwnedMat other;
  ok(MatDuplicate(a, MAT_COPY_VALUES, other.out()));
  change_values(other);
  return other;
}

/// As many rows.
OwnedMat with_another_pattern() {
  OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 4}));
  ok(MatShift(a, 1.5));
  return a;
}

/// What happens to the matrix between two solves.
enum class Change { in_place, in_place_untold, replaced, destroyed, another_pattern };
constexpr std::array kChanges = {Change::in_place, Change::in_place_untold, Change::replaced, Change::destroyed,
                                 Change::another_pattern};
std::string name_of(Change change) {
  constexpr std::array names = {"new values", "new values, nobody told", "replaced", "replaced and destroyed",
                                "replaced by another pattern and destroyed"};
  return names.at(static_cast<std::size_t>(change));
}

/// One KSP, and the matrices that it is given one after the other.
class Story {
 public:
  Story(const Kind& kind, const std::string& pc, bool by_us)
      : by_us_(by_us && kind.sweeps_by_us), symmetric_(kind.symmetric) {
    const ScopedOptions options("-mat_no_inode -ksp_rtol 1e-9 " + kind.method + pc);
    OwnedMat first = make_first(kind.symmetric);
    std::swap(*a_.out(), *first.out());
    ok(KSPCreate(PETSC_COMM_WORLD, ksp_.out()));
    tell();
    ok(KSPSetFromOptions(ksp_));
  }

  /// @returns the iterations, after a look at the residual
  PetscInt solve() {
    const OwnedVec b = make_vector(a_, 1.0);
    const OwnedVec kept = make_vector(a_, 1.0);
    const OwnedVec x = make_vector(a_, 3.0);
    const OwnedVec rest = make_vector(a_, 1.0);
    ok(KSPSolve(ksp_, b, x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    Mat now = nullptr;
    PetscInt iterations = -1;
    PetscReal size = 0.0;
    PetscReal norm = 0.0;
    ok(KSPGetConvergedReason(ksp_, &reason));
    ok(KSPGetIterationNumber(ksp_, &iterations));
    ok(KSPGetOperators(ksp_, &now, nullptr));
    EXPECT_GT(reason, 0);
    EXPECT_EQ(now, a_) << "the operator is the user's";
    EXPECT_EQ(relative_difference(b, kept), 0.0) << "and so is the right-hand side";
    ok(VecNorm(b, NORM_2, &size));
    ok(MatMult(a_, x, rest));
    ok(VecAXPY(rest, -1.0, b));
    ok(VecNorm(rest, NORM_2, &norm));
    EXPECT_LE(norm, 1e-6 * size) << "true residual";
    return iterations;
  }

  /// A solve that an error ends.
  void abandon() {
    const ErrorCapture errors;
    const OwnedVec b = make_vector(a_, 1.0);
    const OwnedVec x = make_vector(a_, 3.0);
    EXPECT_NE(static_cast<int>(KSPSolve(ksp_, b, x)), 0);
  }

  void keep(bool wanted) { ok(KSPSetReusePreconditioner(ksp_, wanted ? PETSC_TRUE : PETSC_FALSE)); }

  void make(Change change) {
    if (change == Change::in_place || change == Change::in_place_untold) change_values(a_);
    if (change == Change::replaced || change == Change::destroyed) take(with_other_values(a_), change);
    if (change == Change::another_pattern) take(with_another_pattern(), change);
    if (change == Change::in_place) tell();
    if (symmetric_) ok(MatSetOption(a_, MAT_SYMMETRIC, PETSC_TRUE));
  }

  /// References to matrices of before.
  [[nodiscard]] PetscInt references_to_old() const {
    PetscInt all = 0;
    for (const OwnedMat& old : old_) {
      PetscInt count = 0;
      ok(PetscObjectGetReference(reinterpret_cast<PetscObject>(static_cast<Mat>(old)), &count));
      all += count - 1;
    }
    return all;
  }

  [[nodiscard]] KSP ksp() const { return ksp_; }

 private:
  void tell() {
    if (by_us_) ok(MatTaskDAGSetSOR(a_, PETSC_TRUE));
    ok(KSPSetOperators(ksp_, a_, a_));
  }
  void take(OwnedMat&& next, Change change) {
    std::swap(*a_.out(), *next.out());
    tell();
    if (change == Change::replaced) old_.push_back(std::move(next));
  }

  bool by_us_;
  bool symmetric_;
  OwnedMat a_;
  std::vector<OwnedMat> old_;
  OwnedKsp ksp_;
};

/// The iterations of a first solve, of two after the change, and of one that sets up again.
std::vector<PetscInt> tell_story(const Kind& kind, const std::string& pc, bool by_us, bool kept, Change change) {
  Story story(kind, pc, by_us);
  std::vector<PetscInt> iterations = {story.solve()};
  story.keep(kept);
  story.make(change);
  iterations.push_back(story.solve());
  iterations.push_back(story.solve());
  // PETSc's blocks of Jacobi keep theirs.
  if (pc.find("bjacobi") == std::string::npos) {
    EXPECT_EQ(story.references_to_old(), 0) << "nobody keeps an old matrix";
  }
  // Once more, the matrix of before gone.
  story.make(Change::destroyed);
  (void)view_text(story.ksp());
  iterations.push_back(story.solve());
  story.keep(false);
  story.make(change);
  iterations.push_back(story.solve());
  return iterations;
}

class WhoKeepsWhat : public testing::TestWithParam<std::tuple<std::string, Kind>> {};
INSTANTIATE_TEST_SUITE_P(All, WhoKeepsWhat,
                         testing::Combine(testing::ValuesIn(backends()), testing::ValuesIn(all_kinds())),
                         [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param).name; });
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

TEST_P(WhoKeepsWhat, TheOperatorIsTheMatrixOfNow) {
  const auto& [backend, kind] = GetParam();
  SKIP_WITHOUT_BACKEND(backend);
  SKIP_UNLESS_RANKS(ranks() <= kind.most_ranks, "fewer ranks");
  const std::string prefix = kind.ours.find("-sub_pc_type taskdag") == std::string::npos ? "-pc" : "-sub_pc";
  const std::string ours = kind.ours + " " + prefix + "_taskdag_backend " + backend;
  for (const bool kept : {true, false}) {
    // Set-ups on several ranks have tests of their own, and ranks that share processors are slow.
    if (!kept && ranks() > 1) continue;
    for (const Change change : kChanges) {
      if (kept && change == Change::another_pattern && kind.diverges_by_another_pattern) continue;
      SCOPED_TRACE(name_of(change) + (kept ? ", kept" : ""));
      const std::vector<PetscInt> found = tell_story(kind, ours, true, kept, change);
      if (kind.petscs.empty() || ranks() > 1) continue;
      const std::vector<PetscInt> expected = tell_story(kind, kind.petscs, false, kept, change);
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_LE(std::abs(found[k] - expected[k]), kind.more) << "solve " << k << ": " << found[k] << " iterations";
    }
  }
}

/// F(x) = A x + x³ − b with its Jacobian, of which the application has one matrix.
struct Nonlinear {
  Mat a;
  Vec b;
  bool symmetric;
};
PetscErrorCode residual_of(SNES /*snes*/, Vec x, Vec f, void* context) {
  const auto& problem = *static_cast<Nonlinear*>(context);
  PetscCall(VecPointwiseMult(f, x, x));
  PetscCall(VecPointwiseMult(f, f, x));
  PetscCall(MatMultAdd(problem.a, x, f, f));
  return VecAXPY(f, -1.0, problem.b);
}
PetscErrorCode jacobian_of(SNES /*snes*/, Vec x, Mat jacobian, Mat /*preconditioner*/, void* context) {
  const auto& problem = *static_cast<Nonlinear*>(context);
  OwnedVec slope;
  PetscCall(VecDuplicate(x, slope.out()));
  PetscCall(VecPointwiseMult(slope, x, x));
  PetscCall(VecScale(slope, 3.0));
  PetscCall(MatCopy(problem.a, jacobian, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalSet(jacobian, slope, ADD_VALUES));
  return MatSetOption(jacobian, MAT_SYMMETRIC, problem.symmetric ? PETSC_TRUE : PETSC_FALSE);
}

/// @returns Newton's steps; −1 where it has not converged
PetscInt newton_steps(bool symmetric, bool by_us, const std::string& options) {
  const ScopedOptions scope("-mat_no_inode -ksp_rtol 1e-9 -snes_rtol 1e-12 -snes_stol 0 " + options);
  const OwnedMat a = make_first(symmetric);
  OwnedMat jacobian;
  const OwnedVec b = make_vector(a, 1.0);
  OwnedVec x;
  Owned<SNES, SNESDestroy> snes;
  ok(MatDuplicate(a, MAT_COPY_VALUES, jacobian.out()));
  if (by_us) ok(MatTaskDAGSetSOR(jacobian, PETSC_TRUE));
  ok(VecDuplicate(b, x.out()));
  ok(VecScale(b, 20.0));
  Nonlinear problem{a, b, symmetric};
  ok(SNESCreate(PETSC_COMM_WORLD, snes.out()));
  ok(SNESSetFunction(snes, nullptr, residual_of, &problem));
  ok(SNESSetJacobian(snes, jacobian, jacobian, jacobian_of, &problem));
  ok(SNESSetFromOptions(snes));
  ok(SNESSolve(snes, nullptr, x));
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  PetscInt steps = -1;
  ok(SNESGetConvergedReason(snes, &reason));
  ok(SNESGetIterationNumber(snes, &steps));
  return reason > 0 ? steps : -1;
}

// A step with an old operator is none of Newton's: there would be more of them.
TEST_P(WhoKeepsWhat, NewtonsStepsAreAsManyWithALag) {
  const auto& [backend, kind] = GetParam();
  SKIP_WITHOUT_BACKEND(backend);
  SKIP_UNLESS_RANKS(ranks() <= kind.most_ranks, "fewer ranks");
  if (kind.method == kRichardson && kind.ours.find(" sor") == std::string::npos)
    GTEST_SKIP() << "Jacobi of another matrix need not converge by itself";
  const std::string prefix = kind.ours.find("-sub_pc_type taskdag") == std::string::npos ? "-pc" : "-sub_pc";
  const std::string ours = kind.method + kind.ours + " " + prefix + "_taskdag_backend " + backend;
  const PetscInt expected = newton_steps(kind.symmetric, false, "-ksp_type gmres -pc_type none");
  ASSERT_GT(expected, 3);
  for (const std::string lag : {"2", "-2"}) {
    SCOPED_TRACE(lag);
    const PetscInt found = newton_steps(kind.symmetric, kind.sweeps_by_us, ours + " -snes_lag_preconditioner " + lag);
    EXPECT_LE(std::abs(found - expected), 1) << found << " steps";
  }
}

/// Ends a solve in its second iteration, as an exception in a monitor does that is written in another language.
PetscErrorCode give_up(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, void* gives_up) {
  return static_cast<PetscErrorCode>(iteration == 1 && *static_cast<bool*>(gives_up) ? PETSC_ERR_USER : 0);
}

/// Solves that an error leaves.
class Abandoned : public testing::TestWithParam<std::tuple<std::string, Kind>> {
 protected:
  void SetUp() override { SKIP_WITHOUT_BACKEND(std::get<0>(GetParam())); }
  static Story begin(bool* gives_up) {
    const auto& [backend, kind] = GetParam();
    Story story(kind, kind.ours + "-pc_taskdag_backend " + backend, true);
    ok(KSPMonitorSet(story.ksp(), give_up, gives_up, nullptr));
    *gives_up = true;
    story.abandon();
    *gives_up = false;
    return story;
  }
};
INSTANTIATE_TEST_SUITE_P(All, Abandoned,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::Values(Kind{"sor", kCg, trick("sor"), ""},
                                                          Kind{"dic", kGmres, trick("dic"), ""},
                                                          Kind{"automatic", kCg, "-pc_type taskdag ", ""})),
                         [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param).name; });

TEST_P(Abandoned, TheNextSolveIsAsIfItWereTheFirst) {
  bool gives_up = false;
  Story story = begin(&gives_up);
  const PetscInt first = story.solve();
  // PETSc counts solves that have begun, and refuses a third one inside two others.
  for (int again = 0; again < 4; ++again) {
    gives_up = true;
    story.abandon();
    gives_up = false;
    EXPECT_EQ(story.solve(), first);
  }
}

TEST_P(Abandoned, ValuesMayChangeThen) {
  for (const Change change : kChanges) {
    for (const bool kept : {true, false}) {
      SCOPED_TRACE(name_of(change) + (kept ? ", kept" : ""));
      bool gives_up = false;
      Story story = begin(&gives_up);
      story.keep(kept);
      story.make(change);
      story.solve();
      EXPECT_EQ(story.references_to_old(), 0);
    }
  }
}

TEST_P(Abandoned, AResetOrTheEndIsClean) {
  for (const bool resets : {true, false}) {
    bool gives_up = false;
    Story story = begin(&gives_up);
    if (!resets) continue;
    for (int again = 0; again < 3; ++again) {
      PETSC_OK(KSPReset(story.ksp()));
      story.make(Change::destroyed);
      story.solve();
      gives_up = true;
      story.abandon();
      gives_up = false;
    }
  }
}

TEST_P(Abandoned, ThePreconditionerMayBecomeAnother) {
  bool gives_up = false;
  Story story = begin(&gives_up);
  PC pc = nullptr;
  PETSC_OK(KSPGetPC(story.ksp(), &pc));
  PETSC_OK(PCSetType(pc, PCJACOBI));
  story.solve();
}

// The operator of the trick belongs to whoever holds it, but works for its preconditioner alone.
TEST_P(Abandoned, AnOperatorThatIsHeldOutlivesItsPreconditioner) {
  if (std::get<1>(GetParam()).name == "automatic") GTEST_SKIP() << "has no operator of its own";
  OwnedMat held;
  {
    bool gives_up = false;
    Story story = begin(&gives_up);
    PETSC_OK(KSPGetOperators(story.ksp(), held.out(), nullptr));
    PETSC_OK(PetscObjectReference(reinterpret_cast<PetscObject>(static_cast<Mat>(held))));
  }
  const OwnedVec v = make_vector(held, 1.0);
  const OwnedVec y = make_vector(held, 1.0);
  const ErrorCapture errors;
  EXPECT_NE(static_cast<int>(MatMult(held, v, y)), 0);
  EXPECT_NE(errors.message().find("is reset"), std::string::npos) << errors.message();
}

class TransposedTrick : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(On, TransposedTrick, testing::ValuesIn(backends()), name_of_backend);

/// What KSPSolveTranspose() says between two solves that succeed; empty: nothing.
std::string solve_transposed(Mat a, const std::string& options) {
  const ScopedOptions scope("-ksp_rtol 1e-9 " + trick("sor") + OnBackend::option() + options);
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec kept = make_vector(a, 1.0);
  const OwnedVec x = make_vector(a, 3.0);
  OwnedKsp ksp;
  ok(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  ok(KSPSetOperators(ksp, a, a));
  ok(KSPSetFromOptions(ksp));
  ok(KSPSolve(ksp, b, x));
  std::string said;
  {
    const ErrorCapture errors;
    (void)KSPSolveTranspose(ksp, b, x);
    said = errors.message();
  }
  EXPECT_EQ(relative_difference(b, kept), 0.0) << "the right-hand side is the user's";
  ok(KSPSolve(ksp, b, x));
  return said;
}

TEST_P(TransposedTrick, IsRefusedUnlessTheMatrixIsKnownToBeSymmetric) {
  for (const std::string& method : {kGmres, kCg}) {
    const OwnedMat a = make_first(true);
    EXPECT_EQ(solve_transposed(a, method), "");
    PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_FALSE));
    EXPECT_NE(solve_transposed(a, method).find("known to be symmetric"), std::string::npos);
  }
  const OwnedMat a = make_first(false);
  const ScopedOptions scope("-ksp_type bicg -ksp_rtol 1e-9 " + trick("sor") + option());
  OwnedKsp ksp;
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec x = make_vector(a, 3.0);
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  const ErrorCapture errors;
  EXPECT_NE(static_cast<int>(KSPSolve(ksp, b, x)), 0);
  EXPECT_NE(errors.message().find("known to be symmetric"), std::string::npos) << errors.message();
}

}  // namespace
}  // namespace taskdag::test
