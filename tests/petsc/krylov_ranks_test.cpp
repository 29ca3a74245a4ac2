// Krylov methods as loops of ours on several ranks: what PETSc's loops give on the same ranks.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <tuple>

#include "blocks.hpp"
#include "deadline.hpp"
#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

/// Matrices of this type, on several ranks.
class OnRanks : public testing::Test {
 protected:
  void prepare(const std::string& type) {
    SKIP_UNLESS_RANKS(ranks() > 1, "several ranks");
    const std::string missing = what_is_missing_for(type);
    if (!missing.empty()) GTEST_SKIP() << missing;
    const Outcome any = solve_of(poisson(), type.c_str(), kOurs + "-ksp_type cg -pc_type jacobi");
    if (any.view.find("share a GPU") != std::string::npos) GTEST_SKIP() << any.view;
  }

 private:
  Deadline deadline_;
};

class KrylovRanks : public OnRanks, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { prepare(GetParam()); }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovRanks, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

class KrylovMethodsOnRanks : public OnRanks, public testing::WithParamInterface<std::tuple<std::string, std::size_t>> {
 protected:
  void SetUp() override { prepare(std::get<0>(GetParam())); }
  [[nodiscard]] static MatType type() { return std::get<0>(GetParam()).c_str(); }
  [[nodiscard]] static Kind kind() { return kinds()[std::get<1>(GetParam())]; }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovMethodsOnRanks,
                         testing::Combine(testing::Values(MATAIJ, MATAIJCUSPARSE), testing::Range<std::size_t>(0, 9)),
                         [](const auto& test) {
                           const std::size_t place = std::get<1>(test.param);
                           return std::get<0>(test.param) + "_" + std::to_string(place) + "_" + kinds()[place].name;
                         });

std::vector<std::string> preconditioners(const std::string& type, bool symmetric) {
  std::vector<std::string> list = {"-pc_type none",
                                   "-pc_type jacobi",
                                   "-pc_type taskdag -pc_taskdag_type jacobi",
                                   "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2",
                                   "-pc_type taskdag -pc_taskdag_type ilu",
                                   "-pc_type taskdag -pc_taskdag_type sor"};
  if (symmetric) list.emplace_back("-pc_type taskdag -pc_taskdag_type icc");
  if (type != MATAIJCUSPARSE) return list;  // factors over all ranks are in loops on GPUs
  list.emplace_back("-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_across on");
  if (symmetric)
    list.emplace_back("-pc_type taskdag -pc_taskdag_type dic -pc_taskdag_across on -pc_taskdag_ordering taskdag_bmc");
  return list;
}

/// The same reason and number of iterations everywhere: sums are the same bits on all ranks.
void expect_same_on_all(const Outcome& outcome) {
  std::array<double, 3> most = {static_cast<double>(outcome.reason), static_cast<double>(outcome.iterations),
                                std::isnan(outcome.norm) ? -1.0 : outcome.norm};
  const std::array<double, 3> mine = most;
  EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, most.data(), 3, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(mine, most);
}

bool has(const Outcome& outcome, const std::string& words) { return outcome.view.find(words) != std::string::npos; }
std::string on_all_ranks() { return "loop: by TaskDAG on " + std::to_string(ranks()) + " ranks, "; }

/// Both loops on matrices that make(type) gives. @returns false where there is nothing to compare with
template <class Make>
bool compare(MatType type, const std::string& options, double tolerance, const Make& make) {
  SCOPED_TRACE(options);
  const Case our_case = make_case(make(type), kOurs + options);
  const Outcome ours = solve_in(our_case, kOurs + options);
  if (!is_there(ours)) return false;
  const Case their_case = make_case(make(type), options);
  expect_same(ours, solve_in(their_case, options));
  expect_same_on_all(ours);
  EXPECT_TRUE(has(ours, on_all_ranks())) << ours.view;
  EXPECT_LE(relative_difference(our_case.x, their_case.x), tolerance);
  return true;
}

