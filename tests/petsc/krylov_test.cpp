// Krylov methods as loops of ours, by -taskdag_ksp and by the types taskdag_cg and so on: what a KSP of PETSc's gives,
// and what it promises beside.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <regex>
#include <tuple>

#include "blocks.hpp"
#include "krylov_cases.hpp"
#include "support.hpp"
#include "support/device_code.hpp"

namespace taskdag::test {
namespace {

/// Symmetric with eigenvalues of both signs.
CsrMatrix indefinite() {
  CsrMatrix a = poisson();
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_offsets[static_cast<std::size_t>(i)]; k < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
      if (a.col_indices[static_cast<std::size_t>(k)] == i) a.values[static_cast<std::size_t>(k)] -= 0.37;
  }
  return a;
}

std::vector<std::string> preconditioners(bool symmetric) {
  std::vector<std::string> list = {"-pc_type none",
                                   "-pc_type jacobi",
                                   "-pc_type pbjacobi",
                                   "-pc_type taskdag -pc_taskdag_type jacobi",
                                   "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2",
                                   "-pc_type taskdag -pc_taskdag_type jacobi -pc_taskdag_jacobi_type block",
                                   "-pc_type taskdag -pc_taskdag_type ilu",
                                   "-pc_type taskdag -pc_taskdag_type dilu",
                                   "-pc_type taskdag -pc_taskdag_type sor",
                                   "-pc_type taskdag"};
  if (symmetric) {
    list.emplace_back("-pc_type taskdag -pc_taskdag_type icc");
    list.emplace_back("-pc_type taskdag -pc_taskdag_type dic");
    list.emplace_back("-pc_type taskdag -pc_taskdag_type icc -pc_taskdag_consolidate on");
  }
  return list;
}

/// Options of a preconditioner whose matrix is in host memory.
const std::string kOnGpu = " -pc_taskdag_backend cuda";

/// Whether the method has something that only some releases have.
bool has_function(KSP ksp, const char* name) {
  void (*function)() = nullptr;
  ok(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), name, &function));
  return function != nullptr;
}

/// Matrices of this type.
class KrylovLoop : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
};
std::string type_name(const testing::TestParamInfo<std::string>& test) { return test.param; }
INSTANTIATE_TEST_SUITE_P(On, KrylovLoop, testing::Values(MATAIJ, MATAIJCUSPARSE), type_name);

class KrylovMethods : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  void SetUp() override {
    SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
    const std::string missing = what_is_missing_for(std::get<0>(GetParam()));
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return std::get<0>(GetParam()).c_str(); }
  [[nodiscard]] static Kind kind() { return kinds()[std::get<1>(GetParam())]; }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovMethods,
                         testing::Combine(testing::Values(MATAIJ, MATAIJCUSPARSE), testing::Range<std::size_t>(0, 9)),
                         [](const auto& test) {
                           const std::size_t place = std::get<1>(test.param);
                           return std::get<0>(test.param) + "_" + std::to_string(place) + "_" + kinds()[place].name;
                         });

TEST_P(KrylovMethods, AreThoseOfPetsc) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  for (const std::string& pc : preconditioners(method.symmetric)) {
    for (const std::string& norm : method.norms) {
      for (const std::string& side : method.sides) {
        for (const char* const guess : {"", " -ksp_initial_guess_nonzero"}) {
          const std::string options =
              method.chosen() + " " + pc + " -ksp_norm_type " + norm + " -ksp_pc_side " + side + guess + " ";
          SCOPED_TRACE(options);
          const Outcome ours = solve_of(csr, type(), kOurs + options);
          if (!is_there(ours)) GTEST_SKIP() << ours.view;
          // The type auto expects our loop on a GPU, and takes another candidate for it there.
          if (pc == "-pc_type taskdag" && std::string(type()) == MATAIJCUSPARSE)
            EXPECT_GE(ours.loops, 1) << ours.view;
          else
            expect_same(ours, solve_of(csr, type(), options));
        }
      }
    }
  }
}

/// Of all methods of ours PETSc's GMRES alone has it.
TEST_P(KrylovLoop, HasTheSymmetricSideOfGmres) {
  const std::string side = "-ksp_type gmres -ksp_gmres_restart 8 -ksp_pc_side symmetric -pc_type ";
  for (const std::string pc : {"none", "jacobi", "taskdag -pc_taskdag_type icc", "taskdag -pc_taskdag_type dic",
                               "taskdag -pc_taskdag_type icc -pc_taskdag_ordering rcm"}) {
    for (const char* const how : {"", " -ksp_initial_guess_nonzero", " -ksp_gmres_modifiedgramschmidt"}) {
      SCOPED_TRACE(pc + how);
      const Case ours = make_case(poisson(), type(), kOurs + side + pc + how);
      const Case theirs = make_case(poisson(), type(), side + pc + how);
      const Outcome of_theirs = solve_in(theirs, side + pc + how);
      EXPECT_GT(of_theirs.reason, 0);
      expect_same(solve_in(ours, kOurs + side + pc + how), of_theirs);
      EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-5);
    }
  }
  for (const char* const pc : {"taskdag -pc_taskdag_type ilu", "taskdag -pc_taskdag_type jacobi"}) {
    SCOPED_TRACE(pc);
    const QuietErrors errors;
    const Outcome ours = solve_of(poisson(), type(), kOurs + side + pc);
    const Outcome theirs = solve_of(poisson(), type(), side + pc);
    EXPECT_NE(static_cast<int>(ours.code), 0);
    EXPECT_EQ(ours.code, theirs.code);
  }
}

TEST_P(KrylovMethods, WorkOnDenseBlocks) {
  // PETSc has no dense blocks on a GPU: there they are copied, for a preconditioner that works on it.
  const bool copied = std::string(type()) != MATAIJ;
  const Kind method = kind();
  for (const PetscInt size : {1, 2, 3, 5}) {
    for (const std::string pc : {"none", "jacobi", "taskdag -pc_taskdag_type ilu", "taskdag -pc_taskdag_type icc",
                                 "taskdag -pc_taskdag_type sor", "taskdag -pc_taskdag_type jacobi"}) {
      if ((!method.symmetric && pc.ends_with("icc")) || (copied && !pc.starts_with("taskdag"))) continue;
      const std::string options = method.chosen() + " -pc_type " + pc + (copied ? kOnGpu : "") + " -ksp_norm_type " +
                                  method.norms[0] + " -ksp_pc_side " + method.sides[0] + " -ksp_max_it 200 ";
      SCOPED_TRACE(std::to_string(size) + " rows, " + options);
      std::array<Outcome, 2> outcomes;
      for (const std::size_t ours : {0U, 1U}) {
        OwnedMat a;
        PETSC_OK(make_blocks(a.out(), MATBAIJ, {.size = size, .symmetric = method.symmetric}));
        const std::string all = (ours == 1 ? kOurs : "") + options;
        outcomes[ours] = solve_in(make_case(std::move(a), all), all);
      }
      if (!is_there(outcomes[1])) GTEST_SKIP() << outcomes[1].view;
      expect_same(outcomes[1], outcomes[0]);
    }
  }
}

