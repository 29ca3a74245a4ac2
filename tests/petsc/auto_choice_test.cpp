// What -pc_taskdag_type auto takes, from counts of rows and from times. PETSc is not started here.
#include "pc/auto_choice.hpp"

#include <gtest/gtest.h>

namespace taskdag::petsc {
namespace {

MatrixLook grid_on_cuda() { return {.rows = 1e6, .strict = 4e3, .local_rows = 1e6, .symmetric = true, .cuda = true}; }

TEST(FirstChoice, JacobiNeedsADiagonalThatCounts) {
  EXPECT_EQ(first_choice(grid_on_cuda()).candidate, Candidate::jacobi);
  MatrixLook look = grid_on_cuda();
  look.zero = 1;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  EXPECT_FALSE(first_choice(look).may_jacobi);
  look = grid_on_cuda();
  look.absent = 1;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  EXPECT_TRUE(first_choice(look).only_jacobi);
  look = grid_on_cuda();
  look.negative = look.rows;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  look.negative = 1;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  look.symmetric = false;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
}

TEST(FirstChoice, JacobiNeedsMoreOfAMatrixThatIsNotSymmetric) {
  MatrixLook look = grid_on_cuda();
  look.symmetric = false;
  look.poor = 1e4;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  look.poor = 1e4 + 1;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  EXPECT_FALSE(first_choice(look).may_jacobi);
  look.settles = true;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  look.settles = false;
  look.symmetric = true;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi) << "conjugate gradients come to an end";
}

TEST(FirstChoice, AFactorForManyLevels) {
  for (const bool symmetric : {false, true}) {
    MatrixLook look = grid_on_cuda();
    look.symmetric = symmetric;
    EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
    look.deep = true;
    EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
    EXPECT_TRUE(first_choice(look).may_jacobi);
    look.strict = look.rows;
    EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  }
}

TEST(FirstChoice, ManyLevelsAreThoseOfAGridInThePlane) {
  const double plane = 300.0 * 300.0;
  EXPECT_GT(deep_limit(true, plane, 5 * plane), 300.0);
  EXPECT_LT(deep_limit(true, plane, 5 * plane), 599.0);
  const double cube = 100.0 * 100.0 * 100.0;
  EXPECT_GT(deep_limit(true, cube, 4 * cube), 298.0);
  EXPECT_EQ(deep_limit(true, plane, 7 * plane), 0.0) << "rows are too long";
  EXPECT_EQ(deep_limit(false, plane, 5 * plane), deep_limit(false, cube, 27 * cube));
}

TEST(FirstChoice, AFactorWhereItIsSoonMade) {
  MatrixLook look = grid_on_cuda();
  look.cuda = false;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  EXPECT_TRUE(first_choice(look).may_jacobi);
  look = grid_on_cuda();
  look.local_rows = kSmallRows;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  look.local_rows = kSmallRows + 1;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
  look.local_rows = kSmallRows;
  look.strict = look.rows;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
}

SolveHistory begun_with(Candidate candidate, bool tries_all = false) {
  SolveHistory history(tries_all);
  history.start({candidate, "", true});
  return history;
}

TEST(SolveHistory, AFactorIsMadeWhenJacobiHasTakenLonger) {
  SolveHistory history = begun_with(Candidate::jacobi);
  EXPECT_TRUE(history.is_empty());
  history.note_solve(1.9, 100, true);
  EXPECT_FALSE(history.is_empty());
  EXPECT_EQ(history.decide(1.0), Candidate::jacobi);
  history.note_solve(0.2, 10, true);
  EXPECT_EQ(history.decide(1.0), Candidate::factor);
  EXPECT_EQ(history.of(Candidate::jacobi).solves, 2);
  EXPECT_EQ(history.of(Candidate::jacobi).best, 0.2);
  EXPECT_EQ(history.of(Candidate::jacobi).best_iterations, 10);
}

TEST(SolveHistory, TheFasterOneStays) {
  for (const double factor : {0.5, 2.0}) {
    SolveHistory history = begun_with(Candidate::jacobi);
    history.note_solve(1.0, 10, true);
    ASSERT_EQ(history.decide(0.1), Candidate::factor);
    history.take(Candidate::factor);
    history.note_solve(9.0, 3, true);  // the first one loads kernels
    EXPECT_EQ(history.decide(0.1), Candidate::factor);
    history.note_solve(factor, 3, true);
    const Candidate faster = factor < 1.0 ? Candidate::factor : Candidate::jacobi;
    EXPECT_EQ(history.decide(0.1), faster);
    history.take(faster);
    history.note_solve(100.0, 10, true);
    history.note_solve(0.01, 10, true);
    EXPECT_EQ(history.decide(0.1), faster) << "what has been chosen stays";
  }
}

TEST(SolveHistory, AFactorIsLeftOnlyWhenAsked) {
  SolveHistory history = begun_with(Candidate::factor);
  for (int k = 0; k < 100; ++k) history.note_solve(10.0, 3, true);
  EXPECT_EQ(history.decide(0.1), Candidate::factor);
  SolveHistory asked = begun_with(Candidate::factor, true);
  asked.note_solve(10.0, 3, true);
  EXPECT_EQ(asked.decide(0.1), Candidate::factor);
  asked.note_solve(10.0, 3, true);
  EXPECT_EQ(asked.decide(0.1), Candidate::jacobi);
}

TEST(SolveHistory, InALoopJacobiIsTriedBesideAFactorWhoseIterationsCostManyOfIts) {
  constexpr double iteration = 10e-6;
  for (const double of_factor : {30e-6, 50e-6}) {
    SolveHistory history;
    history.start({Candidate::factor, "", true}, iteration);
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(history.decide(0.1), Candidate::factor) << "the first solve loads kernels";
      history.note_solve(100 * of_factor, 100, true);
    }
    EXPECT_EQ(history.decide(0.1), of_factor > 4 * iteration ? Candidate::jacobi : Candidate::factor);
  }
  SolveHistory loads;
  loads.start({Candidate::jacobi, "", true}, iteration);
  loads.note_solve(11e-3, 100, true);
  EXPECT_EQ(loads.decide(3e-3), Candidate::jacobi) << "the first solve loads kernels";
  for (int k = 0; k < 3; ++k) loads.note_solve(2e-3, 100, true);
  EXPECT_EQ(loads.decide(3e-3), Candidate::factor);
  SolveHistory forbidden;
  forbidden.start({Candidate::factor, "", false}, iteration);
  for (int k = 0; k < 2; ++k) forbidden.note_solve(1.0, 100, true);
  EXPECT_EQ(forbidden.decide(0.1), Candidate::factor);
}

