// A matrix in use gets entries in new places: what was set up before is as good as what is made anew. PETSc's count of
// patterns is not enough to see it: 3.18 may have the same number for a parallel `baij` before and after.
#include <cmath>
#include <functional>

#include "support.hpp"

namespace taskdag::test {
namespace {

constexpr PetscInt kBlocks = 24;

/// Where entries are added: to columns of the rank's own, or to those of others.
struct Place {
  const char* name;
  bool own;
  bool outside;
};
constexpr Place kPlaces[] = {{"own", true, false}, {"outside", false, true}, {"both", true, true}};

/// Entries so many blocks beside the diagonal.
void add_beside(Mat a, PetscInt blocks, PetscScalar value, const Place& place) {
  PetscInt first = 0;
  PetscInt last = 0;
  PetscInt size = 0;
  PetscInt rows = 0;
  PETSC_OK(MatGetOwnershipRange(a, &first, &last));
  PETSC_OK(MatGetBlockSize(a, &size));
  PETSC_OK(MatGetSize(a, &rows, nullptr));
  for (PetscInt i = first; i < last; ++i) {
    for (const PetscInt j : {i - blocks * size, i + blocks * size}) {
      const bool own = j >= first && j < last;
      if (j < 0 || j >= rows || !(own ? place.own : place.outside)) continue;
      PETSC_OK(MatSetValue(a, i, j, value, INSERT_VALUES));
    }
  }
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
}

void fill(Mat a, PetscScalar value) {
  PetscInt first = 0;
  PetscInt last = 0;
  PETSC_OK(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt i = first; i < last; ++i) PETSC_OK(MatSetValue(a, i, i, 4.5 * value, INSERT_VALUES));
  add_beside(a, 1, -value, kPlaces[2]);
}

void make_growing(const std::string& type, PetscInt block_size, Mat* made) {
  const PetscInt rows = kBlocks / ranks() * block_size;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, made));
  Mat a = *made;
  PETSC_OK(MatSetSizes(a, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSize(a, block_size));
  PETSC_OK(MatSetType(a, type.c_str()));
  PETSC_OK(MatSetUp(a));
  PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (type == MATSBAIJ) {
    PETSC_OK(MatSetOption(a, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  }
  fill(a, 1.0);
}

OwnedKsp make_ksp(const std::string& options) {
  const ScopedOptions scope(options + " -pc_type taskdag -pc_taskdag_backend host");
  OwnedKsp ksp;
  EXPECT_EQ(static_cast<int>(KSPCreate(PETSC_COMM_WORLD, ksp.out())), 0);
  EXPECT_EQ(static_cast<int>(KSPSetFromOptions(ksp)), 0);
  return ksp;
}

OwnedVec solution(KSP ksp, Mat a) {
  const OwnedVec b = make_vector(a);
  OwnedVec x = make_vector(a);
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(KSPSetOperators(ksp, a, a)), 0);
  EXPECT_EQ(static_cast<int>(KSPSolve(ksp, b, x)), 0) << errors.message();
  return x;
}

struct Way {
  const char* options;
  bool couplings;  ///< needs what lies outside the ranks' own columns, which PETSc does not lend of `sbaij`
};
const std::string kIterations = "-ksp_norm_type none -ksp_max_it 4 ";
constexpr Way kWays[] = {
    {"-ksp_type richardson -pc_taskdag_type icc", false},
    {"-ksp_type richardson -pc_taskdag_type icc -pc_taskdag_point_block off", false},
    {"-ksp_type richardson -pc_taskdag_type icc -pc_taskdag_consolidate on", false},
    {"-ksp_type richardson -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2", false},
    {"-ksp_type richardson -pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2 -pc_taskdag_jacobi_weights chebyshev",
     true},
    {"-ksp_type richardson -pc_taskdag_type jacobi -pc_taskdag_jacobi_type rowl1", true},
    {"-ksp_type richardson -pc_taskdag_type sor", true},
    {"-ksp_type cg -pc_taskdag_type dilu -pc_taskdag_eisenstat", true},
};

class NewEntries : public testing::TestWithParam<const char*> {};

TEST_P(NewEntries, AreTakenLikeThoseOfANewObject) {
  const std::string type = GetParam();
  for (const PetscInt block_size : {1, 2}) {
    for (const Way& way : kWays) {
      if (way.couplings && type == MATSBAIJ) continue;
      for (const Place& place : kPlaces) {
        SCOPED_TRACE("block size " + std::to_string(block_size) + ", " + place.name + ", " + way.options);
        const std::string options = kIterations + way.options;
        OwnedMat a;
        make_growing(type, block_size, a.out());
        const OwnedKsp ksp = make_ksp(options);
        (void)solution(ksp, a);
        const int analyses = event_count("TaskDAGSymbolic");
        PETSC_OK(MatScale(a, 2.0));
        const OwnedVec scaled = solution(ksp, a);
        EXPECT_EQ(event_count("TaskDAGSymbolic"), analyses) << "the pattern is the same";
        EXPECT_EQ(relative_difference(scaled, solution(make_ksp(options), a)), 0.0) << "new values";
        add_beside(a, 3, -0.5, place);
        const OwnedVec grown = solution(ksp, a);
        EXPECT_EQ(relative_difference(grown, solution(make_ksp(options), a)), 0.0) << "new entries";
      }
    }
  }
}

/// After a change of a growing matrix in use.
void expect_like_new(const std::string& type, PetscInt block_size, const Way& way,
                     const std::function<void(Mat)>& change) {
  SCOPED_TRACE(way.options);
  const std::string options = kIterations + way.options;
  OwnedMat a;
  make_growing(type, block_size, a.out());
  const OwnedKsp ksp = make_ksp(options);
  (void)solution(ksp, a);
  change(a);
  const OwnedVec x = solution(ksp, a);
  EXPECT_EQ(relative_difference(x, solution(make_ksp(options), a)), 0.0);
}

// PETSc counts no patterns of a dense matrix.
TEST(DenseEntries, ThatWereZeroAreTaken) {
  for (const Way& way : kWays) {
    if (!way.couplings) expect_like_new(MATDENSE, 1, way, [](Mat a) { add_beside(a, 3, -0.5, kPlaces[2]); });
  }
}

// For the same entries in a new allocation PETSc makes another matrix of the columns outside, too.
TEST(OldEntries, AreTakenInANewAllocation) {
  for (const Way& way : kWays) {
    expect_like_new(MATBAIJ, 2, way, [](Mat a) {
      PETSC_OK(MatSeqBAIJSetPreallocation(a, 2, 5, nullptr));
      PETSC_OK(MatMPIBAIJSetPreallocation(a, 2, 5, nullptr, 5, nullptr));
      fill(a, 3.0);
    });
  }
}

// PETSc has made another matrix of the columns outside by then.
TEST_P(NewEntries, LeaveAPreconditionerThatIsKeptUsable) {
  if (GetParam() == std::string(MATSBAIJ)) GTEST_SKIP() << "PETSc does not lend the columns outside";
  for (const Way& way : kWays) {
    if (!way.couplings) continue;
    SCOPED_TRACE(way.options);
    OwnedMat a;
    make_growing(GetParam(), 2, a.out());
    const OwnedKsp ksp = make_ksp(kIterations + way.options);
    (void)solution(ksp, a);
    PETSC_OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    add_beside(a, 3, -0.5, kPlaces[1]);
    const OwnedVec x = solution(ksp, a);
    PetscReal norm = 0.0;
    PETSC_OK(VecNorm(x, NORM_2, &norm));
    EXPECT_TRUE(std::isfinite(norm));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NewEntries, testing::Values(MATAIJ, MATBAIJ, MATSBAIJ),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace taskdag::test
