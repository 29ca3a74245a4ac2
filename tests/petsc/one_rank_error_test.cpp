// An error on one rank of several, under a handler that returns: no rank waits for the one that has met it. All come
// back from the same call, with an error or with a failed reason.
#include <array>
#include <cmath>
#include <cstring>

#include "allocations.hpp"
#include "deadline.hpp"
#include "support.hpp"
#include "support/without_diagonal.hpp"

namespace taskdag::test {
namespace {

#define EXPECT_OK(call) EXPECT_EQ(static_cast<int>(call), 0)

/// More calls of operator new than any case makes.
constexpr long kTooMany = 100000;

/// Of as many rows.
CsrMatrix other_grid() { return make_stencil({.stencil = Stencil::seven_point, .nx = 6, .ny = 4, .nz = 2}); }
CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 8, .nz = 1}); }

/// The least and the greatest number of all ranks.
std::array<double, 2> range(double mine) {
  std::array<double, 2> ends = {-mine, mine};
  EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD), MPI_SUCCESS);
  return {-ends[0], ends[1]};
}

bool on_any(bool mine) { return range(mine ? 1.0 : 0.0)[1] != 0.0; }

/// How a solve has ended, the same on all ranks: else the test has failed.
struct End {
  bool error = false;
  int reason = 0;
  double residual = 0.0;

  /// Whether it says that there is no answer.
  [[nodiscard]] bool tells(const End& good) const { return error || (reason < 0 && reason != good.reason); }
};

/// `code`: of the first call on this rank that has failed.
End end_of(PetscErrorCode code, KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscReal residual = 0.0;
  EXPECT_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_OK(KSPGetResidualNorm(ksp, &residual));
  const auto failed = range(static_cast<int>(code) != 0 ? 1.0 : 0.0);
  EXPECT_EQ(failed[0], failed[1]) << "an error on some ranks alone";
  const bool error = failed[1] != 0.0;
  const auto reasons = range(reason);
  if (!error) {
    EXPECT_EQ(reasons[0], reasons[1]) << "a reason on some ranks alone";
  }
  return {error, static_cast<int>(reasons[0]), residual};
}

/// The calls of a program, which goes no further where one has failed.
PetscErrorCode set_up_and_solve(KSP ksp, Vec b, Vec x) {
  PetscErrorCode code = KSPSetFromOptions(ksp);
  if (static_cast<int>(code) == 0) code = KSPSetUp(ksp);
  if (static_cast<int>(code) == 0) code = KSPSolve(ksp, b, x);
  return code;
}

/// A solver and its vectors.
struct Program {
  explicit Program(Mat matrix) : b(make_vector(matrix)), x(make_vector(matrix, 2.0)) {
    EXPECT_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    EXPECT_OK(KSPSetOperators(ksp, matrix, matrix));
  }
  OwnedVec b, x;
  OwnedKsp ksp;
};

struct Type {
  const char* name;
  const char* options;
  /// PETSc makes solvers of the blocks in its own set-up: what fails there is not ours to share.
  bool in_blocks = false;
  bool view_needs_memory = true;
  long stride = 1;           ///< of the places: PETSc's set-up takes long
  double tolerance = 1e-10;  ///< of the residual: PETSc's aggregates on several ranks may differ from run to run
};

std::ostream& operator<<(std::ostream& out, const Type& type) { return out << type.name; }