TEST(FirstChoice, InALoopFewRowsAreLeftToJacobi) {
  MatrixLook look{.rows = 2000.0, .local_rows = 2000.0, .local_entries = 10000.0};
  look.cuda = true;
  EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
  look.in_loop = true;
  EXPECT_EQ(first_choice(look).candidate, Candidate::jacobi);
}

TEST(FirstChoice, InALoopADeepMatrixNeedsMoreRowsForAFactor) {
  for (const bool symmetric : {true, false}) {
    for (const double rows : {50000.0, 800000.0}) {
      MatrixLook look{.rows = rows, .local_rows = rows, .local_entries = 5 * rows, .deep = true};
      look.symmetric = symmetric;
      look.cuda = true;
      EXPECT_EQ(first_choice(look).candidate, Candidate::factor);
      look.in_loop = true;
      EXPECT_EQ(first_choice(look).candidate, rows < 100000.0 ? Candidate::jacobi : Candidate::factor);
      EXPECT_GT(jacobi_iteration_in_loop(look), 0.0);
    }
  }
}

TEST(SolveHistory, WhatHasFailedIsOut) {
  SolveHistory history = begun_with(Candidate::jacobi);
  history.note_solve(0.1, 1000, false);
  EXPECT_EQ(history.decide(1.0), Candidate::factor);
  history.take(Candidate::factor);
  history.note_solve(0.1, 1000, false);
  EXPECT_EQ(history.decide(1.0), Candidate::factor) << "both have failed";

  SolveHistory broken = begun_with(Candidate::factor, true);
  broken.note_failed_set_up(Candidate::factor);
  EXPECT_EQ(broken.current(), Candidate::jacobi);
  for (int k = 0; k < 10; ++k) broken.note_solve(10.0, 1000, true);
  EXPECT_EQ(broken.decide(0.1), Candidate::jacobi);

  SolveHistory only(true);
  only.start({Candidate::jacobi, "", true, true});
  for (int k = 0; k < 10; ++k) only.note_solve(10.0, 1000, true);
  EXPECT_EQ(only.decide(0.1), Candidate::jacobi);

  SolveHistory forbidden(true);
  forbidden.start({Candidate::factor, "", false});
  for (int k = 0; k < 10; ++k) forbidden.note_solve(10.0, 3, true);
  EXPECT_EQ(forbidden.decide(0.1), Candidate::factor);
}

