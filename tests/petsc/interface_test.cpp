// The functions of taskdagpetsc.h: what they set is what the option sets.
#include "petsc/interface_table.hpp"
#include "support.hpp"

namespace taskdag::test {
namespace {

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 7, .nz = 1}); }

OwnedPc bare_pc(Mat a, PCType type = PCTASKDAG) {
  OwnedPc pc;
  EXPECT_EQ(static_cast<int>(PCCreate(PETSC_COMM_WORLD, pc.out())), 0);
  EXPECT_EQ(static_cast<int>(PCSetOperators(pc, a, a)), 0);
  EXPECT_EQ(static_cast<int>(PCSetType(pc, type)), 0);
  return pc;
}

TEST(Interface, SettersDoWhatOptionsDoAndAreReadBack) {
  const OwnedMat a = make_matrix(grid());
  for (const InterfaceRow& row : interface_table()) {
    for (const char* prefix : {"", "some_"}) {
      const OwnedPc by_setter = bare_pc(a);
      const OwnedPc by_option = bare_pc(a);
      std::string before;
      std::string set;
      std::string optioned;
      PETSC_OK(PCSetOptionsPrefix(by_setter, prefix));
      PETSC_OK(PCSetOptionsPrefix(by_option, prefix));
      PETSC_OK(row.get(by_setter, &before));
      PETSC_OK(row.set(by_setter, row.value));
      PETSC_OK(row.get(by_setter, &set));
      {
        const std::string type = std::string(row.option) == "-pc_taskdag_type" ? row.value : row.type;
        const bool is_trace = std::string(row.option) == "-pc_taskdag_trace";
        const std::string needs = "-" + std::string(prefix) + "pc_taskdag_factor_schedule engine";
        const ScopedOptions options(
            words({"-" + std::string(prefix) + "pc_taskdag_type " + type, "-" + std::string(prefix) + (row.option + 1),
                   row.value, is_trace ? needs : ""}));
        PETSC_OK(PCSetFromOptions(by_option));
      }
      PETSC_OK(row.get(by_option, &optioned));
      EXPECT_EQ(set, row.value) << row.option;
      EXPECT_EQ(optioned, row.value) << row.option;
      // PETSc's default sweep.
      if (std::string(row.option) == "-pc_taskdag_sor_local_symmetric") continue;
      EXPECT_NE(before, row.value) << row.option;
    }
  }
}

TEST(Interface, WrongValuesAreRefusedAndChangeNothing) {
  const OwnedMat a = make_matrix(grid());
  for (const InterfaceRow& row : interface_table()) {
    if (!*row.wrong) continue;
    const OwnedPc pc = bare_pc(a);
    std::string before;
    std::string after;
    PETSC_OK(row.get(pc, &before));
    const ErrorCapture errors;
    EXPECT_NE(static_cast<int>(row.set(pc, row.wrong)), 0) << row.option;
    EXPECT_NE(errors.message(), "") << row.option;
    PETSC_OK(row.get(pc, &after));
    EXPECT_EQ(before, after) << row.option;
  }
}

TEST(Interface, OtherPreconditionersIgnoreSettersAndHaveNothingToGet) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = bare_pc(a, PCNONE);
  for (const InterfaceRow& row : interface_table()) {
    std::string text;
    PETSC_OK(row.set(pc, row.value));
    if (std::string(row.option).find("_sor_") != std::string::npos &&
        std::string(row.option) != "-pc_taskdag_sor_diagonal_shift")
      continue;  // PETSc's own
    const ErrorCapture errors;
    EXPECT_EQ(static_cast<int>(row.get(pc, &text)), PETSC_ERR_ARG_WRONG) << row.option;
  }
}

PCTaskDAGType type_of(PC pc) {
  PCTaskDAGType type = PC_TASKDAG_SOR;
  EXPECT_EQ(static_cast<int>(PCTaskDAGGetType(pc, &type)), 0);
  return type;
}