/// Of PETSc's preconditioners those that divide by dense blocks.
TEST_P(KrylovMethods, TakeBlocksOfPetscs) {
  const Kind method = kind();
  for (const PetscInt size : {2, 3, 5}) {
    for (const std::string pc : {"pbjacobi", "vpbjacobi"}) {
      const std::string options = method.chosen() + " -pc_type " + pc + " -ksp_norm_type " + method.norms[0] +
                                  " -ksp_pc_side " + method.sides[0] + " -ksp_max_it 200 ";
      SCOPED_TRACE(std::to_string(size) + " rows, " + options);
      std::array<Outcome, 2> outcomes;
      for (const std::size_t ours : {0U, 1U}) {
        OwnedMat a;
        PETSC_OK(make_blocks(a.out(), type(), {.size = size, .symmetric = method.symmetric}));
        if (pc == "vpbjacobi") ok(set_blocks_of_several_sizes(a, 2 * size));
        const std::string all = (ours == 1 ? kOurs : "") + options;
        outcomes[ours] = solve_in(make_case(std::move(a), all), all);
      }
      if (!is_there(outcomes[1])) GTEST_SKIP() << outcomes[1].view;
      expect_same(outcomes[1], outcomes[0]);
    }
  }
}

TEST_P(KrylovMethods, MakeAllIterationsWithoutANorm) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  for (const char* const test : {"", " -ksp_convergence_test skip"}) {
    const std::string options =
        method.chosen() + " -pc_type jacobi -ksp_norm_type none -ksp_max_it 7 -ksp_pc_side " + method.sides[0] + test;
    SCOPED_TRACE(options);
    const Case with = make_case(csr, type(), kOurs + options);
    const Outcome ours = solve_in(with, kOurs + options);
    if (!is_there(ours)) GTEST_SKIP() << ours.view;
    if (ours.loops == 0) GTEST_SKIP() << ours.view;  // GMRES has no such norm
    const Case other = make_case(csr, type(), options);
    const Outcome theirs = solve_in(other, options);
    EXPECT_EQ(ours.reason, theirs.reason);
    EXPECT_EQ(ours.iterations, theirs.iterations);
    EXPECT_EQ(ours.history.size(), theirs.history.size());
    EXPECT_LE(relative_difference(with.x, other.x), 1e-9);
  }
}

TEST_P(KrylovMethods, HaveTypesOfTheirOwn) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  const std::string rest = " " + method.options + " -pc_type taskdag -pc_taskdag_type ilu -ksp_pc_side " +
                           method.sides[0] + " -ksp_norm_type " + method.norms[0] + " ";
  const Outcome ours = solve_of(csr, type(), "-ksp_type taskdag_" + method.name + rest);
  if (!is_there(ours)) GTEST_SKIP() << ours.view;
  EXPECT_NE(ours.view.find("type: taskdag_" + method.name), std::string::npos) << ours.view;
  expect_same(ours, solve_of(csr, type(), "-ksp_type " + method.name + rest));
}

TEST_P(KrylovLoop, RunsWhereItIsAskedFor) {
  const std::string cg = "-ksp_type cg ";
  const std::string petscs = cg + "-pc_type jacobi ";
  const std::string ours = cg + "-pc_type taskdag -pc_taskdag_type ilu ";
  const Case by_default = make_case(poisson(), type(), ours);
  {
    const ScopedOptions nothing("");
    const int loops = event_count("TaskDAGKrylov");
    PETSC_OK(KSPSolve(by_default.ksp, by_default.b, by_default.x));
    EXPECT_EQ(event_count("TaskDAGKrylov"), loops + 1);
  }
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp off").loops, 0);
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp auto").loops, 1);
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp").loops, 1);
  EXPECT_EQ(solve_of(poisson(), type(), ours + "-taskdag_ksp on").loops, 1);
  EXPECT_EQ(solve_of(poisson(), type(), petscs + "-taskdag_ksp auto").loops, 0);
  EXPECT_EQ(solve_of(poisson(), type(), petscs + "-taskdag_ksp").loops, 1);
  EXPECT_EQ(solve_of(poisson(), type(), petscs + "-taskdag_ksp auto").view.find("loop:"), std::string::npos);
}

TEST_P(KrylovLoop, SaysWhatItIs) {
  const Outcome outcome = solve_of(poisson(), type(), kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu");
  for (const char* const words : {"loop: by TaskDAG, ", "preconditioner: applied inside", "stages of an iteration"})
    EXPECT_NE(outcome.view.find(words), std::string::npos) << outcome.view;
  const Outcome jacobi = solve_of(poisson(), type(), kOurs + "-ksp_type cg -pc_type jacobi");
  EXPECT_NE(jacobi.view.find("preconditioner: a diagonal"), std::string::npos) << jacobi.view;
}

TEST_P(KrylovLoop, IsPetscsWhereItMustBe) {
  const std::string cg = "-ksp_type cg -pc_type jacobi ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"-ksp_type cg -pc_type sor", "the preconditioner is PETSc's sor"},
      {"-ksp_type cg -pc_type jacobi -ksp_cg_single_reduction", "a variant of the method"},
      {cg + "-ksp_check_norm_iteration 3", "norms are to be left out"},
      {"-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_eisenstat", "the operator's type is shell"},
      {"-ksp_type cg -pc_type taskdag -pc_taskdag_type dic -pc_taskdag_eisenstat", "the operator's type is shell"}};
  for (const auto& [options, words] : cases) {
    SCOPED_TRACE(options);
    const Outcome ours = solve_of(poisson(), type(), kOurs + options);
    const Outcome theirs = solve_of(poisson(), type(), options);
    EXPECT_EQ(ours.loops, 0);
    EXPECT_EQ(ours.reason, theirs.reason);
    EXPECT_EQ(ours.iterations, theirs.iterations);
    EXPECT_NE(ours.view.find(words), std::string::npos) << ours.view;
  }
}

