// Orderings by colours in PETSc's own preconditioners, in ours, and in our factorisations under PETSc's.
#include <cstdint>

#include "support.hpp"
#include "support/periodic.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::test {
namespace {

CsrMatrix poisson(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .nz = 1}); }

CsrMatrix convection(Index n) {
  return make_stencil(
      {.stencil = Stencil::seven_point, .nx = n, .ny = n, .nz = n, .unknowns_per_node = 1, .wind = 0.5});
}

CsrMatrix unknowns_per_point(Index unknowns) {
  return make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .unknowns_per_node = unknowns});
}
CsrMatrix three_unknowns() { return unknowns_per_point(3); }

Solve converged(Mat a, const std::string& options) {
  Solve result = solve(a, options);
  EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
  EXPECT_GT(result.reason, 0);
  return result;
}

/// The line of the view that names the ordering.
std::string ordering_line(const std::string& view) {
  const std::string begin = "matrix ordering: ";
  const std::size_t at = view.find(begin);
  return at == std::string::npos ? "" : view.substr(at + begin.size(), view.find('\n', at) - at - begin.size());
}

/// Iterations for a random right-hand side. A smooth one says little: for it the natural order of a grid is better than
/// any other, and better than for other right-hand sides.
PetscInt iterations_for_random_rhs(Mat a, const std::string& text) {
  const ScopedOptions options("-ksp_rtol 1e-8 " + text);
  OwnedVec b;
  OwnedVec x;
  OwnedKsp ksp;
  PetscInt n = 0;
  PetscInt iterations = -1;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscScalar* values = nullptr;
  EXPECT_EQ(static_cast<int>(MatCreateVecs(a, x.out(), b.out())), 0);
  EXPECT_EQ(static_cast<int>(VecGetLocalSize(b, &n)), 0);
  EXPECT_EQ(static_cast<int>(VecGetArrayWrite(b, &values)), 0);
  std::uint32_t state = 1;
  for (PetscInt i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    values[i] = static_cast<double>(state) / 2147483648.0 - 1.0;
  }
  EXPECT_EQ(static_cast<int>(VecRestoreArrayWrite(b, &values)), 0);
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_SELF, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, x)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetConvergedReason(ksp, &reason)), 0);
  EXPECT_EQ(static_cast<int>(KSPGetIterationNumber(ksp, &iterations)), 0);
  EXPECT_GT(reason, 0);
  return iterations;
}

const char* const kByColours[] = {"taskdag_color", "taskdag_bmc"};

TEST(BlockOrdering, NeedsAtMost15PercentMoreIterationsThanTheNaturalOrder) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  struct Case {
    OwnedMat a;
    std::string options;
  };
  Case cases[] = {{make_matrix(poisson(250)), "-ksp_type cg -pc_type icc"},
                  {make_matrix(convection(40)), "-ksp_type bcgs -pc_type ilu"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.options);
    const std::string ordered = c.options + " -pc_factor_mat_ordering_type ";
    const PetscInt natural = iterations_for_random_rhs(c.a, c.options);
    const PetscInt blocks = iterations_for_random_rhs(c.a, ordered + "taskdag_bmc");
    const PetscInt points = iterations_for_random_rhs(c.a, ordered + "taskdag_color");
    EXPECT_LE(blocks, 1.15 * static_cast<double>(natural));
    EXPECT_LT(blocks, points);
  }
}

TEST(BlockOrdering, GivesTheSameIterationsInPetscsFactorAndInOurs) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  for (const CsrMatrix& matrix :
       {convection(15), three_unknowns(), load("orsreg_1"), load("jpwh_991"), load("add32")}) {
    const OwnedMat a = make_matrix(matrix);
    for (const std::string name : kByColours) {
      SCOPED_TRACE(name + " of " + std::to_string(matrix.rows) + " rows");
      const std::string options = "-ksp_type gmres -pc_type ilu -pc_factor_mat_ordering_type " + name;
      const Solve theirs = converged(a, options);
      const Solve package =
          converged(a, options + " -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 2");
      EXPECT_EQ(package.iterations, theirs.iterations);
      const Solve forced = converged(a, options +
                                            " -pc_factor_mat_solver_type taskdag -pc_taskdag_backend host "
                                            "-pc_taskdag_threads 2 -pc_taskdag_schedule blocks");
      EXPECT_EQ(forced.iterations, theirs.iterations);
      EXPECT_NE(forced.view.find("schedules: forward blocks, backward blocks"), std::string::npos) << forced.view;
    }
  }
}