#define TASKDAG_OURS "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 1 "
#define TASKDAG_EISENSTAT TASKDAG_OURS "-pc_taskdag_eisenstat "
#define TASKDAG_BLOCK "-sub_pc_taskdag_backend host -sub_pc_taskdag_threads 1 "
constexpr Type types[] = {
    {"default", TASKDAG_OURS},
    {"auto", TASKDAG_OURS "-pc_taskdag_type auto"},
    {"ilu", TASKDAG_OURS "-pc_taskdag_type ilu -pc_factor_levels 1"},
    {"icc", TASKDAG_OURS "-pc_taskdag_type icc"},
    {"ilu_in_colours", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_ordering taskdag_bmc"},
    {"ilu_in_petscs_order", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_ordering rcm"},
    {"jacobi", TASKDAG_OURS "-pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 2"},
    {"l1_jacobi", TASKDAG_OURS "-pc_taskdag_type jacobi -pc_taskdag_jacobi_type rowl1"},
    {"block_jacobi", TASKDAG_OURS "-pc_taskdag_type jacobi -pc_taskdag_jacobi_type block"},
    {"sor", TASKDAG_OURS "-pc_taskdag_type sor -pc_taskdag_sor_its 2"},
    {"sor_in_rcm", TASKDAG_OURS "-pc_taskdag_type sor -pc_taskdag_ordering taskdag_rcm"},
    {"dilu_eisenstat", TASKDAG_EISENSTAT "-pc_taskdag_type dilu -ksp_pc_side left"},
    {"dic_eisenstat_scaled", TASKDAG_EISENSTAT
     "-pc_taskdag_type dic -ksp_type cg -pc_taskdag_eisenstat_scaling symmetric -ksp_norm_type natural"},
    {"sor_eisenstat", TASKDAG_EISENSTAT "-pc_taskdag_type sor -ksp_pc_side left"},
    {"consolidated", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_consolidate on"},
    {"consolidated_pairs",
     TASKDAG_OURS "-pc_taskdag_type icc -pc_taskdag_consolidate on -pc_taskdag_consolidate_ranks 2"},
    {"ilu_across", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_across on"},
    {"icc_across", TASKDAG_OURS "-pc_taskdag_type icc -pc_taskdag_across on"},
    {"ilu_across_by_rows",
     TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_across on -pc_taskdag_ordering taskdag_color"},
    {"ilu_across_in_order", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_across on -pc_taskdag_ordering natural"},
    {"ilu_across_auto", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_across auto"},
    {"sor_across", TASKDAG_OURS "-pc_taskdag_type sor -pc_taskdag_across on"},
    {"petscs_jacobi", "-pc_type jacobi -taskdag_ksp on -ksp_type cg"},
    {"multigrid",
     "-pc_type gamg -mg_levels_pc_type jacobi -pc_gamg_coarse_eq_limit 8 -taskdag_mg "
     "-taskdag_mg_whole_rows 0 -ksp_type cg",
     false, true, 23, 1e-2},
    {"multigrid_in_petscs_loop",
     "-pc_type gamg -mg_levels_pc_type jacobi -pc_gamg_coarse_eq_limit 8 -taskdag_mg "
     "-taskdag_ksp off -ksp_type cg",
     false, false, 23, 1e-2},
    {"package_ilu", TASKDAG_BLOCK "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag", true},
    {"package_icc", TASKDAG_BLOCK "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type taskdag", true},
    {"sub_taskdag", TASKDAG_BLOCK "-pc_type bjacobi -sub_pc_type taskdag -sub_pc_taskdag_type ilu", true},
    {"asm", TASKDAG_BLOCK "-pc_type asm -sub_pc_type taskdag -sub_pc_taskdag_type sor", true},
};
/// Their first transposed application makes what it needs.
constexpr Type transposed_types[] = {
    {"ilu", TASKDAG_OURS "-pc_taskdag_type ilu"},
    {"consolidated", TASKDAG_OURS "-pc_taskdag_type ilu -pc_taskdag_consolidate on"},
    {"package_ilu", TASKDAG_BLOCK "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag", true},
};
/// PETSc's own solvers of the blocks, which call MatGetOrdering().
constexpr Type ordered_types[] = {
    {"package_in_rcm",
     TASKDAG_BLOCK "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag "
                   "-sub_pc_factor_mat_ordering_type taskdag_rcm",
     true},
    {"petsc_in_rcm", "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_ordering_type taskdag_rcm", true},
    {"petsc_in_colours", "-pc_type asm -sub_pc_type ilu -sub_pc_factor_mat_ordering_type taskdag_color", true},
    {"petsc_in_blocks", "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_ordering_type taskdag_bmc", true},
};
#undef TASKDAG_OURS
#undef TASKDAG_EISENSTAT
#undef TASKDAG_BLOCK

std::string options_of(const Type& type) { return std::string("-ksp_max_it 2 ") + type.options; }

/// Which places are tried.
struct Places {
  bool are_there = true;  ///< one at least
  long stride = 1;
  double tolerance = 1e-10;  ///< of the residual
};

/// Gives attempt(place) each place of a call of operator new on rank `victim`, until none comes there: 0 on the others.
/// It says whether one has come on this rank. @returns how many have
template <class Attempt>
long for_each_place_of(int victim, long stride, const Attempt& attempt) {
  // With more ranks the same is waited for, and each attempt takes longer.
  const long step = stride * (ranks() > 2 ? 5 : 1);
  long faults = 0;
  for (long place = 1; place < kTooMany; place += step) {
    SCOPED_TRACE("call " + std::to_string(place) + " of operator new fails on rank " + std::to_string(victim));
    if (!on_any(attempt(rank() == victim ? place : 0))) break;
    ++faults;
    if (on_any(testing::Test::HasFailure())) break;
  }
  EXPECT_LT(faults, kTooMany / step);
  return faults;
}

/// The same of the first rank, which may work for others, and of the last one.
template <class Attempt>
void for_each_place(const Places& places, const Attempt& attempt) {
  const long faults =
      for_each_place_of(0, places.stride, attempt) + for_each_place_of(ranks() - 1, places.stride, attempt);
  EXPECT_TRUE(faults > 0 || !places.are_there) << "nothing was tested";
}

/// There is an error or a reason on all ranks, or the answer that there would have been.
void expect_told(const End& end, const End& good, double tolerance) {
  if (end.tells(good)) return;
  EXPECT_EQ(end.reason, good.reason);
  EXPECT_NEAR(end.residual, good.residual, tolerance * good.residual);
}

/// Of run(place, &happened), which fails at that place, 0: at none, and says whether it has come to it.
template <class Run>
void expect_told_at_each_place(const Places& places, const Run& run) {
  bool happened = false;
  const End good = run(0, &happened);
  ASSERT_FALSE(good.error);
  for_each_place(places, [&](long place) {
    bool come = false;
    expect_told(run(place, &come), good, places.tolerance);
    return come;
  });
}

/// Solvers of the blocks are there, and not set up yet.
void make_solvers_of_blocks(const Program& program) {
  PC pc = nullptr;
  EXPECT_OK(KSPSetFromOptions(program.ksp));
  EXPECT_OK(KSPGetPC(program.ksp, &pc));
  EXPECT_OK(PCSetUp(pc));
}

class MemoryOfOneRank : public testing::TestWithParam<Type> {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "runs on several ranks";
  }
};

TEST_P(MemoryOfOneRank, RunsOutInTheFirstSolve) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  const OwnedMat a = make_matrix(grid());
  const auto run = [&](long place, bool* happened) {
    const QuietErrors quiet;
    const Program program(a);
    if (GetParam().in_blocks) make_solvers_of_blocks(program);
    const AllocationFault fault(place);
    const PetscErrorCode code = GetParam().in_blocks ? KSPSolve(program.ksp, program.b, program.x)
                                                     : set_up_and_solve(program.ksp, program.b, program.x);
    *happened = fault.happened();
    return end_of(code, program.ksp);
  };
  expect_told_at_each_place({true, GetParam().stride, GetParam().tolerance}, run);
}

/// After a good solve of `first`, in the one after `change(a, ksp)`.
template <class Change>
void expect_told_after(const CsrMatrix& first, const Places& places, const Change& change) {
  const OwnedMat kept = make_matrix(first);
  const auto run = [&](long place, bool* happened) {
    const QuietErrors quiet;
    OwnedMat a;
    EXPECT_OK(MatDuplicate(kept, MAT_COPY_VALUES, a.out()));
    const Program program(a);
    EXPECT_OK(set_up_and_solve(program.ksp, program.b, program.x));
    change(a, program.ksp);
    const AllocationFault fault(place);
    const PetscErrorCode code = KSPSolve(program.ksp, program.b, program.x);
    *happened = fault.happened();
    return end_of(code, program.ksp);
  };
  expect_told_at_each_place(places, run);
}

TEST_P(MemoryOfOneRank, RunsOutWithNewValues) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  // Some types need none then.
  expect_told_after(grid(), {false, GetParam().stride, GetParam().tolerance}, [](Mat a, KSP ksp) {
    EXPECT_OK(MatShift(a, 0.5));
    EXPECT_OK(KSPSetOperators(ksp, a, a));
  });
}

TEST_P(MemoryOfOneRank, RunsOutWithANewPattern) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  const OwnedMat other = make_matrix(other_grid());
  expect_told_after(grid(), {true, GetParam().stride, GetParam().tolerance},
                    [&](Mat, KSP ksp) { EXPECT_OK(KSPSetOperators(ksp, other, other)); });
}

TEST_P(MemoryOfOneRank, RunsOutInAView) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  const OwnedMat a = make_matrix(grid());
  const QuietErrors quiet;
  const Program program(a);
  EXPECT_OK(set_up_and_solve(program.ksp, program.b, program.x));
  PetscViewer nowhere = nullptr;
  EXPECT_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &nowhere));
  for (const PetscViewerFormat format : {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_INFO_DETAIL}) {
    EXPECT_OK(PetscViewerPushFormat(nowhere, format));
    for_each_place({GetParam().view_needs_memory, GetParam().stride}, [&](long place) {
      const AllocationFault fault(place);
      const PetscErrorCode code = KSPView(program.ksp, nowhere);
      EXPECT_TRUE(static_cast<int>(code) == 0 || !GetParam().in_blocks) << "others may wait";
      static_cast<void>(end_of(code, program.ksp));
      return fault.happened();
    });
    EXPECT_OK(PetscViewerPopFormat(nowhere));
  }
  EXPECT_OK(PetscViewerDestroy(&nowhere));
}