/// What a KSP knows of eigenvalues; no values where its method knows nothing.
struct Spectrum {
  std::vector<double> real;
  std::vector<double> imaginary;
  double largest = 0.0;
  double smallest = 0.0;
};

Spectrum spectrum_of(KSP ksp) {
  Spectrum spectrum;
  PetscInt iterations = 0;
  PetscInt count = 0;
  ok(KSPGetIterationNumber(ksp, &iterations));
  spectrum.real.resize(static_cast<std::size_t>(iterations) + 1);
  spectrum.imaginary.resize(spectrum.real.size());
  ok(KSPComputeEigenvalues(ksp, iterations + 1, spectrum.real.data(), spectrum.imaginary.data(), &count));
  ok(KSPComputeExtremeSingularValues(ksp, &spectrum.largest, &spectrum.smallest));
  spectrum.real.resize(static_cast<std::size_t>(count));
  spectrum.imaginary.resize(spectrum.real.size());
  return spectrum;
}

void expect_same(const Spectrum& ours, const Spectrum& theirs) {
  const double accuracy = 1e-7 * std::abs(theirs.largest);
  ASSERT_EQ(ours.real.size(), theirs.real.size());
  for (std::size_t k = 0; k < ours.real.size(); ++k) {
    EXPECT_NEAR(ours.real[k], theirs.real[k], accuracy) << k;
    EXPECT_NEAR(ours.imaginary[k], theirs.imaginary[k], accuracy) << k;
  }
  EXPECT_NEAR(ours.largest, theirs.largest, accuracy);
  EXPECT_NEAR(ours.smallest, theirs.smallest, accuracy);
}

TEST_P(KrylovMethods, KnowTheEigenvaluesThatPetscsKnow) {
  const Kind method = kind();
  const CsrMatrix csr = !method.symmetric ? convection() : method.name == "minres" ? indefinite() : poisson();
  for (const char* const pc : {"-pc_type jacobi", "-pc_type none", "-pc_type taskdag -pc_taskdag_type dic"}) {
    if (method.name == "minres" && pc != std::string("-pc_type none")) continue;  // its diagonal may be negative
    for (const char* const limit : {"1", "2", "12", "14"}) {
      const std::string options = method.chosen() + " " + pc + " -ksp_norm_type " + method.norms[0] + " -ksp_pc_side " +
                                  method.sides[0] + " -ksp_max_it " + limit;
      SCOPED_TRACE(options);
      std::array<Spectrum, 2> spectra;
      for (const std::size_t ours : {0U, 1U}) {
        const std::string all = petscs_unless_said((ours == 1 ? kOurs : "") + options);
        const Case with = make_case(csr, type(), all);
        PETSC_OK(KSPSetComputeSingularValues(with.ksp, PETSC_TRUE));
        const Outcome outcome = solve_in(with, all);
        if (!is_there(outcome)) GTEST_SKIP() << outcome.view;
        EXPECT_EQ(outcome.loops, static_cast<int>(ours)) << outcome.view;
        spectra[ours] = spectrum_of(with.ksp);
      }
      expect_same(spectra[1], spectra[0]);
    }
  }
}

/// Numbers with more digits cut.
std::string with_five_digits(const std::string& text) {
  return std::regex_replace(text, std::regex("(\\.[0-9]{5})[0-9]+"), "$1");
}

TEST_P(KrylovLoop, KnowsTheEigenvaluesOfALongSolve) {
  const std::string options = kOurs + "-ksp_type cg -pc_type none -ksp_rtol 1e-10";
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(KSPSetComputeEigenvalues(with.ksp, PETSC_TRUE));
  EXPECT_GT(solve_in(with, options).iterations, 50);
  const Spectrum spectrum = spectrum_of(with.ksp);
  const double pi = std::acos(-1.0);
  const double smallest = 4.0 - 2.0 * std::cos(pi / 34.0) - 2.0 * std::cos(pi / 30.0);
  EXPECT_NEAR(spectrum.smallest, smallest, 1e-6);
  EXPECT_NEAR(spectrum.largest, 8.0 - smallest, 1e-6);
  EXPECT_TRUE(std::ranges::is_sorted(spectrum.real));
  EXPECT_EQ(spectrum.real.front(), spectrum.smallest);
  EXPECT_EQ(spectrum.real.back(), spectrum.largest);
}

TEST_P(KrylovMethods, PrintEigenvaluesAsPetscs) {
  const Kind method = kind();
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  const std::string rest = method.chosen() + " -ksp_gmres_restart 3 -ksp_pc_side " + method.sides[0] +
                           " -pc_type jacobi -ksp_max_it 5 -ksp_view_eigenvalues -ksp_view_singularvalues "
                           "-ksp_monitor_singular_value ";
  std::array<std::string, 2> printed;
  for (const std::size_t ours : {0U, 1U}) {
    testing::internal::CaptureStdout();
    const Outcome outcome = solve_of(csr, type(), (ours == 1 ? kOurs : "") + rest);
    (void)std::fflush(stdout);
    printed[ours] = testing::internal::GetCapturedStdout();
    if (!is_there(outcome)) GTEST_SKIP() << outcome.view;
    EXPECT_EQ(outcome.loops, static_cast<int>(ours)) << outcome.view;
  }
  EXPECT_NE(printed[0].find("max/min"), std::string::npos) << printed[0];
  // But for digits that rounding changes: lines, and their beginnings.
  EXPECT_EQ(with_five_digits(printed[1]), with_five_digits(printed[0]));
}

TEST_P(KrylovLoop, TakesTheBoundsOfChebyshevThatPetscHasEstimated) {
  const std::string chebyshev = "-ksp_type chebyshev -ksp_rtol 1e-3 -ksp_max_it 300 -ksp_chebyshev_esteig ";
  for (const char* const pc : {" -pc_type jacobi", " -pc_type taskdag -pc_taskdag_type sor"}) {
    for (const std::string transform : {"", "0.2,1.3", "0.5,0.2,0.1,1.2"}) {
      for (const std::string estimator : {"gmres", "cg"}) {
        const std::string options = chebyshev + transform + " -esteig_ksp_type " + estimator + pc;
        SCOPED_TRACE(options);
        const Outcome ours = solve_of(poisson(), type(), kOurs + options);
        EXPECT_EQ(ours.loops, 2) << ours.view;  // the estimator's, too
        expect_same(ours, solve_of(poisson(), type(), options));
      }
    }
  }
}