TEST(BlockOrdering, SpeculativeColoursGiveAFactorThatConverges) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  for (const CsrMatrix& matrix : {convection(15), three_unknowns(), load("orsreg_1")}) {
    const OwnedMat a = make_matrix(matrix);
    const std::string options = "-ksp_type gmres -pc_factor_mat_ordering_type taskdag_color -pc_type ";
    const Solve hashed = converged(a, options + "ilu");
    // Other colours each time: both solvers may take a few iterations more or less.
    for (const std::string solver : {"ilu", "taskdag -pc_taskdag_backend host"}) {
      const Solve speculative = converged(a, options + solver + " -taskdag_color_form speculative");
      EXPECT_LE(std::abs(speculative.iterations - hashed.iterations), 5 + hashed.iterations / 2);
    }
  }
}

TEST(BlockOrdering, GivesTheSameIterationsForTheUpperTriangleAlone) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const CsrMatrix matrix = poisson(60);
  const OwnedMat full = make_matrix(matrix);
  OwnedMat upper;
  PETSC_OK(MatSetOption(full, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(full, MATSBAIJ, MAT_INITIAL_MATRIX, upper.out()));
  for (const std::string name : kByColours) {
    SCOPED_TRACE(name);
    const std::string options =
        "-ksp_type cg -pc_taskdag_type icc -pc_type taskdag -pc_taskdag_backend host "
        "-pc_taskdag_ordering " +
        name;
    EXPECT_EQ(converged(upper, options).iterations, converged(full, options).iterations);
  }
}

TEST(BlockOrdering, WorksInTheBlocksOfSeveralRanks) {
  const OwnedMat a = make_matrix(convection(14));
  for (const std::string name : kByColours) {
    SCOPED_TRACE(name);
    const std::string jacobi = "-ksp_type gmres -pc_type bjacobi -sub_pc_type ";
    const std::string ordering = " -sub_pc_factor_mat_ordering_type " + name;
    const Solve theirs = converged(a, jacobi + "ilu" + ordering);
    const Solve ours = converged(a, jacobi + "taskdag -sub_pc_taskdag_backend host" + ordering);
    EXPECT_EQ(ours.iterations, theirs.iterations);
    const Solve alone =
        converged(a, "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering " + name);
    EXPECT_EQ(alone.iterations, theirs.iterations);
    const std::string schwarz = "-ksp_type gmres -pc_type asm -sub_pc_type ";
    EXPECT_EQ(converged(a, schwarz + "taskdag -sub_pc_taskdag_backend host" + ordering).iterations,
              converged(a, schwarz + "ilu" + ordering).iterations);
  }
}

TEST(BlockOrdering, IsDescribedInTheView) {
  const OwnedMat a = make_local_matrix(poisson(64));
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host ";
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 64").view),
            "taskdag_bmc: 64 blocks of about 64 rows (grid), 2 colours");
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_factor_mat_ordering_type rcm").view), "rcm");
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_taskdag_ordering natural").view), "natural");
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_factor_mat_ordering_type rcm -pc_taskdag_ordering natural").view),
            "natural")
      << "our own option counts";
}

TEST(BlockOrdering, EachSolverMayHaveItsOwnBlockSize) {
  const OwnedMat a = make_local_matrix(poisson(64));
  const std::string ours = "-pc_taskdag_backend host -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 64 ";
  for (const std::string type : {"icc", "sor"}) {
    const std::string options = "-ksp_type cg -pc_type taskdag -pc_taskdag_type " + type + " " + ours;
    EXPECT_EQ(ordering_line(converged(a, options + "-pc_taskdag_bmc_block_size 16").view),
              "taskdag_bmc: 256 blocks of about 16 rows (grid), 2 colours");
    EXPECT_EQ(ordering_line(converged(a, options + "-pc_taskdag_bmc_block_size 0").view),
              "taskdag_bmc: 64 blocks of about 64 rows (grid), 2 colours");
  }
  EXPECT_EQ(ordering_line(converged(a,
                                    "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 1 -sub_pc_type taskdag "
                                    "-sub_pc_taskdag_bmc_block_size 16 "
                                    "-sub_pc_taskdag_backend host -sub_pc_taskdag_ordering taskdag_bmc")
                              .view),
            "taskdag_bmc: 256 blocks of about 16 rows (grid), 2 colours");
}