/// Another order on that rank, the natural one, is no failure of the solve.
class OrderOfOneBlock : public MemoryOfOneRank {};

TEST_P(OrderOfOneBlock, IsTheNaturalOneWhereMemoryRunsOut) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  const OwnedMat a = make_matrix(grid());
  for_each_place({}, [&](long place) {
    const QuietErrors quiet;
    const Program program(a);
    make_solvers_of_blocks(program);
    const AllocationFault fault(place);
    const PetscErrorCode code = KSPSolve(program.ksp, program.b, program.x);
    const End end = end_of(code, program.ksp);
    EXPECT_FALSE(end.error);
    EXPECT_TRUE(end.reason > 0 || end.reason == KSP_DIVERGED_ITS || end.reason == KSP_DIVERGED_PC_FAILED ||
                end.reason == KSP_DIVERGED_NANORINF)
        << end.reason;
    return fault.happened();
  });
}

class MemoryOfOneRankTransposed : public MemoryOfOneRank {};

TEST_P(MemoryOfOneRankTransposed, RunsOutInAnApplication) {
  const Deadline deadline;
  const ScopedOptions options(options_of(GetParam()));
  const OwnedMat a = make_matrix(grid());
  const auto run = [&](long place, bool* happened) {
    const QuietErrors quiet;
    const Program program(a);
    EXPECT_OK(set_up_and_solve(program.ksp, program.b, program.x));
    const AllocationFault fault(place);
    const PetscErrorCode code = KSPSolveTranspose(program.ksp, program.b, program.x);
    *happened = fault.happened();
    const End end = end_of(code, program.ksp);
    EXPECT_FALSE(end.error) << "the others cannot know of it before the next norm";
    return end;
  };
  expect_told_at_each_place({true, GetParam().stride, GetParam().tolerance}, run);
}