/// -pc_taskdag_ordering and the like; not where to work, what the other types do, and whether to try.
bool says_how_a_factor_is_made(const InterfaceRow& row) {
  const std::string option = row.option;
  const std::string type = row.type;
  for (const char* other : {"_backend", "_threads", "_tune", "_tune_file", "_eisenstat_scaling", "_consolidate_ranks"})
    if (option == std::string("-pc_taskdag") + other) return false;
  return type == "ilu" || type == "icc";
}

TEST(Interface, WithoutATypeItIsAutoUnlessSomethingIsSaidOfFactors) {
  const OwnedMat a = make_matrix(grid());
  for (const InterfaceRow& row : interface_table()) {
    if (std::string(row.option) == "-pc_taskdag_type") continue;
    const PCTaskDAGType expected = says_how_a_factor_is_made(row) ? PC_TASKDAG_ILU : PC_TASKDAG_AUTO;
    const OwnedPc pc = bare_pc(a);
    std::string before;
    EXPECT_EQ(type_of(pc), PC_TASKDAG_AUTO);
    PETSC_OK(row.get(pc, &before));
    PETSC_OK(row.set(pc, row.value));
    EXPECT_EQ(type_of(pc), expected) << row.option;
    // A name that no file has is not a name that can be set.
    if (before != "" && std::string(row.option) != "-pc_taskdag_sor_local_symmetric") {
      PETSC_OK(row.set(pc, before.c_str()));
      EXPECT_EQ(type_of(pc), row.option == std::string("-pc_taskdag_icc_shift") ? PC_TASKDAG_ILU : PC_TASKDAG_AUTO)
          << row.option;
    }
    PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_AUTO));
    PETSC_OK(PCTaskDAGSetThreads(pc, 1));
    PETSC_OK(PCTaskDAGSetOrdering(pc, "natural"));
    EXPECT_EQ(type_of(pc), PC_TASKDAG_AUTO) << row.option;
  }
}

TEST(Interface, PetscsSettersOfFactorsAskForAFactorToo) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc levels = bare_pc(a);
  const OwnedPc shift = bare_pc(a);
  const OwnedPc omega = bare_pc(a);
  PETSC_OK(PCFactorSetLevels(levels, 1));
  PETSC_OK(PCFactorSetShiftType(shift, MAT_SHIFT_NONE));
  PETSC_OK(PCSORSetOmega(omega, 1.5));
  EXPECT_EQ(type_of(levels), PC_TASKDAG_ILU);
  EXPECT_EQ(type_of(shift), PC_TASKDAG_ILU);
  EXPECT_EQ(type_of(omega), PC_TASKDAG_AUTO);
}

TEST(Interface, FilesAreForgottenAgain) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = bare_pc(a);
  const char* name = nullptr;
  PETSC_OK(PCTaskDAGSetTrace(pc, "trace.json"));
  PETSC_OK(PCTaskDAGSetTrace(pc, nullptr));
  PETSC_OK(PCTaskDAGGetTrace(pc, &name));
  EXPECT_STREQ(name, "");
  PETSC_OK(PCTaskDAGSetTuneFile(pc, "tune.json"));
  PETSC_OK(PCTaskDAGSetTuneFile(pc, ""));
  PETSC_OK(PCTaskDAGGetTuneFile(pc, &name));
  EXPECT_STREQ(name, "");
  PETSC_OK(PCTaskDAGSetBackend(pc, PC_TASKDAG_BACKEND_HOST));
  PETSC_OK(PCSetUp(pc));
  // A trace of what is no program of the engine.
  PETSC_OK(PCTaskDAGSetTrace(pc, "nowhere.json"));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSetUp(pc)), PETSC_ERR_ARG_INCOMP);
}

