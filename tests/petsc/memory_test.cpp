// Host memory runs out, at every single place: PETSc is told, nothing leaks, and the next attempt gives the same bits
// as an object that never failed.
#include "allocations.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

#define EXPECT_OK(call) EXPECT_EQ(static_cast<int>(call), 0)

/// More calls of operator new than any case makes. Reaching it means that the search for the last one has no end.
constexpr long kTooMany = 100000;

struct Case {
  const char* name;
  const char* options;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

// Two threads: their pool and what they share are part of what may fail. The name of the tune file is long: no string
// of the library is short enough to hold it without memory of its own.
#define TASKDAG_OURS "-pc_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 2 "
#define TASKDAG_PACKAGE "-pc_factor_mat_solver_type taskdag -pc_taskdag_backend host -pc_taskdag_threads 2 "
constexpr Case cases[] = {
    {"ilu", TASKDAG_OURS},
    {"icc", TASKDAG_OURS "-pc_taskdag_type icc"},
    {"jacobi", TASKDAG_OURS "-pc_taskdag_type jacobi"},
    {"jacobi_sweeps", TASKDAG_OURS "-pc_taskdag_type jacobi -pc_taskdag_jacobi_sweeps 3"},
    {"rcm", TASKDAG_OURS "-pc_taskdag_ordering taskdag_rcm"},
    {"rcm_by_tasks", TASKDAG_OURS "-pc_taskdag_ordering taskdag_rcm -taskdag_rcm_form tasks"},
    {"rcm_by_tasks_and_library", TASKDAG_OURS
     "-pc_taskdag_ordering taskdag_rcm -taskdag_rcm_form tasks -taskdag_rcm_sort cub -taskdag_rcm_steps phases"},
    {"color", TASKDAG_OURS "-pc_taskdag_ordering taskdag_color"},
    {"bmc", TASKDAG_OURS "-pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 3"},
    {"petsc_ordering", TASKDAG_OURS "-pc_taskdag_ordering rcm"},
    {"levels", TASKDAG_OURS "-pc_factor_levels 2"},
    {"icc_levels", TASKDAG_OURS "-pc_taskdag_type icc -pc_factor_levels 1"},
    {"fill_in_blocks", TASKDAG_OURS
     "-pc_factor_levels 1 -pc_taskdag_fill blocks -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 4"},
    {"single", TASKDAG_OURS "-pc_taskdag_precision single"},
    {"icc_single", TASKDAG_OURS "-pc_taskdag_type icc -pc_taskdag_precision single -pc_taskdag_schedule level-set"},
    {"positive_definite", TASKDAG_OURS "-pc_factor_shift_type positive_definite"},
    {"plan", TASKDAG_OURS "-pc_taskdag_schedule plan"},
    {"blocks", TASKDAG_OURS "-pc_taskdag_schedule blocks -pc_taskdag_ordering taskdag_bmc -taskdag_bmc_block_size 3"},
    {"locking", TASKDAG_OURS "-pc_taskdag_schedule locking"},
    {"pivotal_path", TASKDAG_OURS "-pc_taskdag_schedule pivotal-path"},
    {"hdagg", TASKDAG_OURS "-pc_taskdag_schedule hdagg"},
    {"p2p", TASKDAG_OURS "-pc_taskdag_schedule p2p"},
    {"level_set", TASKDAG_OURS "-pc_taskdag_schedule level-set"},
    {"serial", TASKDAG_OURS "-pc_taskdag_schedule serial"},
    {"tune_file", TASKDAG_OURS "-pc_taskdag_schedule plan -pc_taskdag_tune_file /no/such/folder/and/no/such/file"},
    {"loop", TASKDAG_OURS "-pc_taskdag_type icc -ksp_type taskdag_cg"},
    {"loop_with_a_diagonal", TASKDAG_OURS "-pc_taskdag_type jacobi -ksp_type taskdag_cg"},
    {"loop_with_a_null_space", TASKDAG_OURS "-pc_taskdag_type jacobi -ksp_type taskdag_cg -ksp_constant_null_space"},
    {"loop_with_estimated_bounds",
     TASKDAG_OURS "-pc_taskdag_type jacobi -ksp_type taskdag_chebyshev -esteig_ksp_type taskdag_cg"},
    {"package_tune_file", "-pc_type ilu " TASKDAG_PACKAGE
                          "-pc_taskdag_schedule plan -pc_taskdag_tune_file /no/such/folder/and/no/such/file"},
    {"package_ilu", "-pc_type ilu " TASKDAG_PACKAGE},
    {"package_icc", "-pc_type icc " TASKDAG_PACKAGE "-pc_factor_mat_ordering_type taskdag_rcm"},
    {"package_color", "-pc_type ilu " TASKDAG_PACKAGE "-pc_factor_mat_ordering_type taskdag_color"},
    {"package_bmc", "-pc_type ilu " TASKDAG_PACKAGE "-pc_factor_mat_ordering_type taskdag_bmc"},
    {"package_single", "-pc_type ilu " TASKDAG_PACKAGE "-pc_taskdag_precision single"},
    {"package_levels", "-pc_type ilu " TASKDAG_PACKAGE "-pc_factor_levels 2"},
};
#undef TASKDAG_OURS
#undef TASKDAG_PACKAGE

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5, .nz = 1}); }

