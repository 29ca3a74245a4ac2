// Aggregates of ours behind PETSc's MatCoarsen, and GAMG's levels by them.
#include <petsc/private/matimpl.h>

#include <string>
#include <vector>

#include "krylov_cases.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

using OwnedCoarsen = Owned<MatCoarsen, MatCoarsenDestroy>;
PetscErrorCode destroy_lists(PetscCoarsenData** lists) {
  return *lists ? PetscCDDestroy(*lists) : static_cast<PetscErrorCode>(0);
}
using OwnedLists = Owned<PetscCoarsenData*, destroy_lists>;

/// GAMG by our aggregates on all levels: the option's name up to PETSc 3.21, and that since.
const std::string kOurAggregates =
    "-mat_coarsen_type taskdag -pc_gamg_mat_coarsen_type taskdag -pc_gamg_aggressive_square_graph false ";
const std::string kGamg = "-ksp_type cg -ksp_rtol 1e-8 -pc_type gamg -mg_levels_pc_type jacobi ";

CsrMatrix plane() { return make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50, .nz = 1}); }
CsrMatrix space() { return make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 19, .nz = 18}); }

/// A grid with rows of which only the diagonal is left, as of points with given values.
CsrMatrix with_lonely_rows() {
  const CsrMatrix grid = plane();
  CsrMatrix a;
  a.rows = a.cols = grid.rows;
  const auto lonely = [](Index row) { return row % 7 == 0; };
  for (Index i = 0; i < grid.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset e = grid.row_offsets[row]; e < grid.row_offsets[row + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      const Index j = grid.col_indices[entry];
      if (j != i && (lonely(i) || lonely(j))) continue;
      a.col_indices.push_back(j);
      a.values.push_back(grid.values[entry]);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

/// The rows of each list in PETSc's global numbers.
std::vector<std::vector<PetscInt>> contents(const PetscCoarsenData* lists) {
  std::vector<std::vector<PetscInt>> all(static_cast<std::size_t>(lists->size));
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (const PetscCDIntNd* node = lists->array[k]; node; node = node->next) all[k].push_back(node->gid);
  }
  return all;
}

/// What they have to be: by local row that is a root, it and the other rows of its aggregate, ascending.
std::vector<std::vector<PetscInt>> expected_contents(const Aggregation& aggregation, PetscInt first) {
  std::vector<std::vector<PetscInt>> all(aggregation.aggregate.size());
  for (const Index root : aggregation.roots) all[static_cast<std::size_t>(root)].push_back(first + root);
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (aggregation.aggregate[row] < 0) continue;
    const auto root = static_cast<std::size_t>(aggregation.roots[static_cast<std::size_t>(aggregation.aggregate[row])]);
    if (root != row) all[root].push_back(first + static_cast<PetscInt>(row));
  }
  return all;
}

/// The rank's own rows and columns of a matrix whose rows are split as PETSc splits them.
CsrMatrix own_block(const CsrMatrix& whole, PetscInt first, PetscInt rows) {
  CsrMatrix block;
  block.rows = block.cols = static_cast<Index>(rows);
  for (PetscInt i = first; i < first + rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset e = whole.row_offsets[row]; e < whole.row_offsets[row + 1]; ++e) {
      const PetscInt j = whole.col_indices[static_cast<std::size_t>(e)];
      if (j >= first && j < first + rows) block.col_indices.push_back(static_cast<Index>(j - first));
    }
    block.row_offsets.push_back(static_cast<Offset>(block.col_indices.size()));
  }
  return block;
}

/// Of this rank, by the library with so many threads.
Aggregation aggregate_block(const CsrMatrix& whole, Mat a, int distance, int threads, PetscInt* first) {
  PetscInt rows = 0;
  ok(MatGetOwnershipRange(a, first, nullptr));
  ok(MatGetLocalSize(a, &rows, nullptr));
  const CsrMatrix block = own_block(whole, *first, rows);
  const Context context = Context::create({.backend = Backend::host, .threads = threads});
  return aggregate_rows(context, block.pattern(), MemorySpace::host, {distance});
}