TEST_P(KrylovLoop, RunsChebyshevOfTheFourthKind) {
  const std::string first = "-ksp_type chebyshev -ksp_chebyshev_eigenvalues 0.05,2.1 ";
  if (!has_function(make_case(poisson(), type(), first).ksp, "KSPChebyshevGetKind_C"))
    GTEST_SKIP() << "this PETSc has the first kind alone";
  const std::string fourth = first + "-ksp_chebyshev_kind fourth ";
  for (const char* const pc : {"-pc_type none", "-pc_type jacobi", "-pc_type taskdag -pc_taskdag_type sor"}) {
    for (const char* const norm : {"preconditioned", "unpreconditioned"}) {
      const std::string options = fourth + pc + " -ksp_max_it 40 -ksp_norm_type " + norm;
      SCOPED_TRACE(options);
      expect_same(solve_of(poisson(), type(), kOurs + options), solve_of(poisson(), type(), options));
    }
    const std::string options = fourth + pc + " -ksp_norm_type none -ksp_max_it 5";
    const Case ours = make_case(poisson(), type(), kOurs + options);
    const Case theirs = make_case(poisson(), type(), options);
    EXPECT_EQ(solve_in(ours, kOurs + options).loops, 1);
    EXPECT_EQ(solve_in(theirs, options).loops, 0);
    EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-12);
  }
}

TEST_P(KrylovLoop, RunsOptimisedPolynomialsOfTheFourthKind) {
  const std::string first = "-ksp_type chebyshev -ksp_chebyshev_eigenvalues 0.05,2.1 -ksp_chebyshev_kind opt_fourth ";
  if (!has_function(make_case(poisson(), type(), first + "-ksp_max_it 1").ksp, "KSPChebyshevGetKind_C"))
    GTEST_SKIP() << "this PETSc has the first kind alone";
  for (const char* const pc : {"-pc_type jacobi", "-pc_type taskdag -pc_taskdag_type sor"}) {
    for (const char* const degree : {"1", "2", "5", "16"}) {
      const std::string options = first + pc + " -ksp_norm_type none -ksp_max_it " + degree;
      SCOPED_TRACE(options);
      const Case ours = make_case(poisson(), type(), kOurs + options);
      const Case theirs = make_case(poisson(), type(), options);
      const Outcome outcome = solve_in(ours, kOurs + options);
      EXPECT_EQ(outcome.loops, 1) << outcome.view;
      const Outcome petscs = solve_in(theirs, options);
      EXPECT_EQ(petscs.loops, 0);
      EXPECT_EQ(outcome.reason, petscs.reason);
      EXPECT_EQ(outcome.iterations, petscs.iterations);
      EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-11);
    }
  }
  const Outcome normed = solve_of(poisson(), type(), kOurs + first + "-ksp_max_it 5 -pc_type jacobi");
  EXPECT_EQ(normed.loops, 0);
  EXPECT_NE(normed.view.find("norms between the iterations"), std::string::npos) << normed.view;
}

TEST_P(KrylovLoop, SaysThatEigenvaluesWereNotAskedForBeforeTheSolve) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  PETSC_OK(KSPSetComputeSingularValues(with.ksp, PETSC_TRUE));
  solve_in(with, options);
  PETSC_OK(KSPSetComputeSingularValues(with.ksp, PETSC_FALSE));
  solve_in(with, options);
  PETSC_OK(KSPSetComputeSingularValues(with.ksp, PETSC_TRUE));
  const ErrorCapture errors;
  double most = 0.0;
  double least = 0.0;
  EXPECT_EQ(static_cast<int>(KSPComputeExtremeSingularValues(with.ksp, &most, &least)),
            static_cast<int>(PETSC_ERR_ORDER));
}

TEST_P(KrylovLoop, LeavesATrustRegionToPetsc) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  if (!has_function(with.ksp, "KSPCGSetRadius_C")) GTEST_SKIP() << "this PETSc's CG has none";
  PETSC_OK(KSPCGSetRadius(with.ksp, 1.0));
  const Outcome outcome = solve_in(with, options);
  EXPECT_EQ(outcome.loops, 0);
  EXPECT_EQ(outcome.reason, KSP_CONVERGED_STEP_LENGTH);
  EXPECT_NE(outcome.view.find("a trust region"), std::string::npos) << outcome.view;
  PETSC_OK(KSPCGSetRadius(with.ksp, 0.0));
  EXPECT_EQ(solve_in(with, options).loops, 1);
}

TEST_P(KrylovLoop, LeavesTransposedSolvesToPetsc) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const ScopedOptions scope(options);
  const Case with = make_case(poisson(), type(), options);
  const int loops = event_count("TaskDAGKrylov");
  PETSC_OK(KSPSolveTranspose(with.ksp, with.b, with.x));
  EXPECT_NE(view_text(with.ksp).find("the solve is transposed"), std::string::npos);
  EXPECT_EQ(event_count("TaskDAGKrylov"), loops);
  PETSC_OK(KSPSolve(with.ksp, with.b, with.x));
  EXPECT_EQ(event_count("TaskDAGKrylov"), loops + 1);
}

/// Of a vector's part along another one.
double share(Vec x, const std::vector<double>& along) {
  const PetscScalar* elements = nullptr;
  double sum = 0.0;
  double squares = 0.0;
  PetscReal norm = 0.0;
  ok(VecNorm(x, NORM_2, &norm));
  ok(VecGetArrayRead(x, &elements));
  for (std::size_t i = 0; i < along.size(); ++i) {
    sum += elements[i] * along[i];
    squares += along[i] * along[i];
  }
  ok(VecRestoreArrayRead(x, &elements));
  return std::abs(sum) / std::sqrt(squares) / norm;
}