/// The same grid, other values, and with `wider` an entry more.
OwnedMat grid_matrix(double diagonal, bool wider) {
  const CsrMatrix csr = grid();
  OwnedMat a;
  EXPECT_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, csr.rows, csr.rows, 6, nullptr, a.out()));
  const std::vector<PetscInt> columns = to_petsc_indices(csr.col_indices);
  for (PetscInt i = 0; i < csr.rows; ++i) {
    const auto begin = static_cast<std::size_t>(csr.row_offsets[static_cast<std::size_t>(i)]);
    const PetscInt count =
        csr.row_offsets[static_cast<std::size_t>(i) + 1] - csr.row_offsets[static_cast<std::size_t>(i)];
    EXPECT_OK(MatSetValues(a, 1, &i, count, columns.data() + begin, csr.values.data() + begin, INSERT_VALUES));
    EXPECT_OK(MatSetValue(a, i, i, diagonal, INSERT_VALUES));
  }
  if (wider) {
    EXPECT_OK(MatSetValue(a, 0, csr.rows - 1, -0.5, INSERT_VALUES));
    EXPECT_OK(MatSetValue(a, csr.rows - 1, 0, -0.5, INSERT_VALUES));
  }
  EXPECT_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  EXPECT_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

/// The vectors and dense matrices of one case, and what came out.
struct Work {
  explicit Work(Mat a) : b(make_vector(a)) {
    constexpr PetscInt columns = 3;
    PetscInt n = 0;
    EXPECT_OK(MatGetSize(a, &n, nullptr));
    EXPECT_OK(VecDuplicate(b, x.out()));
    EXPECT_OK(VecDuplicate(b, y.out()));
    EXPECT_OK(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, many_b.out()));
    EXPECT_OK(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, many_x.out()));
    for (PetscInt k = 0; k < columns; ++k) {
      for (PetscInt i = 0; i < n; ++i)
        EXPECT_OK(MatSetValue(many_b, i, k, 1.0 + static_cast<double>(i % (k + 2)), INSERT_VALUES));
    }
    for (Mat m : {static_cast<Mat>(many_b), static_cast<Mat>(many_x)}) {
      EXPECT_OK(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
      EXPECT_OK(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
    }
  }

  /// All numbers that use() has left.
  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> all;
    const PetscScalar* array = nullptr;
    PetscInt n = 0;
    EXPECT_OK(VecGetLocalSize(x, &n));
    for (Vec v : {static_cast<Vec>(x), static_cast<Vec>(y)}) {
      EXPECT_OK(VecGetArrayRead(v, &array));
      all.insert(all.end(), array, array + n);
      EXPECT_OK(VecRestoreArrayRead(v, &array));
    }
    EXPECT_OK(MatDenseGetArrayRead(many_x, &array));
    all.insert(all.end(), array, array + static_cast<std::ptrdiff_t>(3) * n);
    EXPECT_OK(MatDenseRestoreArrayRead(many_x, &array));
    return all;
  }

  OwnedVec b, x, y;
  OwnedMat many_b, many_x;
};

/// A viewer that writes nowhere.
class NoViewer {
 public:
  NoViewer() { EXPECT_OK(PetscViewerASCIIOpen(PETSC_COMM_SELF, "/dev/null", &viewer_)); }
  NoViewer(const NoViewer&) = delete;
  NoViewer& operator=(const NoViewer&) = delete;
  ~NoViewer() { (void)PetscViewerDestroy(&viewer_); }
  operator PetscViewer() const { return viewer_; }