TEST(Interface, PetscsJacobiSettersAreTaken) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = bare_pc(a);
  PCJacobiType type = PC_JACOBI_DIAGONAL;
  PetscBool flag = PETSC_FALSE;
  const char* name = nullptr;
  PETSC_OK(PCTaskDAGSetType(pc, PC_TASKDAG_JACOBI));
  PETSC_OK(PCJacobiSetType(pc, PC_JACOBI_ROWMAX));
  PETSC_OK(PCJacobiGetType(pc, &type));
  EXPECT_EQ(type, PC_JACOBI_ROWMAX);
  PETSC_OK(PCTaskDAGJacobiGetType(pc, &name));
  EXPECT_STREQ(name, "rowmax");
  PETSC_OK(PCJacobiSetType(pc, PC_JACOBI_ROWSUM));
  PETSC_OK(PCTaskDAGJacobiGetType(pc, &name));
  EXPECT_STREQ(name, "rowsum");
  PETSC_OK(PCJacobiSetUseAbs(pc, PETSC_TRUE));
  PETSC_OK(PCJacobiGetUseAbs(pc, &flag));
  EXPECT_EQ(flag, PETSC_TRUE);
  PETSC_OK(PCTaskDAGSetBackend(pc, PC_TASKDAG_BACKEND_HOST));
  PETSC_OK(PCSetUp(pc));
  const OwnedPc theirs = bare_pc(a, PCJACOBI);
  PETSC_OK(PCJacobiSetType(theirs, PC_JACOBI_ROWSUM));
  PETSC_OK(PCJacobiSetUseAbs(theirs, PETSC_TRUE));
  if (ranks() == 1) {
    EXPECT_LT(difference_of_applications(pc, theirs, a), 1e-14);
  }
  PETSC_OK(PCJacobiSetFixDiagonal(pc, PETSC_TRUE));
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCJacobiSetFixDiagonal(pc, PETSC_FALSE)), PETSC_ERR_SUP);
}

/// Whether reading `options` has used the one of that name.
bool is_used(Mat a, const std::string& options, const char* name) {
  const OwnedPc pc = bare_pc(a);
  const ScopedOptions given(options);
  PetscBool used = PETSC_FALSE;
  EXPECT_EQ(static_cast<int>(PCSetFromOptions(pc)), 0) << options;
  EXPECT_EQ(static_cast<int>(PetscOptionsUsed(nullptr, name, &used)), 0);
  return used == PETSC_TRUE;
}

