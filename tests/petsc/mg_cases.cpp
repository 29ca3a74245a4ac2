#include "mg_cases.hpp"

#include <cstddef>
#include <sstream>
#include <utility>

namespace taskdag::test {

MakeCase of_blocks(MatType type, const Blocks& blocks) {
  return [=](const std::string& options) {
    OwnedMat a;
    ok(make_blocks(a.out(), type, blocks));
    return make_case(std::move(a), options);
  };
}

bool says(const Outcome& outcome, const std::string& words) { return outcome.view.find(words) != std::string::npos; }

std::string said_by(const Outcome& outcome) {
  std::istringstream view(outcome.view);
  std::string said;
  for (std::string line; std::getline(view, line);) {
    if (line.find("cycle: ") != std::string::npos || line.starts_with("  loop: ")) said += line + '\n';
  }
  return said;
}

bool is_ours(const Outcome& outcome) {
  return says(outcome, "  cycle: by TaskDAG, ") &&
         (ranks() == 1 || says(outcome, "dealt out to " + std::to_string(ranks()) + " ranks)"));
}

PC pc_of(const Case& with) {
  PC pc = nullptr;
  ok(KSPGetPC(with.ksp, &pc));
  return pc;
}

void give_grid(const Case& with, DM dm) {
  ok(KSPSetDM(with.ksp, dm));
#if PETSC_VERSION_GE(3, 25, 0)
  ok(KSPSetDMActive(with.ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#else
  ok(KSPSetDMActive(with.ksp, PETSC_FALSE));
#endif
}

void expect_same_cycles(const MakeCase& make, const MakeCase& make_petscs, const std::string& options,
                        double tolerance) {
  SCOPED_TRACE(options);
  const Case petscs = make_petscs(options);
  const Outcome theirs = solve_in(petscs, options);
  EXPECT_FALSE(is_ours(theirs)) << said_by(theirs);
  const Case in_loop = make(kInLoop + options);
  const Outcome ours = solve_in(in_loop, kInLoop + options);
  ASSERT_TRUE(is_ours(ours)) << said_by(ours);
  if (ranks() > 1) {
    ASSERT_TRUE(says(ours, "loop: by TaskDAG on " + std::to_string(ranks()) + " ranks")) << said_by(ours);
  }
  expect_same(ours, theirs);
  EXPECT_LE(difference_of_applications(pc_of(in_loop), pc_of(petscs), petscs.a), tolerance);
  const int cycles = event_count("TaskDAGCycle");
  const Case in_petscs = make(kInPetscs + options);
  const Outcome alone = solve_in(in_petscs, kInPetscs + options);
  EXPECT_TRUE(is_ours(alone)) << said_by(alone);
  EXPECT_EQ(alone.loops, 0);
  EXPECT_EQ(alone.reason, theirs.reason);
  EXPECT_NEAR(static_cast<double>(alone.iterations), static_cast<double>(theirs.iterations), 1.0);
  EXPECT_GE(event_count("TaskDAGCycle") - cycles, alone.iterations);
  EXPECT_LE(difference_of_applications(pc_of(in_petscs), pc_of(petscs), petscs.a), tolerance);
}

void expect_same_cycles(const MakeCase& make, const std::string& options, double tolerance) {
  expect_same_cycles(make, make, options, tolerance);
}

void nothing(Case& /*with*/) {}

void change_values(Case& with) {
  const OwnedVec scale = make_vector(with.a, 2.0);
  ok(VecAbs(scale));
  ok(VecShift(scale, 25.0));
  ok(VecScale(scale, 0.04));
  ok(MatDiagonalScale(with.a, scale, scale));
}

Step replaced_by(const CsrMatrix& csr) {
  return [csr](Case& with) {
    MatType type = nullptr;
    ok(MatGetType(with.a, &type));
    OwnedMat other = make_matrix(csr, type);
    ok(MatShift(other, 0.3));
    ok(KSPSetOperators(with.ksp, other, other));
    std::swap(*with.a.out(), *other.out());
  };
}

void change_interpolation(Case& with) {
  Mat interpolation = nullptr;
  PetscInt levels = 0;
  ok(PCMGGetLevels(pc_of(with), &levels));
  ok(PCMGGetInterpolation(pc_of(with), levels - 1, &interpolation));
  ok(MatScale(interpolation, 0.9));
}

void smooth_more(Case& with) {
  KSP smoother = nullptr;
  ok(PCMGGetSmoother(pc_of(with), 1, &smoother));
  ok(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
}

void keep(Case& with) { ok(KSPSetReusePreconditioner(with.ksp, PETSC_TRUE)); }
void renew(Case& with) { ok(KSPSetReusePreconditioner(with.ksp, PETSC_FALSE)); }

void forget(Case& with) {
  ok(KSPReset(with.ksp));
  ok(KSPSetOperators(with.ksp, with.a, with.a));
}

void expect_same_steps(const Trio& trio, const std::vector<Step>& steps) {
  std::array<Case, 3> cases = {trio.make[0](trio.options[0]), trio.make[1](trio.options[1]),
                               trio.make[2](trio.options[2])};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    SCOPED_TRACE("step " + std::to_string(k));
    std::array<Outcome, 3> outcomes;
    for (std::size_t c = 0; c < cases.size(); ++c) {
      steps[k](cases[c]);
      ok(VecSet(cases[c].x, 0.0));
      outcomes[c] = solve_in(cases[c], trio.options[c]);
    }
    EXPECT_GT(outcomes[0].reason, 0);
    ASSERT_TRUE(is_ours(outcomes[1])) << said_by(outcomes[1]);
    expect_same(outcomes[1], outcomes[0]);
    EXPECT_EQ(outcomes[2].reason, outcomes[0].reason);
    EXPECT_NEAR(static_cast<double>(outcomes[2].iterations), static_cast<double>(outcomes[0].iterations), 1.0);
    EXPECT_EQ(outcomes[2].loops, 0);
    for (const std::size_t c : {1U, 2U})
      EXPECT_LE(difference_of_applications(pc_of(cases[c]), pc_of(cases[0]), cases[0].a), 1e-11);
  }
}

void expect_same_steps(const MakeCase& make, const MakeCase& make_petscs, const std::string& options,
                       const std::vector<Step>& steps) {
  SCOPED_TRACE(options);
  expect_same_steps({{make_petscs, make, make}, {options, kInLoop + options, kInPetscs + options}}, steps);
}

void expect_same_steps(const MakeCase& make, const std::string& options, const std::vector<Step>& steps) {
  expect_same_steps(make, make, options, steps);
}

}  // namespace taskdag::test