TEST(SolveHistory, WhatHasNotFailedIsARivalEvenWhereNobodyWouldTryIt) {
  SolveHistory history;
  history.start({Candidate::factor, "", false});
  EXPECT_TRUE(history.has_rival());
  history.note_solve(1.0, 2, false);
  EXPECT_TRUE(history.has_rival());
  EXPECT_EQ(history.decide(1.0), Candidate::jacobi);
  history.take(Candidate::jacobi);
  EXPECT_FALSE(history.has_rival());
  SolveHistory only;
  only.start({Candidate::jacobi, "", true, true});
  EXPECT_FALSE(only.has_rival());
}

TEST(SolveHistory, ASolveWithoutIterationsSaysNothing) {
  SolveHistory history = begun_with(Candidate::jacobi);
  history.note_solve(0.0, 0, true);
  EXPECT_TRUE(history.is_empty());
}

TEST(SolveHistory, SetUpsGrowWithTheEntries) {
  EXPECT_GT(expected_set_up(kSmallRows + 1, 1e4, {}), expected_set_up(kSmallRows, 1e4, {}));
  EXPECT_GT(expected_set_up(1e6, 27e6, {}), expected_set_up(1e6, 5e6, {}));
  EXPECT_GT(expected_set_up(1e6, 5e6, {.byte = 2.0}), expected_set_up(1e6, 5e6, {}));
  EXPECT_EQ(expected_set_up(kSmallRows, 1e4, {.byte = 2.0}), expected_set_up(kSmallRows, 1e4, {}));
}

MatrixLook grid_in_a_loop() {
  MatrixLook look = grid_on_cuda();
  look.local_entries = 5e6;
  look.on_device = look.in_loop = look.in_any_loop = true;
  return look;
}

TEST(Multigrid, IsForMatricesOfItsKindInALoop) {
  EXPECT_TRUE(promise_of_multigrid(grid_in_a_loop()).may);
  const auto refused = [](const auto& spoil) {
    MatrixLook look = grid_in_a_loop();
    spoil(look);
    return !promise_of_multigrid(look).may;
  };
  EXPECT_TRUE(refused([](MatrixLook& look) { look.in_any_loop = false; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.symmetric = false; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.rows = 1000; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.absent = 1; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.zero = 1; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.negative = look.rows; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.poor = 0.5 * look.rows; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.strict = look.rows; }));
  EXPECT_TRUE(refused([](MatrixLook& look) { look.local_entries = 100 * look.rows; }));
}

TEST(Multigrid, PromisesWhatGrowsWithTheEntries) {
  MatrixLook large = grid_in_a_loop();
  large.local_entries *= 4;
  const MultigridPromise of_small = promise_of_multigrid(grid_in_a_loop());
  EXPECT_LT(of_small.set_up, promise_of_multigrid(large).set_up);
  EXPECT_LT(of_small.solve, promise_of_multigrid(large).solve);
  EXPECT_LT(of_small.solve, of_small.set_up);
}

TEST(Rates, OfAGpuChangeWhatIsExpectedThere) {
  const MatrixLook usual = grid_in_a_loop();
  MatrixLook launches = usual;
  launches.rates.launch = 2.0;
  MatrixLook bytes = usual;
  bytes.rates.byte = 2.0;
  for (const MatrixLook& slower : {launches, bytes}) {
    EXPECT_GT(jacobi_iteration_in_loop(slower), jacobi_iteration_in_loop(usual));
    EXPECT_LT(jacobi_iteration_in_loop(slower), 2.0 * jacobi_iteration_in_loop(usual));
    EXPECT_GT(promise_of_multigrid(slower).solve, promise_of_multigrid(usual).solve);
    EXPECT_EQ(promise_of_multigrid(slower).set_up, promise_of_multigrid(usual).set_up);
  }
  MatrixLook on_host = bytes;
  on_host.cuda = false;
  MatrixLook usual_on_host = usual;
  usual_on_host.cuda = false;
  EXPECT_EQ(promise_of_multigrid(on_host).solve, promise_of_multigrid(usual_on_host).solve);
}