TEST_P(KrylovMethods, RemoveTheNullSpaceAsPetscsDo) {
  const Kind method = kind();
  for (const bool constant : {true, false}) {
    // Few rows: rounding grows with the iterations, in singular systems more.
    const CsrMatrix regular =
        make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8, .nz = 1, .wind = method.symmetric ? 0.0 : 1.5});
    const std::vector<double> null = null_vector(regular.rows, constant);
    const CsrMatrix csr = singular(regular, null);
    for (const char* const pc : {"-pc_type none", "-pc_type jacobi", "-pc_type taskdag -pc_taskdag_type sor",
                                 "-pc_type taskdag -pc_taskdag_type jacobi"}) {
      for (const std::string& norm : method.norms) {
        for (const char* const guess : {"", " -ksp_initial_guess_nonzero", " -ksp_initial_guess_knoll"}) {
          const std::string options = method.chosen() + " -ksp_max_it 150 " + pc + " -ksp_norm_type " + norm +
                                      " -ksp_pc_side " + method.sides[0] + guess + " ";
          SCOPED_TRACE(options);
          const Case our_case = make_case(csr, type(), kOurs + options);
          const Case their_case = make_case(csr, type(), options);
          attach(our_case, null, constant);
          attach(their_case, null, constant);
          const Outcome ours = solve_in(our_case, kOurs + options);
          if (!is_there(ours)) GTEST_SKIP() << ours.view;
          expect_same(ours, solve_in(their_case, options));
          const double part = share(our_case.x, null);
          const bool removed = method.sides[0] == "left" && *guess != ' ';
          EXPECT_NEAR(part, share(their_case.x, null), 1e-6);
          EXPECT_LE(part, removed ? 1e-12 : 1.0);
        }
      }
    }
  }
}

PetscErrorCode remove_nothing(MatNullSpace /*space*/, Vec /*x*/, void* /*context*/) {
  return static_cast<PetscErrorCode>(0);
}

TEST_P(KrylovLoop, LeavesFunctionsThatRemoveANullSpaceToPetsc) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  OwnedNullSpace own;
  PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 0, nullptr, own.out()));
  PETSC_OK(MatNullSpaceSetFunction(own, remove_nothing, nullptr));
  PETSC_OK(MatSetNullSpace(with.a, own));
  const Outcome outcome = solve_in(with, options);
  EXPECT_EQ(outcome.loops, 0);
  EXPECT_NE(outcome.view.find("a function of the application"), std::string::npos) << outcome.view;
}

/// What a monitor has seen.
struct Seen {
  std::vector<PetscInt> iterations;
  std::vector<double> norms;
  std::vector<double> residuals;  ///< of the solution so far
};

PetscErrorCode see(KSP ksp, PetscInt iteration, PetscReal norm, void* context) {
  auto& seen = *static_cast<Seen*>(context);
  Vec residual = nullptr;
  PetscReal true_norm = 0.0;
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &residual));
  PetscCall(VecNorm(residual, NORM_2, &true_norm));
  PetscCall(VecDestroy(&residual));
  seen.iterations.push_back(iteration);
  seen.norms.push_back(norm);
  seen.residuals.push_back(true_norm);
  return static_cast<PetscErrorCode>(0);
}

void expect_answers_monitors(const Kind& method, MatType type, const std::string& how) {
  const CsrMatrix csr = method.symmetric ? poisson() : convection();
  const std::string options = method.chosen() + " -pc_type taskdag -pc_taskdag_type ilu" + how + " -ksp_pc_side " +
                              method.sides[0] + " -ksp_norm_type " + method.norms[0] + " ";
  std::array<Seen, 2> seen;
  std::array<Outcome, 2> outcomes;
  for (const std::size_t ours : {0U, 1U}) {
    const std::string all = (ours == 1 ? kOurs : "") + options;
    const Case with = make_case(csr, type, all);
    PETSC_OK(KSPMonitorSet(with.ksp, see, &seen[ours], nullptr));
    outcomes[ours] = solve_in(with, all);
  }
  if (!is_there(outcomes[1])) GTEST_SKIP() << outcomes[1].view;
  const bool by_us = outcomes[1].loops == 1;
  EXPECT_TRUE(by_us || outcomes[1].view.find("may look at the solution") != std::string::npos) << outcomes[1].view;
  if (!by_us) return;
  ASSERT_EQ(seen[1].norms.size(), outcomes[1].history.size());
  for (std::size_t k = 0; k < seen[1].norms.size(); ++k) {
    EXPECT_EQ(seen[1].iterations[k], static_cast<PetscInt>(k));
    EXPECT_EQ(seen[1].norms[k], outcomes[1].history[k]);
  }
  for (std::size_t k = 0; k < std::min<std::size_t>(8, seen[0].residuals.size()); ++k)
    EXPECT_NEAR(seen[1].residuals[k], seen[0].residuals[k], 1e-5 * seen[0].residuals[k]) << k;
}

TEST_P(KrylovMethods, AnswerMonitors) {
  expect_answers_monitors(kind(), type(), "");
  if (std::string(type()) == MATAIJCUSPARSE) expect_answers_monitors(kind(), MATAIJ, kOnGpu);
}

std::string monitored(MatType type, const std::string& options) {
  testing::internal::CaptureStdout();
  solve_of(poisson(), type, "-ksp_type cg -pc_type jacobi -ksp_max_it 9 -ksp_monitor -ksp_converged_reason " + options);
  (void)std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST_P(KrylovLoop, PrintsWhatPetscsMonitorsPrint) {
  const std::string theirs = monitored(type(), "");
  EXPECT_NE(theirs.find("9 KSP "), std::string::npos) << theirs;
  const std::string ours = monitored(type(), "-taskdag_ksp");
  // But for digits that rounding changes: lines and their beginnings.
  EXPECT_EQ(std::ranges::count(ours, '\n'), std::ranges::count(theirs, '\n')) << ours;
  EXPECT_EQ(ours.size(), theirs.size()) << ours;
}

struct OwnTest {
  PetscInt until;
  int calls = 0;
};

PetscErrorCode test_own(KSP /*ksp*/, PetscInt iteration, PetscReal /*norm*/, KSPConvergedReason* reason,
                        void* context) {
  auto& own = *static_cast<OwnTest*>(context);
  ++own.calls;
  *reason = iteration >= own.until ? KSP_CONVERGED_ATOL : KSP_CONVERGED_ITERATING;
  return static_cast<PetscErrorCode>(0);
}

TEST_P(KrylovLoop, AsksATestOfTheApplication) {
  const std::string options = "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  for (const PetscInt until : {0, 5, 1000}) {
    SCOPED_TRACE(until);
    std::array<Outcome, 2> outcomes;
    std::array<OwnTest, 2> tests{OwnTest{until}, OwnTest{until}};
    for (const std::size_t ours : {0U, 1U}) {
      const std::string all = (ours == 1 ? kOurs : "") + options + "-ksp_max_it 12";
      const Case with = make_case(poisson(), type(), all);
      PETSC_OK(KSPSetConvergenceTest(with.ksp, test_own, &tests[ours], nullptr));
      outcomes[ours] = solve_in(with, all);
    }
    expect_same(outcomes[1], outcomes[0]);
    EXPECT_EQ(outcomes[1].iterations, std::min<PetscInt>(until, 12));
    EXPECT_EQ(tests[1].calls, tests[0].calls);
  }
}