std::string name_of_type(const testing::TestParamInfo<Type>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(OneRank, MemoryOfOneRank, testing::ValuesIn(types), name_of_type);
INSTANTIATE_TEST_SUITE_P(OneRank, MemoryOfOneRankTransposed, testing::ValuesIn(transposed_types), name_of_type);
INSTANTIATE_TEST_SUITE_P(OneRank, OrderOfOneBlock, testing::ValuesIn(ordered_types), name_of_type);

/// An error that one rank alone meets, by its options or its rows.
struct Fault {
  const char* name;
  const char* options;
  const char* victims;  ///< options of the victim alone
  bool no_diagonal;     ///< the last row has no diagonal entry
  bool with_gpu;        ///< it is one where there is a GPU, too
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

constexpr Fault faults[] = {
    {"option", "", "-pc_taskdag_threads -1", false, true},
    {"unknown_ordering", "-pc_taskdag_type ilu", "-pc_taskdag_ordering nobodys", false, true},
    {"backend", "", "-pc_taskdag_backend cuda", false, false},
    {"backend_of_ilu", "-pc_taskdag_type ilu", "-pc_taskdag_backend cuda", false, false},
    {"backend_of_jacobi", "-pc_taskdag_type jacobi", "-pc_taskdag_backend cuda", false, false},
    {"backend_of_sor", "-pc_taskdag_type sor", "-pc_taskdag_backend cuda", false, false},
    {"backend_of_ranks_together", "-pc_taskdag_consolidate auto", "-pc_taskdag_backend cuda", false, false},
    {"schedule", "-pc_taskdag_type ilu -pc_taskdag_backend host", "-pc_taskdag_schedule flat", false, true},
    {"ilu_without_diagonal", "-pc_taskdag_type ilu", "", true, true},
    {"icc_without_diagonal", "-pc_taskdag_type icc", "", true, true},
    {"sor_without_diagonal", "-pc_taskdag_type sor", "", true, true},
    {"dilu_without_diagonal", "-pc_taskdag_type dilu -pc_taskdag_eisenstat", "", true, true},
    {"rcm_without_diagonal", "-pc_taskdag_type ilu -pc_taskdag_ordering taskdag_rcm", "", true, true},
    {"trace", "-pc_taskdag_type ilu -pc_taskdag_backend host -pc_taskdag_schedule engine",
     "-pc_taskdag_trace /no/such/folder/trace.json", false, true},
    {"trace_of_an_iteration", "-pc_taskdag_type ilu -pc_taskdag_backend host",
     "-taskdag_ksp_trace /no/such/folder/trace.json", false, true},
};

/// The block of a rank, by the solver types that PETSc makes for it.
constexpr Fault block_faults[] = {
    {"package_without_diagonal", "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag", "", true,
     true},
    {"package_backend", "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type taskdag",
     "-sub_pc_taskdag_backend cuda", false, false},
    {"package_option", "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type taskdag",
     "-sub_pc_taskdag_backend nobodys", false, true},
    {"sub_option", "-pc_type bjacobi -sub_pc_type taskdag", "-sub_pc_taskdag_threads -1", false, true},
    {"sub_type", "-pc_type asm -sub_pc_type taskdag", "-sub_pc_taskdag_type nobodys", false, true},
    {"asm_without_diagonal", "-pc_type asm -sub_pc_type taskdag -sub_pc_taskdag_type ilu", "", true, true},
};

class FaultOfOneRank : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "runs on several ranks";
    if (!GetParam().with_gpu && probe_devices().devices > 0) GTEST_SKIP() << "there is a GPU";
  }
};