OwnedLists apply(MatCoarsen coarsen, Mat a) {
  OwnedLists lists;
  ok(MatCoarsenSetAdjacency(coarsen, a));
  ok(MatCoarsenSetStrictAggs(coarsen, PETSC_TRUE));
  ok(MatCoarsenApply(coarsen));
  ok(MatCoarsenGetData(coarsen, lists.out()));
  return lists;
}

OwnedCoarsen make_coarsen(const std::string& options) {
  const ScopedOptions scope(options);
  OwnedCoarsen coarsen;
  ok(MatCoarsenCreate(PETSC_COMM_WORLD, coarsen.out()));
  ok(MatCoarsenSetFromOptions(coarsen));
  return coarsen;
}

/// Matrices of this type.
class Coarsen : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing_for(GetParam());
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static MatType type() { return GetParam().c_str(); }
};
INSTANTIATE_TEST_SUITE_P(On, Coarsen, testing::Values(MATAIJ, MATAIJCUSPARSE),
                         [](const auto& test) { return test.param; });

TEST_P(Coarsen, ListsAreTheAggregatesOfTheLibraryWithAnyThreads) {
  for (const CsrMatrix& csr : {plane(), space(), with_lonely_rows()}) {
    const OwnedMat a = make_matrix(csr, type());
    for (const int distance : {1, 2, 3}) {
      const OwnedCoarsen coarsen =
          make_coarsen("-mat_coarsen_type taskdag -mat_coarsen_misk_distance " + std::to_string(distance));
      const OwnedLists lists = apply(coarsen, a);
      for (const int threads : {1, 2, 5}) {
        PetscInt first = 0;
        const Aggregation expected = aggregate_block(csr, a, distance, threads, &first);
        EXPECT_EQ(contents(lists), expected_contents(expected, first)) << distance << ", threads " << threads;
      }
    }
  }
}

TEST_P(Coarsen, TakesTheDistanceThatGamgSets) {
  const OwnedMat a = make_matrix(space(), type());
  OwnedCoarsen coarsen;
  PETSC_OK(MatCoarsenCreate(PETSC_COMM_WORLD, coarsen.out()));
  PETSC_OK(MatCoarsenSetType(coarsen, MATCOARSENTASKDAG));
  for (const int distance : {1, 2, 1}) {
    PETSC_OK(MatCoarsenMISKSetDistance(coarsen, distance));
    PetscInt first = 0;
    const Aggregation expected = aggregate_block(space(), a, distance, 1, &first);
    EXPECT_EQ(contents(apply(coarsen, a)), expected_contents(expected, first));
  }
}

TEST_P(Coarsen, RefusesOtherDistances) {
  const OwnedMat a = make_matrix(plane(), type());
  for (const char* const distance : {"0", "-1", "1001"}) {
    const OwnedCoarsen coarsen =
        make_coarsen("-mat_coarsen_type taskdag -mat_coarsen_misk_distance " + std::string(distance));
    PETSC_OK(MatCoarsenSetAdjacency(coarsen, a));
    const ErrorCapture errors;
    EXPECT_EQ(static_cast<int>(MatCoarsenApply(coarsen)), static_cast<int>(PETSC_ERR_ARG_OUTOFRANGE));
    EXPECT_NE(errors.message().find("must be 1 to 1000"), std::string::npos) << errors.message();
  }
}

TEST_P(Coarsen, AnErrorOfOneRankIsOneOfAll) {
  const OwnedMat a = make_matrix(plane(), type());
  const OwnedCoarsen coarsen = make_coarsen("-mat_coarsen_type taskdag");
  PETSC_OK(MatCoarsenSetAdjacency(coarsen, a));
  if (rank() == ranks() - 1) ok(MatCoarsenMISKSetDistance(coarsen, -3));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(MatCoarsenApply(coarsen)), static_cast<int>(PETSC_ERR_ARG_OUTOFRANGE));
}