TEST_P(KrylovLoop, EndsAsPetscsDoes) {
  const std::string cg = "-ksp_type cg ";
  for (const std::string& rest :
       {cg + "-pc_type jacobi -ksp_max_it 5", cg + "-pc_type jacobi -ksp_max_it 5 -ksp_converged_maxits",
        cg + "-pc_type jacobi -ksp_max_it 5 -ksp_convergence_test skip", cg + "-pc_type jacobi -ksp_atol 1e-2",
        cg + "-pc_type none -ksp_divtol 1.0001 -ksp_rtol 1e-12",
        cg + "-pc_type jacobi -ksp_initial_guess_nonzero -ksp_converged_use_initial_residual_norm",
        cg + "-pc_type jacobi -ksp_initial_guess_nonzero -ksp_converged_use_min_initial_residual_norm",
        cg + "-pc_type taskdag -pc_taskdag_type ilu -ksp_initial_guess_knoll"}) {
    SCOPED_TRACE(rest);
    expect_same(solve_of(poisson(), type(), kOurs + rest), solve_of(poisson(), type(), rest));
  }
  const std::string rest = cg + "-pc_type jacobi -ksp_rtol 1e-12";
  const Outcome ours = solve_of(indefinite(), type(), kOurs + rest);
  const Outcome theirs = solve_of(indefinite(), type(), rest);
  EXPECT_EQ(ours.loops, 1);
  EXPECT_EQ(ours.reason, theirs.reason);
}

TEST_P(KrylovLoop, MeetsZerosAndNumbersThatAreNotFinite) {
  for (const std::string& rest : {std::string("-ksp_type cg -pc_type jacobi "),
                                  std::string("-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ")}) {
    for (const double value :
         {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      SCOPED_TRACE(rest + std::to_string(value));
      std::array<Outcome, 2> outcomes;
      for (const std::size_t ours : {0U, 1U}) {
        const std::string all = (ours == 1 ? kOurs : "") + rest;
        const Case with = make_case(poisson(), type(), all);
        PETSC_OK(VecSet(with.b, value));
        outcomes[ours] = solve_in(with, all);
        if (value == 0.0) {
          PetscReal norm = 1.0;
          PETSC_OK(VecNorm(with.x, NORM_2, &norm));
          EXPECT_EQ(norm, 0.0);
        }
      }
      EXPECT_EQ(outcomes[1].loops, 1);
      EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
      EXPECT_EQ(outcomes[1].iterations, outcomes[0].iterations);
      EXPECT_EQ(outcomes[1].history, outcomes[0].history);
    }
  }
}

TEST_P(KrylovLoop, LeavesFailuresOfPreconditionersToPetsc) {
  CsrMatrix csr = poisson();
  std::ranges::fill(csr.values, 0.0);
  const std::string rest = "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu ";
  const Outcome ours = solve_of(csr, type(), kOurs + rest);
  EXPECT_EQ(ours.loops, 0);
  EXPECT_EQ(ours.reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(ours.reason, solve_of(csr, type(), rest).reason);
}

TEST_P(KrylovLoop, ReturnsWhatHasNotConvergedAsAnErrorWhereThatIsAskedFor) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-12 -ksp_error_if_not_converged";
  const Case with = make_case(indefinite(), type(), options);
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(solve_in(with, options).code), static_cast<int>(PETSC_ERR_NOT_CONVERGED));
}

/// Multiplies the matrix by a factor that depends on the row.
void change(Mat a, double factor) {
  const OwnedVec scale = make_vector(a, 2.0);
  ok(VecAbs(scale));
  ok(VecShift(scale, factor));
  ok(VecSqrtAbs(scale));
  ok(MatDiagonalScale(a, scale, scale));
}

using Step = std::function<void(Case&, const CsrMatrix&)>;
/// Runs steps on a KSP of ours and one of PETSc's, and compares after each.
void expect_same_steps(MatType type, const std::string& options, const std::vector<Step>& steps) {
  const CsrMatrix csr = poisson();
  Case ours = make_case(csr, type, kOurs + options);
  Case theirs = make_case(csr, type, options);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    SCOPED_TRACE("step " + std::to_string(k));
    for (Case* const one : {&ours, &theirs}) {
      steps[k](*one, csr);
      ok(VecSet(one->x, 0.0));
    }
    const Outcome of_theirs = solve_in(theirs, options);
    expect_same(solve_in(ours, kOurs + options), of_theirs);
    EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-4);
  }
}

TEST_P(KrylovLoop, FollowsTheMatrix) {
  const auto nothing = [](Case&, const CsrMatrix&) {};
  const auto values = [](Case& one, const CsrMatrix&) { change(one.a, 1.5); };
  const auto replace = [](Case& one, const CsrMatrix&) {
    MatType of_now = nullptr;
    ok(MatGetType(one.a, &of_now));
    // Other entries, as many rows.
    OwnedMat other = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 29, .ny = 33, .nz = 1}), of_now);
    ok(KSPSetOperators(one.ksp, other, other));
    std::swap(*one.a.out(), *other.out());
  };
  const auto keep = [](Case& one, const CsrMatrix&) { ok(KSPSetReusePreconditioner(one.ksp, PETSC_TRUE)); };
  const auto renew = [](Case& one, const CsrMatrix&) { ok(KSPSetReusePreconditioner(one.ksp, PETSC_FALSE)); };
  const auto forget = [](Case& one, const CsrMatrix&) {
    ok(KSPReset(one.ksp));
    ok(KSPSetOperators(one.ksp, one.a, one.a));
  };
  for (const std::string pc : {"jacobi", "none", "taskdag -pc_taskdag_type ilu", "taskdag -pc_taskdag_type sor",
                               "taskdag -pc_taskdag_type jacobi", "taskdag -pc_taskdag_type icc"}) {
    SCOPED_TRACE(pc);
    const std::string options = "-ksp_type cg -ksp_rtol 1e-8 -pc_type " + pc;
    const std::vector<Step> steps = {nothing, nothing, values, keep, values, renew,
                                     replace, values,  forget, keep, values};
    expect_same_steps(type(), options, steps);
    if (std::string(type()) == MATAIJCUSPARSE && pc.starts_with("taskdag"))
      expect_same_steps(MATAIJ, options + kOnGpu, steps);
  }
}