TEST_P(FaultOfOneRank, IsToldToAll) {
  const Deadline deadline;
  const std::string mine = rank() == ranks() - 1 ? GetParam().victims : "";
  const ScopedOptions options(words({"-ksp_max_it 2 -pc_type taskdag", GetParam().options, mine}));
  const CsrMatrix csr = grid();
  const OwnedMat a = make_matrix(GetParam().no_diagonal ? without_diagonal(csr, csr.rows - 1) : csr);
  // Another pattern: what was set up goes, and with it a trace is written.
  const OwnedMat other = make_matrix(other_grid());
  const QuietErrors quiet;
  const Program program(a);
  PetscErrorCode code = set_up_and_solve(program.ksp, program.b, program.x);
  End end = end_of(code, program.ksp);
  if (!end.error && end.reason == KSP_DIVERGED_ITS) {
    EXPECT_OK(KSPSetOperators(program.ksp, other, other));
    code = KSPSolve(program.ksp, program.b, program.x);
    end = end_of(code, program.ksp);
  }
  EXPECT_TRUE(end.error || end.reason == KSP_DIVERGED_PC_FAILED || end.reason == KSP_DIVERGED_NANORINF) << end.reason;
}

TEST(OptionOfOneBlock, OfAnOrderThatIsWrongLeadsToTheNaturalOne) {
  if (ranks() == 1) GTEST_SKIP() << "runs on several ranks";
  const Deadline deadline;
  const std::string mine = rank() == ranks() - 1 ? "-taskdag_rcm_form nobodys" : "";
  const ScopedOptions options(words({"-ksp_max_it 2", ordered_types[0].options, mine}));
  const OwnedMat a = make_matrix(grid());
  const QuietErrors quiet;
  const Program program(a);
  const End end = end_of(set_up_and_solve(program.ksp, program.b, program.x), program.ksp);
  EXPECT_FALSE(end.error);
  EXPECT_EQ(end.reason, KSP_DIVERGED_ITS);
}