/// Each does its part at the same time as the others.
TEST(Multigrid, PromisesOfARankWhatItHas) {
  MatrixLook dealt_out = grid_in_a_loop();
  dealt_out.in_loop = false;
  dealt_out.rows *= 4;
  const MultigridPromise of_all = promise_of_multigrid(dealt_out);
  EXPECT_TRUE(of_all.may);
  EXPECT_EQ(of_all.set_up, promise_of_multigrid(grid_in_a_loop()).set_up);
  EXPECT_EQ(of_all.solve, promise_of_multigrid(grid_in_a_loop()).solve);
}

SolveHistory with_multigrid() {
  SolveHistory history;
  history.start({Candidate::factor, "", true}, 0.0, {.may = true, .set_up = 1.0, .solve = 0.1});
  return history;
}

TEST(Multigrid, IsTakenWhenSolvesHaveTakenItsSetUpLongerThanItPromises) {
  SolveHistory history = with_multigrid();
  for (int k = 0; k < 2; ++k) {
    history.note_solve(0.6, 50, true);
    EXPECT_EQ(history.decide(1.0), Candidate::factor) << "never for a first solve alone";
  }
  history.note_solve(0.6, 50, true);
  ASSERT_EQ(history.decide(1.0), Candidate::multigrid);
  history.take(Candidate::multigrid);
  EXPECT_EQ(history.rival(), Candidate::factor);
  for (int k = 0; k < 3; ++k) {
    history.note_solve(0.2, 9, true);
    EXPECT_EQ(history.decide(1.0), Candidate::multigrid);
  }
  EXPECT_EQ(history.of(Candidate::multigrid).solves, 3);
}

TEST(Multigrid, IsNotTakenWhereSolvesAreAsShort) {
  SolveHistory history = with_multigrid();
  for (int k = 0; k < 1000; ++k) {
    history.note_solve(0.1, 9, true);
    ASSERT_EQ(history.decide(1.0), Candidate::factor);
  }
}

TEST(Multigrid, IsLeftForGoodWhereItDoesNotKeepItsPromise) {
  SolveHistory history = with_multigrid();
  history.note_solve(5.0, 50, true);
  ASSERT_EQ(history.decide(1.0), Candidate::multigrid);
  history.take(Candidate::multigrid);
  history.note_solve(9.0, 50, true);
  EXPECT_EQ(history.decide(1.0), Candidate::multigrid) << "the first one loads kernels";
  history.note_solve(6.0, 50, true);
  ASSERT_EQ(history.decide(1.0), Candidate::factor);
  history.take(Candidate::factor);
  history.note_solve(5.0, 50, true);
  EXPECT_EQ(history.decide(1.0), Candidate::factor);
}

TEST(Multigrid, HasToBeRepaidByEachMatrix) {
  SolveHistory history = with_multigrid();
  history.note_solve(5.0, 50, true);
  history.note_new_values();
  EXPECT_EQ(history.decide(1.0), Candidate::factor);
  history.note_solve(5.0, 50, true);
  ASSERT_EQ(history.decide(1.0), Candidate::multigrid);
  history.take(Candidate::multigrid);
  history.note_new_values();
  EXPECT_EQ(history.current(), Candidate::factor);
  EXPECT_EQ(history.decide(1.0), Candidate::factor);
}

TEST(Multigrid, GivesWayWhereItFails) {
  for (const bool in_set_up : {true, false}) {
    SolveHistory history = with_multigrid();
    history.note_solve(5.0, 50, true);
    history.take(history.decide(1.0));
    ASSERT_EQ(history.current(), Candidate::multigrid);
    EXPECT_TRUE(history.has_rival());
    in_set_up ? history.note_failed_set_up(Candidate::multigrid) : history.note_solve(1.0, 10000, false);
    EXPECT_EQ(history.decide(1.0), Candidate::factor);
    history.take(Candidate::factor);
    history.note_solve(5.0, 50, true);
    EXPECT_EQ(history.decide(1.0), Candidate::factor);
  }
}

}  // namespace
}  // namespace taskdag::petsc