TEST_P(KrylovMethodsOnRanks, AreThoseOfPetsc) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  for (const std::string& pc : preconditioners(type(), method.symmetric)) {
    for (const std::string& norm : method.norms) {
      for (const std::string& side : method.sides) {
        for (const char* const guess : {"", " -ksp_initial_guess_nonzero"}) {
          const std::string options =
              method.chosen() + " " + pc + " -ksp_norm_type " + norm + " -ksp_pc_side " + side + guess + " ";
          if (!compare(type(), options, 1e-4, [&](MatType of) { return make_matrix(csr, of); }))
            GTEST_SKIP() << "another method in this release";
        }
      }
    }
  }
}

/// Of PETSc's preconditioners those that divide by dense blocks, of each rank's own rows.
TEST_P(KrylovRanks, TakeBlocksOfPetscs) {
  for (const PetscInt size : {3, 4}) {
    for (const std::string pc : {"pbjacobi", "vpbjacobi"}) {
      const std::string options = "-ksp_type bcgs -ksp_rtol 1e-8 -pc_type " + pc + " ";
      SCOPED_TRACE(std::to_string(size) + " rows, " + options);
      std::array<Outcome, 2> outcomes;
      for (const std::size_t ours : {0U, 1U}) {
        OwnedMat a;
        ok(make_blocks(a.out(), type(), {.size = size}));
        if (pc == "vpbjacobi") ok(set_blocks_of_several_sizes(a, 2 * size));
        const std::string all = (ours == 1 ? kOurs : "") + options;
        outcomes[ours] = solve_in(make_case(std::move(a), all), all);
      }
      expect_same(outcomes[1], outcomes[0]);
    }
  }
}

TEST_P(KrylovMethodsOnRanks, MakeAllIterationsWithoutANorm) {
  const Kind method = kind();
  const std::string options =
      method.chosen() + " -pc_type jacobi -ksp_norm_type none -ksp_max_it 7 -ksp_pc_side " + method.sides[0];
  const Case with = make_case(method.symmetric ? poisson() : convection(), type(), kOurs + options);
  const Outcome ours = solve_in(with, kOurs + options);
  if (ours.loops == 0) GTEST_SKIP() << ours.view;
  const Case other = make_case(method.symmetric ? poisson() : convection(), type(), options);
  const Outcome theirs = solve_in(other, options);
  EXPECT_EQ(ours.reason, theirs.reason);
  EXPECT_EQ(ours.iterations, theirs.iterations);
  EXPECT_LE(relative_difference(with.x, other.x), 1e-9);
}

TEST_P(KrylovMethodsOnRanks, WorkWithAnyNumbersOfRows) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  for (const char* const split : {"unequal", "first", "last", "one alone"}) {
    SCOPED_TRACE(split);
    for (const char* const pc :
         {"none", "jacobi", "taskdag -pc_taskdag_type jacobi", "taskdag -pc_taskdag_type ilu",
          "taskdag -pc_taskdag_type sor", "taskdag -pc_taskdag_type ilu -pc_taskdag_across on"}) {
      if (std::string(type()) != MATAIJCUSPARSE && std::string(pc).find("across") != std::string::npos) continue;
      const std::string options = method.chosen() + " -ksp_norm_type " + method.norms[0] + " -ksp_pc_side " +
                                  method.sides[0] + " -pc_type " + pc + " ";
      if (!compare(type(), options, 1e-4,
                   [&](MatType of) { return make_matrix(csr, of, local_rows(split, csr.rows)); }))
        GTEST_SKIP() << "another method in this release";
    }
  }
}

/// Ranks without any neighbour.
TEST_P(KrylovRanks, WorkWithoutCouplings) {
  constexpr Index rows = 300;
  CsrMatrix csr{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    csr.col_indices.push_back(i);
    csr.values.push_back(1.0 + static_cast<double>(i % 5));
    csr.row_offsets.push_back(i + 1);
  }
  compare(type(), "-ksp_type cg -ksp_max_it 3 -pc_type none ", 1e-8, [&](MatType of) { return make_matrix(csr, of); });
}