/// Rows of the level below the finest.
PetscInt rows_below(const Case& with) {
  PC pc = nullptr;
  KSP smoother = nullptr;
  Mat operators = nullptr;
  PetscInt levels = 0;
  PetscInt rows = 0;
  ok(KSPGetPC(with.ksp, &pc));
  ok(PCMGGetLevels(pc, &levels));
  ok(PCMGGetSmoother(pc, levels - 2, &smoother));
  ok(KSPGetOperators(smoother, &operators, nullptr));
  ok(MatGetSize(operators, &rows, nullptr));
  return rows;
}

TEST_P(Coarsen, GamgConvergesAsWithPetscsAggregates) {
  for (const CsrMatrix& csr : {plane(), space(), with_lonely_rows()}) {
    const Outcome theirs = solve_of(csr, type(), kGamg);
    ASSERT_GT(theirs.reason, 0);
    const std::string options = kGamg + kOurAggregates;
    const Case with = make_case(csr, type(), options);
    const Outcome ours = solve_in(with, options);
    ASSERT_GT(ours.reason, 0);
    EXPECT_LE(static_cast<double>(ours.iterations), 1.3 * static_cast<double>(theirs.iterations));
    // The finest level's roots are two couplings apart.
    PetscInt first = 0;
    PetscInt roots = aggregate_block(csr, with.a, 2, 1, &first).count();
    ASSERT_EQ(MPI_Allreduce(MPI_IN_PLACE, &roots, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(rows_below(with), roots);
  }
}

/// The same hierarchy each time. On several ranks and on a GPU PETSc's sums may have another order.
TEST_P(Coarsen, GamgTakesTheSameIterationsAgain) {
  const std::string options = kGamg + kOurAggregates;
  const Case with = make_case(space(), type(), options);
  const Outcome once = solve_in(with, options);
  PETSC_OK(MatScale(with.a, 2.0));
  PETSC_OK(VecZeroEntries(with.x));
  EXPECT_EQ(solve_in(with, options).iterations, once.iterations);
  const Outcome another = solve_of(space(), type(), options);
  EXPECT_EQ(another.iterations, once.iterations);
  if (ranks() == 1 && GetParam() == MATAIJ) {
    EXPECT_EQ(another.history, once.history);
  }
}

TEST_P(Coarsen, CyclesOfOursTakeTheHierarchy) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  for (const CsrMatrix& csr : {plane(), space()}) {
    const std::string options = kGamg + kOurAggregates;
    const Outcome theirs = solve_of(csr, type(), options + "-taskdag_ksp off ");
    const Outcome ours = solve_of(csr, type(), options + "-taskdag_mg -taskdag_ksp auto ");
    EXPECT_NE(ours.view.find("cycle: by TaskDAG, "), std::string::npos);
    expect_same(ours, theirs);
  }
}

/// A graph in one direction is one in both.
TEST_P(Coarsen, GraphsNeedNotBeSymmetric) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  CsrMatrix lower;
  const CsrMatrix whole = plane();
  lower.rows = lower.cols = whole.rows;
  for (Index i = 0; i < whole.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset e = whole.row_offsets[row]; e < whole.row_offsets[row + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      if (whole.col_indices[entry] > i) continue;
      lower.col_indices.push_back(whole.col_indices[entry]);
      lower.values.push_back(whole.values[entry]);
    }
    lower.row_offsets.push_back(static_cast<Offset>(lower.col_indices.size()));
  }
  const OwnedMat symmetric = make_matrix(whole, type());
  const OwnedMat triangle = make_matrix(lower, type());
  const OwnedCoarsen coarsen = make_coarsen("-mat_coarsen_type taskdag -mat_coarsen_misk_distance 2");
  EXPECT_EQ(contents(apply(coarsen, triangle)), contents(apply(coarsen, symmetric)));
}

}  // namespace
}  // namespace taskdag::test