TEST(BlockOrdering, AMatrixMayHaveItsOwnBlockSize) {
  const OwnedMat a = make_local_matrix(poisson(64));
  const std::string ours =
      "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend host "
      "-pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 64 -flow_taskdag_bmc_block_size 16";
  EXPECT_EQ(ordering_line(converged(a, ours).view), "taskdag_bmc: 64 blocks of about 64 rows (grid), 2 colours")
      << "another matrix' prefix";
  PETSC_OK(MatSetOptionsPrefix(a, "flow_"));
  EXPECT_EQ(ordering_line(converged(a, ours).view), "taskdag_bmc: 256 blocks of about 16 rows (grid), 2 colours");
  EXPECT_NE(solve(a,
                  "-pc_type taskdag -flow_taskdag_rcm_form task -pc_taskdag_backend host "
                  "-pc_taskdag_ordering taskdag_rcm")
                .message.find("-taskdag_rcm_form must be auto, walk, tasks, not \"task\""),
            std::string::npos);
  EXPECT_NE(solve(a,
                  "-pc_type taskdag -flow_taskdag_color_form random -pc_taskdag_backend host "
                  "-pc_taskdag_ordering taskdag_color")
                .message.find("-taskdag_color_form must be auto, hashed, speculative, not \"random\""),
            std::string::npos);
}

TEST(Ordering, ChosenAutomaticallyIsTheNaturalOneOnTheHost) {
  const OwnedMat a = make_local_matrix(poisson(120));
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc ";
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_taskdag_backend host").view), "natural (auto: host threads)");
  EXPECT_EQ(ordering_line(converged(a, ours + "-pc_taskdag_backend host -pc_factor_levels 1").view),
            "natural (auto: levels of fill)");
}

TEST(Ordering, ChosenAutomaticallyOnCudaDependsOnTheLevels) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend cuda";
  const OwnedMat deep = make_local_matrix(poisson(120));
  const std::string line = ordering_line(converged(deep, ours).view);
  EXPECT_NE(line.find("taskdag_bmc"), std::string::npos) << line;
  EXPECT_NE(line.find("(auto: 100 or more levels for 14400 rows of about 5 entries)"), std::string::npos) << line;
  const OwnedMat small = make_local_matrix(poisson(30));
  EXPECT_EQ(ordering_line(converged(small, ours).view), "natural (auto: fewer than 10000 rows)");
  EXPECT_EQ(ordering_line(converged(deep, ours + " -pc_taskdag_one_block_rows 20000").view),
            "natural (auto: no more than 20000 rows, one thread block)");
}

TEST(Ordering, ChosenAutomaticallyOnCudaIsTheNaturalOneOfGridsWithLargeStencils) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const std::string ours = "-ksp_type cg -pc_type taskdag -pc_taskdag_type icc -pc_taskdag_backend cuda";
  // 40 · 40 rows of a plane: levels are wide. With 20 · 20 points of three unknowns they are narrow.
  const auto of = [](int unknowns) {
    const Index n = unknowns == 1 ? 40 : 20;
    return make_stencil(
        {.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = n, .unknowns_per_node = unknowns});
  };
  const bool in_order = runs_in_order(Context::create({.backend = Backend::cuda}), of(1).pattern(), MemorySpace::host);
  for (const int unknowns : {1, 3}) {
    SCOPED_TRACE(unknowns);
    const std::string line = ordering_line(converged(make_local_matrix(of(unknowns)), ours).view);
    if (in_order) {
      EXPECT_TRUE(line.starts_with("natural (auto: ")) << line;
      EXPECT_NE(line.find("entries, points of a grid)"), std::string::npos) << line;
    } else if (unknowns == 1) {
      EXPECT_NE(line.find("about 64 rows (grid)"), std::string::npos) << line;
    }
  }
  // Rows of a line that closes wait for the line before.
  const std::string closed = ordering_line(converged(make_local_matrix(test::periodic_grid(40)), ours).view);
  EXPECT_NE(closed.find("taskdag_color"), std::string::npos) << closed;
  // Blocks are what single precision is fastest by.
  const std::string line =
      ordering_line(converged(make_local_matrix(of(1)), ours + " -pc_taskdag_precision single").view);
  EXPECT_NE(line.find("taskdag_bmc"), std::string::npos) << line;
  EXPECT_NE(line.find("about 64 rows (grid)"), std::string::npos) << line;
  EXPECT_NE(line.find("entries, points of a grid)"), std::string::npos) << line;
}