TEST_P(KrylovMethodsOnRanks, RemoveTheNullSpaceAsPetscsDo) {
  const Kind method = kind();
  for (const bool constant : {true, false}) {
    const CsrMatrix regular =
        make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8, .nz = 1, .wind = method.symmetric ? 0.0 : 1.5});
    const std::vector<double> null = null_vector(regular.rows, constant);
    const CsrMatrix csr = singular(regular, null);
    for (const char* const pc : {"jacobi", "taskdag -pc_taskdag_type jacobi"}) {
      for (const PetscInt local : {PetscInt{PETSC_DECIDE}, local_rows("last", csr.rows)}) {
        const std::string options = method.chosen() + " -ksp_max_it 150 -pc_type " + pc + " -ksp_norm_type " +
                                    method.norms[0] + " -ksp_pc_side " + method.sides[0];
        SCOPED_TRACE(options);
        const Case our_case = make_case(make_matrix(csr, type(), local), kOurs + options);
        const Case their_case = make_case(make_matrix(csr, type(), local), options);
        attach(our_case, null, constant);
        attach(their_case, null, constant);
        const Outcome ours = solve_in(our_case, kOurs + options);
        if (!is_there(ours)) GTEST_SKIP() << ours.view;
        expect_same(ours, solve_in(their_case, options));
        EXPECT_LE(relative_difference(our_case.x, their_case.x), 1e-4);
      }
    }
  }
}

/// Multiplies the matrix by a factor that depends on the row.
void change(const Case& with) {
  const OwnedVec scale = make_vector(with.a, 2.0);
  ok(VecAbs(scale));
  ok(VecShift(scale, 1.5));
  ok(VecSqrtAbs(scale));
  ok(MatDiagonalScale(with.a, scale, scale));
}

/// Another matrix of as many rows on each rank, or of others.
void replace(Case* with, PetscInt local) {
  MatType type = nullptr;
  ok(MatGetType(with->a, &type));
  OwnedMat other =
      make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 29, .ny = 33, .nz = 1}), type, local);
  ok(KSPSetOperators(with->ksp, other, other));
  std::swap(*with->a.out(), *other.out());
}