 private:
  PetscViewer viewer_ = nullptr;
};

#define TRY(call)                                   \
  do {                                              \
    const PetscErrorCode code_ = call;              \
    if (static_cast<int>(code_) != 0) return code_; \
  } while (false)

/// What a program does with a preconditioner from the set-up on.
PetscErrorCode use(PC pc, const Work& work, PetscViewer viewer) {
  TRY(PCSetUp(pc));
  TRY(PCApply(pc, work.b, work.x));
  TRY(PCApplyTranspose(pc, work.b, work.y));
  TRY(PCMatApply(pc, work.many_b, work.many_x));
  return PCView(pc, viewer);
}

PetscErrorCode set_and_use(PC pc, const Work& work, PetscViewer viewer) {
  TRY(PCSetFromOptions(pc));
  return use(pc, work, viewer);
}

std::vector<double> of_a_fresh_object(Mat a) {
  const NoViewer viewer;
  const Work work(a);
  OwnedPc pc;
  EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
  EXPECT_OK(PCSetOperators(pc, a, a));
  EXPECT_OK(set_and_use(pc, work, viewer));
  return work.numbers();
}

/// Runs attempt(place), which says whether the fault at that place has come, until no fault comes; what is alive must
/// be the same after each.
/// Returns how many faults there were.
template <class Attempt>
long for_each_place(const Attempt& attempt) {
  long faults = 0;
  for (long place = 1; place < kTooMany; ++place) {
    SCOPED_TRACE("call " + std::to_string(place) + " of operator new fails");
    const long before = live_allocations();
    const bool happened = attempt(place);
    EXPECT_EQ(live_allocations(), before) << "leaked";
    if (!happened) break;
    ++faults;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_LT(faults, kTooMany - 1);
  return faults;
}

void expect_memory_error(PetscErrorCode code, bool happened) {
  if (!happened) {
    EXPECT_OK(code);
  } else if (static_cast<int>(code) != 0) {
    // The library may do without some memory: a fault need not be a failure.
    EXPECT_EQ(static_cast<int>(code), PETSC_ERR_MEM);
  }
}

/// PETSc's own preconditioners keep what they had made when a set-up failed, and forget index sets if it is repeated.
void start_again(PC pc, Mat a) {
  EXPECT_OK(PCReset(pc));
  EXPECT_OK(PCSetOperators(pc, a, a));
}

class OutOfMemoryAtEachPlace : public testing::TestWithParam<Case> {
 protected:
  /// A preconditioner of PETSc's own with our factorisation.
  static bool package() { return std::string(GetParam().name).starts_with("package"); }
};

TEST_P(OutOfMemoryAtEachPlace, OfANewObject) {
  const ScopedOptions options(GetParam().options);
  const QuietErrors quiet;
  const OwnedMat a = grid_matrix(4.5, false);
  const std::vector<double> expected = of_a_fresh_object(a);
  const long faults = for_each_place([&](long place) {
    const NoViewer viewer;
    const Work work(a);
    OwnedPc pc;
    EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
    EXPECT_OK(PCSetOperators(pc, a, a));
    PetscErrorCode code{};
    bool happened = false;
    {
      const AllocationFault fault(place);
      code = set_and_use(pc, work, viewer);
      happened = fault.happened();
    }
    expect_memory_error(code, happened);
    if (static_cast<int>(code) != 0 && package()) start_again(pc, a);
    EXPECT_OK(set_and_use(pc, work, viewer)) << "a new attempt";
    EXPECT_EQ(work.numbers(), expected);
    return happened;
  });
  EXPECT_GT(faults, 0) << "nothing was tested";
}

/// The contexts, with their threads, are made on demand and outlive the objects.
TEST_P(OutOfMemoryAtEachPlace, WithNewContexts) {
  const ScopedOptions options(GetParam().options);
  const QuietErrors quiet;
  const OwnedMat a = grid_matrix(4.5, false);
  const std::vector<double> expected = of_a_fresh_object(a);
  PETSC_OK(TaskDAGFinalizePackage());
  const long faults = for_each_place([&](long place) {
    {
      const NoViewer viewer;
      const Work work(a);
      OwnedPc pc;
      EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
      EXPECT_OK(PCSetOperators(pc, a, a));
      EXPECT_OK(PCSetFromOptions(pc));
      PetscErrorCode code{};
      bool happened = false;
      {
        const AllocationFault fault(place);
        code = PCSetUp(pc);
        happened = fault.happened();
      }
      expect_memory_error(code, happened);
      if (static_cast<int>(code) != 0 && package()) start_again(pc, a);
      EXPECT_OK(use(pc, work, viewer)) << "a new attempt";
      EXPECT_EQ(work.numbers(), expected);
      if (!happened) place = 0;
    }
    EXPECT_OK(TaskDAGFinalizePackage());
    return place > 0;
  });
  EXPECT_GT(faults, 0) << "nothing was tested";
}

/// An object in use gets new values, or another pattern, and its new set-up fails.
void expect_recovery_of_changed_objects(bool wider, bool package) {
  const OwnedMat first = grid_matrix(4.5, false);
  const OwnedMat second = grid_matrix(6.0, wider);
  const std::vector<double> expected = of_a_fresh_object(second);
  const long faults = for_each_place([&](long place) {
    const NoViewer viewer;
    const Work work(first);
    OwnedMat a;
    OwnedPc pc;
    EXPECT_OK(MatDuplicate(first, MAT_COPY_VALUES, a.out()));
    EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
    EXPECT_OK(PCSetOperators(pc, a, a));
    EXPECT_OK(set_and_use(pc, work, viewer));
    if (wider) {
      EXPECT_OK(PCSetOperators(pc, second, second));
    } else {
      EXPECT_OK(MatCopy(second, a, SAME_NONZERO_PATTERN));
    }
    Mat now = wider ? second : a;
    PetscErrorCode code{};
    bool happened = false;
    {
      const AllocationFault fault(place);
      code = use(pc, work, viewer);
      happened = fault.happened();
    }
    expect_memory_error(code, happened);
    if (static_cast<int>(code) != 0 && package) start_again(pc, now);
    EXPECT_OK(use(pc, work, viewer)) << "a new attempt";
    EXPECT_EQ(work.numbers(), expected);
    return happened;
  });
  // New values alone may need no memory.
  if (wider) {
    EXPECT_GT(faults, 0) << "nothing was tested";
  }
}

TEST_P(OutOfMemoryAtEachPlace, OfNewValues) {
  const ScopedOptions options(GetParam().options);
  const QuietErrors quiet;
  expect_recovery_of_changed_objects(false, package());
}

TEST_P(OutOfMemoryAtEachPlace, OfANewPattern) {
  const ScopedOptions options(GetParam().options);
  const QuietErrors quiet;
  expect_recovery_of_changed_objects(true, package());
}

/// The hierarchy is PETSc's, whose own set-up does not bear an error of an inner solver: the fault comes where the
/// cycle is taken, as it is set up for new values and applied, and releases that estimate eigenvalues in each set-up
/// are told not to.
TEST(OutOfMemory, OfAMultigridCycle) {
  for (const char* const smoother : {"-mg_levels_pc_type jacobi", "-mg_levels_pc_type sor -mat_no_inode"}) {
    SCOPED_TRACE(smoother);
    const ScopedOptions hierarchy(std::string("-pc_type gamg -pc_gamg_coarse_eq_limit 6 ") + smoother +
                                  " -pc_gamg_reuse_interpolation true -pc_gamg_recompute_esteig false -mat_no_inode");
    const QuietErrors quiet;
    std::vector<double> expected;
    const auto attempt = [&](long place) {
      const OwnedMat a = grid_matrix(4.5, false);
      const Work work(a);
      OwnedPc pc;
      EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
      EXPECT_OK(PCSetOperators(pc, a, a));
      EXPECT_OK(PCSetFromOptions(pc));
      EXPECT_OK(PCSetUp(pc));
      EXPECT_OK(MatShift(a, 1.0));
      EXPECT_OK(TaskDAGSetMG(PETSC_TRUE));
      bool happened = false;
      PetscErrorCode code{};
      {
        const AllocationFault fault(place);
        code = PCSetUp(pc);
        happened = fault.happened();
      }
      expect_memory_error(code, happened);
      const int cycles = event_count("TaskDAGCycle");
      EXPECT_OK(PCApply(pc, work.b, work.x)) << "a new attempt";
      EXPECT_EQ(event_count("TaskDAGCycle"), cycles + 1);
      EXPECT_OK(TaskDAGSetMG(PETSC_FALSE));
      if (expected.empty()) expected = work.numbers();
      EXPECT_EQ(work.numbers(), expected);
      return happened;
    };
    EXPECT_FALSE(attempt(kTooMany));
    EXPECT_GT(for_each_place(attempt), 20) << "nothing was tested";
  }
}

/// A whole solve, from the options on.
TEST_P(OutOfMemoryAtEachPlace, OfASolve) {
  const ScopedOptions options(std::string("-ksp_type gmres ") + GetParam().options);
  const QuietErrors quiet;
  const OwnedMat a = grid_matrix(4.5, false);
  const auto solve = [&](KSP ksp, const Work& work) {
    TRY(KSPSetFromOptions(ksp));
    return KSPSolve(ksp, work.b, work.x);
  };
  const auto make_ksp = [&](OwnedKsp& ksp) {
    EXPECT_OK(KSPCreate(PETSC_COMM_SELF, ksp.out()));
    EXPECT_OK(KSPSetOperators(ksp, a, a));
  };
  std::vector<double> expected;
  {
    const Work work(a);
    OwnedKsp ksp;
    make_ksp(ksp);
    EXPECT_OK(solve(ksp, work));
    expected = work.numbers();
  }
  const long faults = for_each_place([&](long place) {
    const Work work(a);
    OwnedKsp ksp;
    make_ksp(ksp);
    PetscErrorCode code{};
    bool happened = false;
    {
      const AllocationFault fault(place);
      code = solve(ksp, work);
      happened = fault.happened();
    }
    expect_memory_error(code, happened);
    if (static_cast<int>(code) != 0 && package()) {
      EXPECT_OK(KSPReset(ksp));
      EXPECT_OK(KSPSetOperators(ksp, a, a));
    }
    EXPECT_OK(solve(ksp, work)) << "a new attempt";
    EXPECT_EQ(work.numbers(), expected);
    return happened;
  });
  EXPECT_GT(faults, 0) << "nothing was tested";
}

/// The same values once more, for PETSc new ones.
void touch(Mat a) {
  // There and back without rounding; PETSc takes a shift by 0 for no change.
  EXPECT_OK(MatShift(a, 1.0));
  EXPECT_OK(MatShift(a, -1.0));
}

/// PETSc's own preconditioners hand changed options over with the next values: the factor is then made anew. A set-up
/// that failed there counts as done for PETSc.
TEST_P(OutOfMemoryAtEachPlace, OfNewOptions) {
  if (!package()) GTEST_SKIP() << "setters of -pc_type taskdag start over";
  const ScopedOptions options(GetParam().options);
  const QuietErrors quiet;
  const OwnedMat a = grid_matrix(4.5, false);
  std::vector<double> expected;
  {
    const ScopedOptions shifted(std::string(GetParam().options) + " -pc_factor_shift_type nonzero");
    expected = of_a_fresh_object(a);
  }
  int refused = 0;
  const long faults = for_each_place([&](long place) {
    const NoViewer viewer;
    const Work work(a);
    OwnedPc pc;
    EXPECT_OK(PCCreate(PETSC_COMM_SELF, pc.out()));
    EXPECT_OK(PCSetOperators(pc, a, a));
    EXPECT_OK(set_and_use(pc, work, viewer));
    EXPECT_OK(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
    touch(a);
    PetscErrorCode code{};
    bool happened = false;
    {
      const AllocationFault fault(place);
      code = PCSetUp(pc);
      happened = fault.happened();
    }
    expect_memory_error(code, happened);
    const PetscErrorCode applied = PCApply(pc, work.b, work.x);
    EXPECT_EQ(static_cast<int>(applied), static_cast<int>(code) == 0 ? 0 : PETSC_ERR_ARG_WRONGSTATE);
    refused += static_cast<int>(applied) == 0 ? 0 : 1;
    touch(a);
    EXPECT_OK(use(pc, work, viewer)) << "a new attempt";
    EXPECT_EQ(work.numbers(), expected);
    return happened;
  });
  EXPECT_GT(faults, 0) << "nothing was tested";
  EXPECT_GT(refused, 0) << "nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(Plugin, OutOfMemoryAtEachPlace, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

#undef TRY
#undef EXPECT_OK

}  // namespace
}  // namespace taskdag::test