TEST(Ordering, IsThatOfTheRowsForTypesThatLendNone) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const OwnedMat rows = make_matrix(convection(7));
  for (const MatType type : {MATDENSE, MATSELL}) {
    OwnedMat other;
    PETSC_OK(MatConvert(rows, type, MAT_INITIAL_MATRIX, other.out()));
    for (const std::string ordering : {"rcm", "nd", "1wd", "qmd", "rowlength", "taskdag_rcm", "taskdag_bmc"}) {
      for (const std::string kind : {"ilu", "sor"}) {
        SCOPED_TRACE(std::string(type) + ", " + ordering + ", " + kind);
        const std::string options = "-ksp_type gmres -pc_type taskdag -pc_taskdag_type " + kind +
                                    " -pc_taskdag_backend host -pc_taskdag_ordering " + ordering;
        const Solve solved = converged(other, options);
        EXPECT_EQ(solved.iterations, converged(rows, options).iterations);
        EXPECT_EQ(ordering_line(solved.view).substr(0, ordering.size()), ordering);
      }
    }
  }
}

TEST(BlockOrdering, WithoutBlocksTheirScheduleIsAnError) {
  const OwnedMat a = make_local_matrix(poisson(20));
  const Solve result = solve(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_schedule blocks");
  EXPECT_NE(static_cast<int>(result.code), 0);
  EXPECT_NE(result.message.find("ordering by blocks"), std::string::npos) << result.message;
}

TEST(BlockOrdering, BlocksOfNoRowsAreAnError) {
  const OwnedMat a = make_local_matrix(poisson(20));
  for (const char* size : {"0", "-3"}) {
    const Solve result = solve(a, std::string("-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering "
                                              "taskdag_bmc -taskdag_bmc_block_size ") +
                                      size);
    EXPECT_NE(static_cast<int>(result.code), 0);
    EXPECT_NE(result.message.find("-taskdag_bmc_block_size"), std::string::npos) << result.message;
  }
}

/// Two matrices in one object: entries beside the diagonal at another distance.
OwnedMat coupled_at(Index n, Index distance) {
  CsrMatrix a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (const Index j : {i - distance, i, i + distance}) {
      if (j < 0 || j >= n) continue;
      a.col_indices.push_back(j);
      a.values.push_back(j == i ? 3.0 : -1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return make_local_matrix(a);
}

TEST(BlockOrdering, ItsBlocksAreForgottenWhenTheOrderingIsKeptForAnotherPattern) {
  const OwnedMat near = coupled_at(600, 1);
  const OwnedMat far = coupled_at(600, 40);
  for (const std::string backend : {"host -pc_taskdag_threads 2", "cuda"}) {
    if (backend == "cuda" && probe_devices().devices == 0) continue;
    const std::string text = "-pc_type taskdag -pc_taskdag_backend " + backend +
                             " -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 10 -pc_factor_reuse_ordering";
    const OwnedPc pc = make_pc(near, text);
    PETSC_OK(PCSetOperators(pc, far, far));
    PETSC_OK(PCSetUp(pc));
    const OwnedVec b = make_vector(far);
    const OwnedVec x = make_vector(far, 2.0);
    const OwnedVec r = make_vector(far, 3.0);
    PETSC_OK(PCApply(pc, b, x));
    // Chains: ILU(0) is exact in any order that leaves the chains' ends for last, and close to it in this one.
    PETSC_OK(MatMult(far, x, r));
    EXPECT_LT(relative_difference(r, b), 0.5) << backend;
  }
}

TEST(BlockOrdering, OfAFactorOnCudaIsThatOfTheHost) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const OwnedMat a = make_local_matrix(poisson(120));
  const OwnedMat in_pairs = make_local_matrix(poisson(60));
  PETSC_OK(MatSetBlockSize(in_pairs, 2));
  const auto line = [](PC pc) {
    OwnedKsp ksp;
    EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_SELF, ksp.out())), 0);
    EXPECT_EQ(static_cast<int>(KSPSetPC(ksp, pc)), 0);
    return ordering_line(view_text(ksp));
  };
  for (const std::string options :
       {"-pc_taskdag_ordering taskdag_bmc", "-pc_taskdag_type icc -pc_taskdag_ordering taskdag_bmc",
        "-pc_taskdag_ordering taskdag_color", "-pc_taskdag_type icc -pc_taskdag_ordering taskdag_color",
        "-pc_taskdag_ordering taskdag_bmc -pc_taskdag_one_block_rows 20000",
        "-pc_taskdag_ordering taskdag_bmc -pc_factor_levels 1 -pc_taskdag_fill blocks",
        "-pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 16 -pc_taskdag_point_block on"}) {
    SCOPED_TRACE(options);
    Mat matrix = options.find("point_block") == std::string::npos ? a : in_pairs;
    const OwnedPc ours = make_pc(matrix, "-pc_type taskdag -pc_taskdag_backend cuda " + options);
    const OwnedPc reference = make_pc(matrix, "-pc_type taskdag -pc_taskdag_backend host " + options);
    EXPECT_EQ(line(ours), line(reference));
    EXPECT_LT(difference_of_applications(ours, reference, matrix), 1e-12);
    PETSC_OK(MatScale(matrix, 2.0));
    for (PC pc : {static_cast<PC>(ours), static_cast<PC>(reference)}) PETSC_OK(PCSetUp(pc));
    EXPECT_LT(difference_of_applications(ours, reference, matrix), 1e-12);
    // Another matrix of that pattern, in the order that is there.
    PETSC_OK(PCFactorSetReuseOrdering(ours, PETSC_TRUE));
    const OwnedMat other = make_local_matrix(poisson(matrix == a ? 120 : 60));
    PETSC_OK(MatSetBlockSize(other, matrix == a ? 1 : 2));
    if (options.find("fill") != std::string::npos) continue;  // needs blocks of this very pattern
    PETSC_OK(PCSetOperators(ours, other, other));
    PETSC_OK(PCSetUp(ours));
    const OwnedPc again = make_pc(other, "-pc_type taskdag -pc_taskdag_backend host " + options);
    EXPECT_LT(difference_of_applications(ours, again, other), 1e-12);
  }
}