/// An entry that couples the first rank with the last one, on the first alone: its values are those of a symmetric
/// matrix no more.
void couple(const Case& with) {
  PetscInt rows = 0;
  ok(MatGetSize(with.a, &rows, nullptr));
  ok(MatSetOption(with.a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (rank() == 0) ok(MatSetValue(with.a, 3, rows - 2, 1e-3, INSERT_VALUES));
  ok(MatAssemblyBegin(with.a, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(with.a, MAT_FINAL_ASSEMBLY));
}

TEST_P(KrylovRanks, FollowTheMatrix) {
  const std::vector<void (*)(Case*)> steps = {[](Case*) {},
                                              [](Case*) {},
                                              [](Case* one) { change(*one); },
                                              [](Case* one) { ok(KSPSetReusePreconditioner(one->ksp, PETSC_TRUE)); },
                                              [](Case* one) { change(*one); },
                                              [](Case* one) { couple(*one); },
                                              [](Case* one) { ok(KSPSetReusePreconditioner(one->ksp, PETSC_FALSE)); },
                                              [](Case* one) { replace(one, PETSC_DECIDE); },
                                              [](Case* one) { change(*one); },
                                              [](Case* one) {
                                                ok(KSPReset(one->ksp));
                                                ok(KSPSetOperators(one->ksp, one->a, one->a));
                                              }};
  for (const char* const pc : {"none", "jacobi", "taskdag -pc_taskdag_type jacobi", "taskdag -pc_taskdag_type ilu",
                               "taskdag -pc_taskdag_type sor"}) {
    const std::string options = std::string("-ksp_type gmres -ksp_rtol 1e-8 -pc_type ") + pc + " ";
    SCOPED_TRACE(options);
    Case ours = make_case(poisson(), type(), kOurs + options);
    Case theirs = make_case(poisson(), type(), options);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      SCOPED_TRACE("step " + std::to_string(k));
      for (Case* const one : {&ours, &theirs}) {
        steps[k](one);
        ok(VecSet(one->x, 0.0));
      }
      const Outcome of_theirs = solve_in(theirs, options);
      expect_same(solve_in(ours, kOurs + options), of_theirs);
      EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-4);
    }
  }
}

/// Rows that move from rank to rank, of which some keep their number.
TEST_P(KrylovRanks, FollowOtherNumbersOfRows) {
  for (const char* const pc : {"jacobi", "taskdag -pc_taskdag_type ilu"}) {
    const std::string options = std::string("-ksp_type cg -ksp_rtol 1e-8 -pc_type ") + pc + " ";
    SCOPED_TRACE(options);
    std::array<Case, 2> cases{make_case(poisson(), type(), kOurs + options), make_case(poisson(), type(), options)};
    for (const char* const split : {"unequal", "last", "first"}) {
      SCOPED_TRACE(split);
      std::array<Outcome, 2> outcomes;
      for (const std::size_t k : {0U, 1U}) {
        Case& one = cases[k];
        ok(KSPReset(one.ksp));
        replace(&one, local_rows(split, 29 * 33));
        OwnedVec b = make_vector(one.a);
        OwnedVec x = make_vector(one.a, 3.0);
        std::swap(*one.b.out(), *b.out());
        std::swap(*one.x.out(), *x.out());
        outcomes[k] = solve_in(one, (k == 0 ? kOurs : "") + options);
      }
      expect_same(outcomes[0], outcomes[1]);
      EXPECT_LE(relative_difference(cases[0].x, cases[1].x), 1e-4);
    }
  }
}

TEST_P(KrylovRanks, FollowTheNullSpace) {
  const std::string options = "-ksp_type cg -pc_type taskdag -pc_taskdag_type jacobi ";
  const Case ours = make_case(poisson(), type(), kOurs + options);
  const Case theirs = make_case(poisson(), type(), options);
  for (const bool constant : {true, false, false, true}) {
    SCOPED_TRACE(constant);
    const std::vector<double> null = null_vector(poisson().rows, constant);
    for (const Case* const one : {&ours, &theirs}) {
      ok(MatCopy(make_matrix(singular(poisson(), null), type()), one->a, SAME_NONZERO_PATTERN));
      attach(*one, null, constant);
    }
    const Outcome of_theirs = solve_in(theirs, options);
    expect_same(solve_in(ours, kOurs + options), of_theirs);
    EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-4);
  }
}

TEST_P(KrylovRanks, MeetNumbersThatAreNotFiniteOnOneRank) {
  for (const std::string pc : {"jacobi", "taskdag -pc_taskdag_type ilu"}) {
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const int victim : {0, ranks() - 1}) {
        const std::string options = "-ksp_type cg -pc_type " + pc + " ";
        std::array<Outcome, 2> outcomes;
        for (const std::size_t ours : {0U, 1U}) {
          const std::string all = (ours == 1 ? kOurs : "") + options;
          const Case with = make_case(poisson(), type(), all);
          PetscInt first = 0;
          PETSC_OK(VecGetOwnershipRange(with.b, &first, nullptr));
          if (rank() == victim) ok(VecSetValue(with.b, first + 1, value, INSERT_VALUES));
          PETSC_OK(VecAssemblyBegin(with.b));
          PETSC_OK(VecAssemblyEnd(with.b));
          outcomes[ours] = solve_in(with, all);
        }
        EXPECT_EQ(outcomes[1].loops, 1) << outcomes[1].view;
        EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
        EXPECT_LT(outcomes[1].reason, 0);
        EXPECT_EQ(outcomes[1].iterations, outcomes[0].iterations);
        expect_same_on_all(outcomes[1]);
      }
    }
  }
}

struct Looks {
  std::vector<double> norms;
  std::vector<double> residuals;  ///< of the solution so far
};