// Then -options_left names the others.
TEST(Interface, OnlyTheOptionsOfTheTypeAreRead) {
  const OwnedMat a = make_matrix(grid());
  EXPECT_TRUE(is_used(a, "-pc_taskdag_type sor -pc_taskdag_sor_omega 1.5", "pc_taskdag_sor_omega"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type ilu -pc_taskdag_sor_omega 1.5", "pc_taskdag_sor_omega"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_sor_omega 1.5", "pc_taskdag_sor_omega"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type sor -pc_taskdag_jacobi_sweeps 3", "pc_taskdag_jacobi_sweeps"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type jacobi -pc_taskdag_schedule serial", "pc_taskdag_schedule"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type jacobi -pc_factor_levels 1", "pc_factor_levels"));
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type ilu -pc_taskdag_icc_shift petsc", "pc_taskdag_icc_shift"));
  EXPECT_TRUE(is_used(a, "-pc_taskdag_jacobi_sweeps 3", "pc_taskdag_jacobi_sweeps")) << "auto may take Jacobi";
}

// What belongs to another type is no less wrong for that, but it is not looked at.
TEST(Interface, WrongValuesOfOtherTypesAreLeft) {
  const OwnedMat a = make_matrix(grid());
  EXPECT_FALSE(is_used(a, "-pc_taskdag_type ilu -pc_taskdag_jacobi_sweeps 0", "pc_taskdag_jacobi_sweeps"));
}

TEST(Interface, PetscsNamesOfOptionsAreTakenAndOursCountMore) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc sor = bare_pc(a);
  const OwnedPc jacobi = bare_pc(a);
  PetscReal omega = 0.0;
  PetscInt its = 0;
  MatSORType sweep{};
  const char* name = nullptr;
  {
    const ScopedOptions options(
        "-pc_taskdag_type sor -pc_sor_omega 1.5 -pc_sor_its 3 -pc_taskdag_sor_its 2 -pc_sor_local_backward");
    PETSC_OK(PCSetFromOptions(sor));
  }
  PETSC_OK(PCSORGetOmega(sor, &omega));
  PETSC_OK(PCSORGetIterations(sor, &its, nullptr));
  PETSC_OK(PCSORGetSymmetric(sor, &sweep));
  EXPECT_EQ(omega, 1.5);
  EXPECT_EQ(its, 2);
  EXPECT_EQ(sweep, SOR_LOCAL_BACKWARD_SWEEP);
  {
    const ScopedOptions options("-pc_taskdag_type jacobi -pc_jacobi_type rowmax");
    PETSC_OK(PCSetFromOptions(jacobi));
  }
  PETSC_OK(PCTaskDAGJacobiGetType(jacobi, &name));
  EXPECT_STREQ(name, "rowmax");
  const ScopedOptions wrong("-pc_taskdag_type sor -pc_sor_omega 2");
  const ErrorCapture errors;
  EXPECT_EQ(static_cast<int>(PCSetFromOptions(sor)), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(errors.message().find("-pc_sor_omega must be more than 0, less than 2, not 2"), std::string::npos)
      << errors.message();
}

TEST(Interface, APivotToleranceCostsANumericPhase) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const CsrMatrix csr = load("bcsstk16");
  const OwnedMat a = make_matrix(csr);
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host -pc_factor_shift_type inblocks");
  const int symbolic = event_count("TaskDAGSymbolic");
  const int numeric = event_count("TaskDAGNumeric");
  PETSC_OK(PCFactorSetZeroPivot(pc, 1e5));
  PETSC_OK(PCFactorSetShiftAmount(pc, 3e5));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
  EXPECT_EQ(event_count("TaskDAGNumeric"), numeric + 1);
  const OwnedPc fresh = make_pc(a,
                                "-pc_type taskdag -pc_taskdag_backend host -pc_factor_shift_type inblocks "
                                "-pc_factor_zeropivot 1e5 -pc_factor_shift_amount 3e5");
  EXPECT_EQ(difference_of_applications(pc, fresh, a), 0.0);
}

// The pattern is another one by the time of the set-up.
TEST(Interface, APivotToleranceBeforeANewPatternCostsBothPhases) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host");
  const int symbolic = event_count("TaskDAGSymbolic");
  PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetValue(a, 0, 20, 0.5, INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(PCFactorSetZeroPivot(pc, 1e-9));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 1);
  const OwnedPc fresh = make_pc(a, "-pc_type taskdag -pc_taskdag_backend host -pc_factor_zeropivot 1e-9");
  EXPECT_EQ(difference_of_applications(pc, fresh, a), 0.0);
  // And another matrix.
  const OwnedMat other = make_matrix(make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 3, .nz = 3}));
  PETSC_OK(PCFactorSetZeroPivot(pc, 1e-10));
  PETSC_OK(PCSetOperators(pc, other, other));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic + 3);
}

// A failed factorisation is repeated with what is to mend it.
TEST(Interface, AShiftAmountMendsAFailedFactor) {
  SKIP_UNLESS_RANKS(ranks() == 1, "1 rank");
  CsrMatrix csr = grid();
  csr.values[0] = 0.0;
  const OwnedMat a = make_matrix(csr);
  const OwnedPc pc = make_pc(a,
                             "-pc_type taskdag -pc_taskdag_backend host -pc_factor_shift_type inblocks "
                             "-pc_factor_shift_amount 0");
  PCFailedReason reason = PC_NOERROR;
  PETSC_OK(PCFactorSetShiftAmount(pc, 0.5));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_NOERROR);
  const OwnedPc fresh = make_pc(a,
                                "-pc_type taskdag -pc_taskdag_backend host -pc_factor_shift_type inblocks "
                                "-pc_factor_shift_amount 0.5");
  EXPECT_EQ(difference_of_applications(pc, fresh, a), 0.0);
}

}  // namespace
}  // namespace taskdag::test