TEST(BlockOrdering, KeepsRowsTogetherThatPetscTreatsAsOne) {
  const OwnedMat a = make_local_matrix(three_unknowns());
  for (const std::string name : kByColours) {
    OwnedIs row;
    OwnedIs col;
    PETSC_OK(MatGetOrdering(a, name.c_str(), row.out(), col.out()));
    const PetscInt* order = nullptr;
    PetscInt n = 0;
    PETSC_OK(ISGetLocalSize(row, &n));
    PETSC_OK(ISGetIndices(row, &order));
    for (PetscInt p = 0; p < n; p += 3) {
      EXPECT_EQ(order[p] % 3, 0);
      EXPECT_EQ(order[p + 1], order[p] + 1);
      EXPECT_EQ(order[p + 2], order[p] + 2);
    }
    PETSC_OK(ISRestoreIndices(row, &order));
  }
}

OwnedMat in_blocks_of_three(const CsrMatrix& csr) {
  OwnedMat blocks;
  const OwnedMat rows = make_local_matrix(csr);
  EXPECT_EQ(static_cast<int>(MatSetBlockSize(rows, 3)), 0);
  EXPECT_EQ(static_cast<int>(MatConvert(rows, MATSEQBAIJ, MAT_INITIAL_MATRIX, blocks.out())), 0);
  return blocks;
}