PetscErrorCode look(KSP ksp, PetscInt /*iteration*/, PetscReal norm, void* context) {
  auto& looks = *static_cast<Looks*>(context);
  Vec residual = nullptr;
  PetscReal true_norm = 0.0;
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &residual));
  PetscCall(VecNorm(residual, NORM_2, &true_norm));
  PetscCall(VecDestroy(&residual));
  looks.norms.push_back(norm);
  looks.residuals.push_back(true_norm);
  return static_cast<PetscErrorCode>(0);
}

TEST_P(KrylovRanks, AnswerMonitors) {
  const std::string options = "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  std::array<Looks, 2> looks;
  std::array<Outcome, 2> outcomes;
  for (const std::size_t ours : {0U, 1U}) {
    const std::string all = (ours == 1 ? kOurs : "") + options;
    const Case with = make_case(poisson(), type(), all);
    PETSC_OK(KSPMonitorSet(with.ksp, look, &looks[ours], nullptr));
    outcomes[ours] = solve_in(with, all);
  }
  expect_same(outcomes[1], outcomes[0]);
  EXPECT_EQ(looks[1].norms, outcomes[1].history);
  for (std::size_t k = 0; k < std::min<std::size_t>(8, looks[0].residuals.size()); ++k)
    EXPECT_NEAR(looks[1].residuals[k], looks[0].residuals[k], 1e-5 * looks[0].residuals[k]) << k;
}

/// Fails in the third iteration where it is to.
PetscErrorCode fail(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, void* context) {
  return static_cast<PetscErrorCode>(iteration == 3 && *static_cast<bool*>(context) ? PETSC_ERR_USER : 0);
}

/// The others wait for that rank in the next iteration, and not for ever.
TEST_P(KrylovRanks, EndByAMonitorThatFailsOnOneRank) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  const QuietErrors quiet;
  bool fails = rank() == ranks() - 1;
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(KSPMonitorSet(with.ksp, fail, &fails, nullptr));
  EXPECT_NE(static_cast<int>(solve_in(with, options).code), 0);
  EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
}

/// Is late in the third iteration where it is to be.
PetscErrorCode be_late(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, void* context) {
  if (iteration == 3 && *static_cast<bool*>(context)) std::this_thread::sleep_for(std::chrono::seconds(3));
  return static_cast<PetscErrorCode>(0);
}

/// Before a solve, and within it, where the others wait in the loop.
TEST_P(KrylovRanks, WaitForALateOne) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc ";
  const Case in_time = make_case(poisson(), type(), options);
  const Outcome expected = solve_in(in_time, options);
  for (const bool within : {false, true}) {
    bool is_late = rank() == ranks() - 1;
    const Case with = make_case(poisson(), type(), options);
    if (within)
      PETSC_OK(KSPMonitorSet(with.ksp, be_late, &is_late, nullptr));
    else
      EXPECT_EQ(static_cast<int>(be_late(nullptr, 3, 0.0, &is_late)), 0);
    const Outcome late = solve_in(with, options);
    EXPECT_EQ(late.loops, 1) << late.view;
    EXPECT_EQ(late.reason, expected.reason);
    EXPECT_EQ(late.history, expected.history);
  }
}

PetscErrorCode test_own(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, KSPConvergedReason* reason,
                        void* /*context*/) {
  *reason = iteration >= 5 ? KSP_CONVERGED_ATOL : KSP_CONVERGED_ITERATING;
  return static_cast<PetscErrorCode>(0);
}

TEST_P(KrylovRanks, AskATestOfTheApplication) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(KSPSetConvergenceTest(with.ksp, test_own, nullptr, nullptr));
  const Outcome outcome = solve_in(with, options);
  EXPECT_EQ(outcome.loops, 1) << outcome.view;
  EXPECT_EQ(outcome.iterations, 5);
  EXPECT_EQ(outcome.reason, KSP_CONVERGED_ATOL);
}

/// A monitor on one rank alone, for which that rank needs PETSc's loop: all have it, and say why.
PetscErrorCode count_looks(KSP /*ksp*/, PetscInt /*iteration*/, PetscReal /*norm*/, void* context) {
  ++*static_cast<int*>(context);
  return static_cast<PetscErrorCode>(0);
}