/// They are those that PETSc has inverted last, also where the matrix has other values now.
TEST_P(KrylovLoop, TakesTheBlocksThatPetscHas) {
  const std::string options = "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type pbjacobi ";
  const auto make = [&](const std::string& how) {
    OwnedMat a;
    ok(make_blocks(a.out(), type(), {.size = 3, .symmetric = true}));
    return make_case(std::move(a), how + options);
  };
  std::array<Case, 2> both = {make(""), make(kOurs)};
  const auto compare = [&](const std::string& when, int loops) {
    SCOPED_TRACE(when);
    const Outcome theirs = solve_in(both[0], options);
    const Outcome found = solve_in(both[1], kOurs + options);
    if (loops > 0) return expect_same(found, theirs);
    EXPECT_EQ(found.loops, 0);
    EXPECT_EQ(found.iterations, theirs.iterations);
    EXPECT_NE(found.view.find("the preconditioner cannot be applied inside a loop"), std::string::npos) << found.view;
  };
  const auto each = [&](const std::function<void(Case&)>& step) {
    for (Case& one : both) step(one);
  };
  compare("first", 1);
  each([](Case& one) { change(one.a, 1.5); });
  compare("other values", 1);
  each([](Case& one) {
    ok(KSPSetReusePreconditioner(one.ksp, PETSC_TRUE));
    change(one.a, 1.5);
  });
  compare("kept", 1);
  each([](Case& one) {
    ok(KSPSetReusePreconditioner(one.ksp, PETSC_FALSE));
    PC pc = nullptr;
    ok(KSPGetPC(one.ksp, &pc));
    ok(PCSetUp(pc));  // of these values no solve of ours has seen the blocks
    ok(KSPSetReusePreconditioner(one.ksp, PETSC_TRUE));
    change(one.a, 1.5);
  });
  compare("kept, and never seen", 0);
  each([](Case& one) { ok(KSPSetReusePreconditioner(one.ksp, PETSC_FALSE)); });
  compare("renewed", 1);
  for (const std::string pc : {"-pc_type jacobi ", "-pc_type taskdag -pc_taskdag_type ilu ", "-pc_type pbjacobi "}) {
    const ScopedOptions other(pc);
    each([](Case& one) { ok(KSPSetFromOptions(one.ksp)); });
    compare(pc, 1);
  }
}

TEST_P(KrylovLoop, LeavesASingularBlockToPetsc) {
  const std::string options = "-ksp_type gmres -pc_type pbjacobi ";
  std::array<Outcome, 2> outcomes;
  for (const std::size_t ours : {0U, 1U}) {
    OwnedMat a;
    PETSC_OK(make_blocks(a.out(), type(), {.size = 3, .singular = 4}));
    const std::string all = (ours == 1 ? kOurs : "") + options;
    outcomes[ours] = solve_in(make_case(std::move(a), all), all);
  }
  EXPECT_EQ(static_cast<int>(outcomes[0].code), static_cast<int>(outcomes[1].code));
  EXPECT_EQ(outcomes[0].reason, outcomes[1].reason);
  EXPECT_EQ(outcomes[1].loops, 0);
}

/// Applications that a graph replays are counted, too, and the graph is captured again: in the second solve.
TEST_P(KrylovLoop, LeavesTheFactorOfOneBlockAfterManyReplays) {
  if (std::string(type()) != "aijcusparse") GTEST_SKIP() << "one thread block applies factors on a GPU";
  if (!kDeviceLink) GTEST_SKIP() << "there are no graphs to be replayed";
  const CsrMatrix plane = make_stencil({.stencil = Stencil::five_point, .nx = 45, .ny = 45, .nz = 1});
  for (const std::string pc : {"ilu", "icc"}) {
    SCOPED_TRACE(pc);
    const std::string options = "-ksp_type cg -ksp_rtol 1e-10 -pc_type taskdag -pc_taskdag_type " + pc + " ";
    const Case ours = make_case(plane, type(), kOurs + options);
    const Case theirs = make_case(plane, type(), options);
    for (int k = 0; k < 5; ++k) {
      SCOPED_TRACE(k);
      const Outcome of_theirs = solve_in(theirs, options);
      const Outcome of_ours = solve_in(ours, kOurs + options);
      expect_same(of_ours, of_theirs);
      EXPECT_EQ(of_ours.loops, 1);
      EXPECT_LE(relative_difference(ours.x, theirs.x), 1e-6);
      EXPECT_EQ(of_ours.view.find("schedules: forward one-block") != std::string::npos, k < 1) << of_ours.view;
      if (k == 3) continue;
      for (const Case* const one : {&ours, &theirs}) change(one->a, 1.5);
    }
  }
}

TEST_P(KrylovLoop, FollowsTheNullSpace) {
  const std::string options = "-ksp_type cg -pc_type taskdag -pc_taskdag_type jacobi ";
  const std::vector<double> constant = null_vector(poisson().rows, true);
  const std::vector<double> other = null_vector(poisson().rows, false);
  const auto take = [](Case& with, const std::vector<double>& null, bool is_constant) {
    MatType of_now = nullptr;
    ok(MatGetType(with.a, &of_now));
    const OwnedMat values = make_matrix(singular(poisson(), null), of_now);
    ok(MatCopy(values, with.a, SAME_NONZERO_PATTERN));
    attach(with, null, is_constant);
  };
  const auto nothing = [](Case&, const CsrMatrix&) {};
  const auto first = [&](Case& with, const CsrMatrix&) { take(with, constant, true); };
  const auto second = [&](Case& with, const CsrMatrix&) { take(with, other, false); };
  const auto none = [](Case& with, const CsrMatrix& csr) {
    MatType of_now = nullptr;
    ok(MatGetType(with.a, &of_now));
    const OwnedMat values = make_matrix(csr, of_now);
    ok(MatCopy(values, with.a, SAME_NONZERO_PATTERN));
    ok(MatSetNullSpace(with.a, nullptr));
  };
  expect_same_steps(type(), options, {nothing, first, nothing, second, first, none, second});
}