/// A setter, called with a value that is refused or with another one.
struct Setter {
  const char* name;
  PetscErrorCode (*set)(PC pc, bool refused);
};

std::ostream& operator<<(std::ostream& out, const Setter& setter) { return out << setter.name; }

constexpr Setter setters[] = {
    {"type",
     [](PC pc, bool refused) {
       PCTaskDAGType type = PC_TASKDAG_ILU;
       const int nobodys = 1000;
       if (refused) std::memcpy(&type, &nobodys, sizeof type);
       return PCTaskDAGSetType(pc, type);
     }},
    {"threads", [](PC pc, bool refused) { return PCTaskDAGSetThreads(pc, refused ? -1 : 1); }},
    {"ordering", [](PC pc, bool refused) { return PCTaskDAGSetOrdering(pc, refused ? "nobodys" : "natural"); }},
    {"no_ordering", [](PC pc, bool refused) { return PCTaskDAGSetOrdering(pc, refused ? nullptr : "natural"); }},
    {"precision", [](PC pc, bool refused) { return PCTaskDAGSetPrecision(pc, refused ? "half" : "double"); }},
    {"sweeps", [](PC pc, bool refused) { return PCTaskDAGJacobiSetSweeps(pc, refused ? 0 : 2); }},
    {"damping", [](PC pc, bool refused) { return PCTaskDAGJacobiSetDamping(pc, refused ? std::nan("") : 0.5); }},
    {"petscs_omega", [](PC pc, bool refused) { return PCSORSetOmega(pc, refused ? 3.0 : 1.5); }},
    {"petscs_iterations", [](PC pc, bool refused) { return PCSORSetIterations(pc, refused ? 0 : 2, 1); }},
    {"petscs_sweep",
     [](PC pc, bool refused) { return PCSORSetSymmetric(pc, refused ? SOR_APPLY_UPPER : SOR_FORWARD_SWEEP); }},
    {"petscs_solver_type",
     [](PC pc, bool refused) { return PCFactorSetMatSolverType(pc, refused ? "petsc" : "taskdag"); }},
    {"petscs_in_place",
     [](PC pc, bool refused) { return PCFactorSetUseInPlace(pc, refused ? PETSC_TRUE : PETSC_FALSE); }},
};

class SetterOfOneRank : public testing::TestWithParam<Setter> {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "runs on several ranks";
  }
};

TEST_P(SetterOfOneRank, IsRefusedOnAll) {
  const Deadline deadline;
  const ScopedOptions options("-ksp_max_it 2 -pc_taskdag_backend host -pc_taskdag_threads 1");
  const OwnedMat a = make_matrix(grid());
  const Program program(a);
  PC pc = nullptr;
  EXPECT_OK(KSPGetPC(program.ksp, &pc));
  EXPECT_OK(PCSetType(pc, PCTASKDAG));
  {
    const QuietErrors quiet;
    const End end = end_of(GetParam().set(pc, rank() == ranks() - 1), program.ksp);
    EXPECT_TRUE(end.error);
  }
  EXPECT_OK(GetParam().set(pc, false));
  const End good = end_of(set_up_and_solve(program.ksp, program.b, program.x), program.ksp);
  EXPECT_FALSE(good.error);
}

std::string name_of_setter(const testing::TestParamInfo<Setter>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(OneRank, SetterOfOneRank, testing::ValuesIn(setters), name_of_setter);

std::string name_of_fault(const testing::TestParamInfo<Fault>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(OneRank, FaultOfOneRank, testing::ValuesIn(faults), name_of_fault);
INSTANTIATE_TEST_SUITE_P(OneRankOfBlocks, FaultOfOneRank, testing::ValuesIn(block_faults), name_of_fault);

}  // namespace
}  // namespace taskdag::test