TEST_P(KrylovRanks, ArePetscsOnAllWhereOneRankCannotHaveThem) {
  const std::string options = "-ksp_type gmres -pc_type taskdag -pc_taskdag_type ilu ";
  for (const int victim : {0, ranks() - 1}) {
    int looks = 0;
    const Case with = make_case(convection(), type(), kOurs + options);
    if (rank() == victim) ok(KSPMonitorSet(with.ksp, count_looks, &looks, nullptr));
    const Outcome outcome = solve_in(with, kOurs + options);
    EXPECT_EQ(outcome.loops, 0);
    EXPECT_TRUE(has(outcome, "loop: by PETSc, not TaskDAG: a monitor or a test may look at the solution"))
        << outcome.view;
    EXPECT_EQ(outcome.iterations, solve_of(convection(), type(), options).iterations);
    EXPECT_EQ(looks, rank() == victim ? static_cast<int>(outcome.iterations) + 1 : 0);
  }
}

TEST_P(KrylovRanks, ArePetscsWhereTheyMustBe) {
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"-ksp_type cg -pc_type bjacobi", "the preconditioner is PETSc's bjacobi"},
      {"-ksp_type cg -pc_type jacobi -ksp_cg_single_reduction", "a variant of the method"},
      {ours + "icc -pc_taskdag_consolidate on -pc_taskdag_backend host", "cannot be applied inside a loop"},
      {ours + "icc -pc_taskdag_across on -pc_taskdag_backend host", "cannot be applied inside a loop"}};
  for (const auto& [options, words] : cases) {
    SCOPED_TRACE(options);
    const Outcome outcome = solve_of(poisson(), type(), kOurs + options);
    EXPECT_EQ(outcome.loops, 0);
    EXPECT_TRUE(has(outcome, "loop: by PETSc, not TaskDAG: ") && has(outcome, words)) << outcome.view;
    EXPECT_GT(outcome.reason, 0);
  }
  OwnedMat blocks;
  PETSC_OK(MatConvert(make_matrix(poisson()), MATBAIJ, MAT_INITIAL_MATRIX, blocks.out()));
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Outcome of_blocks = solve_in(make_case(std::move(blocks), options), options);
  EXPECT_EQ(of_blocks.loops, 0);
  EXPECT_TRUE(has(of_blocks, "the operator's type is mpibaij")) << of_blocks.view;
}

TEST_P(KrylovRanks, RunWhereTheyAreAskedFor) {
  const std::string petscs = "-ksp_type cg -pc_type jacobi ";
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp auto").loops, 1);
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp off").loops, 0);
  EXPECT_EQ(solve_of(poisson(), type(), petscs + "-taskdag_ksp auto").loops, 0);
  EXPECT_EQ(solve_of(poisson(), type(), "-ksp_type taskdag_cg -pc_type jacobi").loops, 1);
}

TEST_P(KrylovRanks, RepeatedHaveTheSameBits) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc ";
  const Case one = make_case(poisson(), type(), options);
  const Case two = make_case(poisson(), type(), options);
  const Outcome first = solve_in(one, options);
  EXPECT_EQ(solve_in(two, options).history, first.history);
  EXPECT_EQ(solve_in(one, options).history, first.history);
  PetscBool equal = PETSC_FALSE;
  PETSC_OK(VecEqual(one.x, two.x, &equal));
  EXPECT_TRUE(equal);
}

TEST_P(KrylovRanks, KnowTheEigenvaluesThatPetscsKnow) {
  const std::string options = "-ksp_type cg -pc_type jacobi ";
  std::array<std::array<PetscReal, 2>, 2> ends{};
  for (const std::size_t ours : {0U, 1U}) {
    const std::string all = (ours == 1 ? kOurs : "") + options;
    const Case with = make_case(poisson(), type(), all);
    PETSC_OK(KSPSetComputeSingularValues(with.ksp, PETSC_TRUE));
    EXPECT_EQ(solve_in(with, all).loops, static_cast<int>(ours));
    PETSC_OK(KSPComputeExtremeSingularValues(with.ksp, &ends[ours][0], &ends[ours][1]));
  }
  for (const std::size_t k : {0U, 1U}) EXPECT_NEAR(ends[1][k], ends[0][k], 1e-6 * ends[0][k]);
}