TEST_P(KrylovLoop, TakesAnotherPreconditionerAndOtherSettings) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type ilu";
  Case with = make_case(poisson(), type(), options);
  const PetscInt first = solve_in(with, options).iterations;
  PC pc = nullptr;
  PETSC_OK(KSPGetPC(with.ksp, &pc));
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  const Outcome jacobi = solve_in(with, options);
  EXPECT_GT(jacobi.iterations, first);
  EXPECT_NE(jacobi.view.find("a diagonal"), std::string::npos);
  PETSC_OK(PCSetType(pc, PCNONE));
  EXPECT_NE(solve_in(with, options).view.find("preconditioner: none"), std::string::npos);
  PETSC_OK(KSPSetNormType(with.ksp, KSP_NORM_NATURAL));
  const Outcome natural = solve_in(with, options);
  EXPECT_EQ(natural.loops, 1);
  PETSC_OK(KSPSetNormType(with.ksp, KSP_NORM_PRECONDITIONED));
  OwnedPc other = make_pc(with.a, "-pc_type taskdag -pc_taskdag_type ilu");
  PETSC_OK(KSPSetPC(with.ksp, other));
  PETSC_OK(PCDestroy(other.out()));
  EXPECT_EQ(solve_in(with, options).iterations, first);
}

TEST_P(KrylovLoop, OfTwoKspsAndRepeatedHasTheSameBits) {
  const std::string options = kOurs + "-ksp_type cg -pc_type taskdag -pc_taskdag_type dic";
  const Case one = make_case(poisson(), type(), options);
  const Case two = make_case(poisson(), type(), options);
  const Outcome first = solve_in(one, options);
  EXPECT_EQ(solve_in(two, options).history, first.history);
  EXPECT_EQ(solve_in(one, options).history, first.history);
  EXPECT_EQ(solve_in(two, options).history, first.history);
  PetscBool equal = PETSC_FALSE;
  PETSC_OK(VecEqual(one.x, two.x, &equal));
  EXPECT_TRUE(equal);
  PetscInt total = 0;
  PETSC_OK(KSPGetTotalIterations(one.ksp, &total));
  EXPECT_EQ(total, 2 * first.iterations);
}

TEST_P(KrylovLoop, GetsAnotherType) {
  const std::string options = kOurs + "-ksp_type cg -pc_type jacobi";
  const Case with = make_case(poisson(), type(), options);
  EXPECT_EQ(solve_in(with, options).loops, 1);
  PETSC_OK(KSPSetType(with.ksp, KSPFCG));
  const Outcome other = solve_in(with, options);
  EXPECT_EQ(other.loops, 0);
  EXPECT_EQ(other.view.find("loop:"), std::string::npos);
  PETSC_OK(KSPSetType(with.ksp, "taskdag_cg"));
  EXPECT_EQ(solve_in(with, "").loops, 1);
}

/// Two fields: rows with even and with odd numbers.
void split_rows(const Case& with) {
  PC pc = nullptr;
  PetscInt rows = 0;
  ok(KSPGetPC(with.ksp, &pc));
  ok(MatGetSize(with.a, &rows, nullptr));
  for (const PetscInt first : {0, 1}) {
    OwnedIs field;
    ok(ISCreateStride(PETSC_COMM_SELF, (rows + 1 - first) / 2, first, 2, field.out()));
    ok(PCFieldSplitSetIS(pc, nullptr, field));
  }
}

/// The same solve with PETSc's loops inside and with ours, of which there are at least so many an iteration.
void expect_same_inside(MatType type, const std::string& use, const std::string& options, int loops) {
  SCOPED_TRACE(use + options);
  std::array<Outcome, 2> outcomes;
  for (const std::size_t ours : {0U, 1U}) {
    const std::string all = (ours == 1 ? use : "") + options;
    const Case with = make_case(poisson(), type, all);
    if (options.find("fieldsplit") != std::string::npos) split_rows(with);
    outcomes[ours] = solve_in(with, all);
  }
  EXPECT_GE(outcomes[1].loops, loops * outcomes[1].iterations) << outcomes[1].view;
  EXPECT_GT(outcomes[1].loops, 0);
  EXPECT_EQ(outcomes[0].loops, 0);
  EXPECT_EQ(outcomes[1].reason, outcomes[0].reason);
  EXPECT_GT(outcomes[1].reason, 0);
  EXPECT_LE(std::abs(outcomes[1].iterations - outcomes[0].iterations), 1);
}

TEST_P(KrylovLoop, RunsInsidePreconditioners) {
  const std::string ours_alone = "-taskdag_ksp auto ";
  const std::string split =
      "-ksp_type fgmres -pc_type fieldsplit -pc_fieldsplit_type multiplicative -fieldsplit_ksp_type cg "
      "-fieldsplit_ksp_rtol 1e-3 -fieldsplit_pc_type ";
  const std::string levels = "-ksp_type fgmres -pc_type gamg -mg_levels_ksp_max_it 2 -mg_levels_ksp_type ";
  expect_same_inside(type(), kOurs, split + "jacobi ", 2);
  expect_same_inside(type(), ours_alone, split + "taskdag -fieldsplit_pc_taskdag_type jacobi ", 2);
  expect_same_inside(type(), ours_alone, split + "taskdag -fieldsplit_pc_taskdag_type icc ", 2);
  for (const std::string smoother : {"cg ", "richardson -mg_levels_ksp_richardson_scale 0.6 ", "chebyshev ",
                                     "chebyshev -mg_levels_esteig_ksp_type cg "}) {
    const std::string pc = levels + smoother + "-mg_levels_pc_type ";
    expect_same_inside(type(), kOurs, pc + "jacobi ", 2);
    expect_same_inside(type(), ours_alone, pc + "taskdag -mg_levels_pc_taskdag_type jacobi ", 2);
    expect_same_inside(type(), ours_alone, pc + "taskdag -mg_levels_pc_taskdag_type ilu ", 2);
  }
}

TEST_P(KrylovLoop, CopiesNothingOfDeviceVectors) {
  if (std::string(type()) != MATAIJCUSPARSE) GTEST_SKIP() << "host";
  for (const char* const pc : {"jacobi", "none", "taskdag -pc_taskdag_type ilu"}) {
    const std::string options = kOurs + "-ksp_type cg -pc_type " + pc;
    const Case with = make_case(poisson(), type(), options);
    solve_in(with, options);
    const PetscEventPerfInfo before = event_info("TaskDAGKrylov");
    solve_in(with, options);
    const PetscEventPerfInfo after = event_info("TaskDAGKrylov");
    EXPECT_EQ(after.count, before.count + 1);
#if defined(PETSC_HAVE_DEVICE)
    EXPECT_EQ(after.CpuToGpuCount, before.CpuToGpuCount);
    EXPECT_EQ(after.GpuToCpuCount, before.GpuToCpuCount);
#endif
  }
}

}  // namespace
}  // namespace taskdag::test