/// Our ILU of `a` orders the rows as PETSc's does, which asks MatGetOrdering(), and knows the blocks.
void expect_order_of_petscs_ilu(Mat a) {
  for (const std::string name : kByColours) {
    SCOPED_TRACE(name);
    const std::string order = " -pc_factor_mat_ordering_type " + name + " -taskdag_bmc_block_size 24";
    const OwnedPc theirs = make_pc(a, "-pc_type ilu" + order);
    for (const std::string schedule : {"serial", "blocks"}) {
      const OwnedPc ours =
          make_pc(a, "-pc_type taskdag -pc_taskdag_type ilu -pc_taskdag_backend host -pc_taskdag_threads 2" + order +
                         " -pc_taskdag_schedule " + schedule);
      EXPECT_LT(difference_of_applications(ours, theirs, a), 1e-12) << schedule;
    }
  }
}

TEST(BlockOrdering, OfNodesIsTheSameInPetscsFactorAndInOurPreconditioner) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  expect_order_of_petscs_ilu(make_local_matrix(three_unknowns()));
  expect_order_of_petscs_ilu(in_blocks_of_three(three_unknowns()));
}

/// What our preconditioner says of its order.
std::string order_of_ours(Mat a, const std::string& ordering) {
  return ordering_line(converged(a, "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_ordering " + ordering).view);
}

// A colour more than the points of the mesh need would come from nodes that are torn.
TEST(BlockOrdering, OfNodesHasTheColoursOfTheMesh) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const std::string colours = order_of_ours(make_local_matrix(unknowns_per_point(1)), "taskdag_color");
  const OwnedMat rows = make_local_matrix(three_unknowns());
  const OwnedMat blocks = in_blocks_of_three(three_unknowns());
  for (const Mat a : {static_cast<Mat>(rows), static_cast<Mat>(blocks)}) {
    EXPECT_EQ(order_of_ours(a, "taskdag_color"), colours);
    const std::string line = order_of_ours(a, "taskdag_bmc -taskdag_bmc_block_size 36");
    EXPECT_NE(line.find(" blocks of about 36 rows (grid), 2 colours"), std::string::npos) << line;
  }
  // A type that never looks for nodes, like those on devices.
  const OwnedMat other = make_local_matrix(three_unknowns(), MATSEQAIJPERM);
  EXPECT_EQ(order_of_ours(other, "taskdag_color"), colours);
  EXPECT_NE(order_of_ours(other, "taskdag_color -mat_no_inode"), colours);
}

OwnedMat without_nodes(const CsrMatrix& csr) {
  const ScopedOptions options("-mat_no_inode");
  return make_local_matrix(csr);
}

TEST(BlockOrdering, WithoutNodesTakesRowsOneByOne) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const OwnedMat a = without_nodes(three_unknowns());
  EXPECT_NE(order_of_ours(a, "taskdag_color"), order_of_ours(make_local_matrix(three_unknowns()), "taskdag_color"));
  expect_order_of_petscs_ilu(a);
}

/// Rows 2k and 2k + 1 have the same columns, columns 2k and 2k + 1 have not: pairs need the first of the next pair and
/// the last of one that is far.
CsrMatrix equal_rows_of_unequal_columns(Index pairs) {
  CsrMatrix a;
  a.rows = a.cols = 2 * pairs;
  for (Index i = 0; i < a.rows; ++i) {
    const Index first = i - i % 2;
    for (const Index j : {first - 13, first, first + 1, first + 2}) {
      if (j < 0 || j >= a.rows) continue;
      a.col_indices.push_back(j);
      a.values.push_back(j == i ? 5.0 : -1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

TEST(BlockOrdering, OfEqualRowsOfUnequalColumnsIsAPermutation) {
  SKIP_UNLESS_RANKS(ranks() == 1, "one rank");
  const OwnedMat a = make_local_matrix(equal_rows_of_unequal_columns(200));
  for (const std::string name : kByColours) {
    SCOPED_TRACE(name);
    OwnedIs row;
    OwnedIs col;
    PetscBool permutation = PETSC_FALSE;
    PETSC_OK(MatGetOrdering(a, name.c_str(), row.out(), col.out()));
    PETSC_OK(ISPermutation(row, &permutation));
    EXPECT_EQ(permutation, PETSC_TRUE);
  }
  expect_order_of_petscs_ilu(a);
}

}  // namespace
}  // namespace taskdag::test