/// Also on levels whose rows few ranks have.
TEST_P(KrylovRanks, RunInsidePreconditioners) {
  const std::string levels = "-ksp_type fgmres -pc_type gamg -mg_levels_ksp_max_it 2 -mg_levels_ksp_type ";
  for (const std::string smoother : {"cg -mg_levels_pc_type jacobi ", "chebyshev -mg_levels_pc_type jacobi ",
                                     "richardson -mg_levels_ksp_richardson_scale 0.6 -mg_levels_pc_type taskdag "
                                     "-mg_levels_pc_taskdag_type jacobi ",
                                     "cg -mg_levels_pc_type taskdag -mg_levels_pc_taskdag_type ilu "}) {
    const std::string options = levels + smoother;
    SCOPED_TRACE(options);
    const Outcome theirs = solve_of(poisson(), type(), options);
    const Outcome ours = solve_of(poisson(), type(), kOurs + options);
    EXPECT_GE(ours.loops, 2 * ours.iterations) << ours.view;
    EXPECT_EQ(ours.reason, theirs.reason);
    EXPECT_GT(ours.reason, 0);
    EXPECT_LE(std::abs(ours.iterations - theirs.iterations), 1);
    expect_same_on_all(ours);
  }
}

/// Two groups of ranks, each with a system of its own.
TEST_P(KrylovRanks, RunOnGroupsOfRanks) {
  SKIP_UNLESS_RANKS(ranks() == 4, "4 ranks");
  MPI_Comm group = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_split(PETSC_COMM_WORLD, rank() % 2, rank(), &group), MPI_SUCCESS);
  const ScopedOptions options("-taskdag_ksp on -ksp_type cg -pc_type jacobi -ksp_rtol 1e-10");
  const PetscInt n = 200;
  OwnedMat a;
  OwnedKsp ksp;
  OwnedVec b;
  OwnedVec x;
  PetscInt first = 0;
  PetscInt end = 0;
  PETSC_OK(MatCreate(group, a.out()));
  PETSC_OK(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PETSC_OK(MatSetType(a, type()));
  PETSC_OK(MatSetUp(a));
  PETSC_OK(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt i = first; i < end; ++i) {
    PETSC_OK(MatSetValue(a, i, i, 3.0 + rank() % 2, INSERT_VALUES));
    if (i > 0) ok(MatSetValue(a, i, i - 1, -1.0, INSERT_VALUES));
    if (i + 1 < n) ok(MatSetValue(a, i, i + 1, -1.0, INSERT_VALUES));
  }
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatCreateVecs(a, x.out(), b.out()));
  PETSC_OK(VecSet(b, 1.0));
  PETSC_OK(KSPCreate(group, ksp.out()));
  PETSC_OK(KSPSetOperators(ksp, a, a));
  PETSC_OK(KSPSetFromOptions(ksp));
  const int loops = event_count("TaskDAGKrylov");
  PETSC_OK(KSPSolve(ksp, b, x));
  EXPECT_EQ(event_count("TaskDAGKrylov"), loops + 1);
  PETSC_OK(VecScale(b, -1.0));
  PETSC_OK(MatMultAdd(a, x, b, b));
  PetscReal norm = 1.0;
  PETSC_OK(VecNorm(b, NORM_2, &norm));
  EXPECT_LE(norm, 1e-7);
  EXPECT_EQ(MPI_Comm_free(&group), MPI_SUCCESS);
}

TEST_P(KrylovRanks, SendNoMessagesInASolve) {
  for (const std::string pc : {"jacobi", "taskdag -pc_taskdag_type ilu"}) {
    const std::string options = kOurs + "-ksp_type cg -ksp_rtol 1e-14 -pc_type " + pc + " ";
    expect_no_messages(make_case(poisson(), type(), options), options, {3, 3, 30});
  }
}

}  // namespace
}  // namespace taskdag::test
