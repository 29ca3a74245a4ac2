! TaskDAG for PETSc in Fortran: the functions of taskdagpetsc.h. Compile this file with your own compiler, since modules
! are the compiler's, and link libpetsctaskdag:
!     mpifort $(pkg-config --cflags petsctaskdag) -c taskdagpetsc.F90
!
! The functions return PETSc's error code and take pc%v where pc is a PC; names end with c_null_char:
!     ierr = PCTaskDAGSetType(pc%v, PC_TASKDAG_ICC)
!     ierr = PCTaskDAGSetSchedule(pc%v, 'plan'//c_null_char)
! Truth values are 0 and 1; put 0 into a variable before a getter, since newer releases of PETSc fill one byte of it. What
! hands out a name gives a C pointer to it, which stays until it is set again.
#include <petsc/finclude/petscsys.h>
module taskdagpetsc
  use, intrinsic :: iso_c_binding
  use petscsysdef
  implicit none

  character(len=*), parameter :: PCTASKDAG = 'taskdag'
  character(len=*), parameter :: MATSOLVERTASKDAG = 'taskdag'
  character(len=*), parameter :: MATORDERINGTASKDAGRCM = 'taskdag_rcm'
  character(len=*), parameter :: MATORDERINGTASKDAGCOLOR = 'taskdag_color'
  character(len=*), parameter :: MATORDERINGTASKDAGBMC = 'taskdag_bmc'

  enum, bind(C)
    enumerator :: PC_TASKDAG_ILU, PC_TASKDAG_ICC, PC_TASKDAG_JACOBI, PC_TASKDAG_SOR, PC_TASKDAG_DILU, PC_TASKDAG_DIC, &
      PC_TASKDAG_AUTO
  end enum
  enum, bind(C)
    enumerator :: PC_TASKDAG_BACKEND_AUTO, PC_TASKDAG_BACKEND_CUDA, PC_TASKDAG_BACKEND_HOST
  end enum

  interface
    ! After PetscInitialize: registers everything.
    integer(c_int) function TaskDAGInitializePackage() bind(C, name='TaskDAGInitializePackage')
      import
    end function

    ! Chooses what a PCTASKDAG does.
    integer(c_int) function PCTaskDAGSetType(pc, type) bind(C, name='PCTaskDAGSetType')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: type
    end function
    integer(c_int) function PCTaskDAGGetType(pc, type) bind(C, name='PCTaskDAGGetType')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(out) :: type
    end function

    ! Chooses where a PCTASKDAG works.
    integer(c_int) function PCTaskDAGSetBackend(pc, backend) bind(C, name='PCTaskDAGSetBackend')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: backend
    end function
    integer(c_int) function PCTaskDAGGetBackend(pc, backend) bind(C, name='PCTaskDAGGetBackend')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(out) :: backend
    end function

    ! The number of host threads of a rank (-pc_taskdag_threads). 0 (the default) shares the processors among the
    ! ranks of a node.
    integer(c_int) function PCTaskDAGSetThreads(pc, threads) bind(C, name='PCTaskDAGSetThreads')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: threads
    end function
    integer(c_int) function PCTaskDAGGetThreads(pc, threads) bind(C, name='PCTaskDAGGetThreads')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: threads
    end function

    ! Whose blocks are put together on several ranks (-pc_taskdag_consolidate): off (the default), auto (of ranks that
    ! share a GPU) or on (on host threads, of the ranks of a node, too). Another preconditioner, with fewer blocks.
    integer(c_int) function PCTaskDAGSetConsolidate(pc, mode) bind(C, name='PCTaskDAGSetConsolidate')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: mode(*)
    end function
    integer(c_int) function PCTaskDAGGetConsolidate(pc, mode) bind(C, name='PCTaskDAGGetConsolidate')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: mode
    end function

    ! The most ranks whose blocks are put together (-pc_taskdag_consolidate_ranks). 0 (the default): all that share.
    integer(c_int) function PCTaskDAGSetConsolidateRanks(pc, ranks) bind(C, name='PCTaskDAGSetConsolidateRanks')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: ranks
    end function
    integer(c_int) function PCTaskDAGGetConsolidateRanks(pc, ranks) bind(C, name='PCTaskDAGGetConsolidateRanks')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: ranks
    end function

    ! The schedule of the triangular sweeps (-pc_taskdag_schedule). Schedules change the time, not the result beyond
    ! rounding. Names are those of -help.
    integer(c_int) function PCTaskDAGSetSchedule(pc, schedule) bind(C, name='PCTaskDAGSetSchedule')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: schedule(*)
    end function
    integer(c_int) function PCTaskDAGGetSchedule(pc, schedule) bind(C, name='PCTaskDAGGetSchedule')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: schedule
    end function

    ! Whether the schedule auto times some schedules at set-up and keeps the fastest (-pc_taskdag_tune).
    integer(c_int) function PCTaskDAGSetTune(pc, tune) bind(C, name='PCTaskDAGSetTune')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: tune
    end function
    integer(c_int) function PCTaskDAGGetTune(pc, tune) bind(C, name='PCTaskDAGGetTune')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(inout) :: tune
    end function

    ! The file that keeps what tuning has found, for later runs (-pc_taskdag_tune_file).
    integer(c_int) function PCTaskDAGSetTuneFile(pc, file) bind(C, name='PCTaskDAGSetTuneFile')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: file(*)
    end function
    integer(c_int) function PCTaskDAGGetTuneFile(pc, file) bind(C, name='PCTaskDAGGetTuneFile')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: file
    end function

    ! How values reach the rows that wait for them under schedules ata-... (-pc_taskdag_ata_flow). pull or push; with
    ! push the last bits of a result change from run to run.
    integer(c_int) function PCTaskDAGSetATAFlow(pc, flow) bind(C, name='PCTaskDAGSetATAFlow')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: flow(*)
    end function
    integer(c_int) function PCTaskDAGGetATAFlow(pc, flow) bind(C, name='PCTaskDAGGetATAFlow')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: flow
    end function

    ! How many rows a task has under schedules and factor schedules ata-... (-pc_taskdag_ata_size). equations, the
    ! paper's, or warps_and_levels: a few rows for each warp that fits on the device, a few levels for each task.
    integer(c_int) function PCTaskDAGSetATASize(pc, size) bind(C, name='PCTaskDAGSetATASize')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: size(*)
    end function
    integer(c_int) function PCTaskDAGGetATASize(pc, size) bind(C, name='PCTaskDAGGetATASize')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: size
    end function

    ! Whether short rows of one level share a warp under schedules ata-... and level-...
    ! (-pc_taskdag_ata_rows_share_warps), or each row has one, as under self and in factorisations.
    integer(c_int) function PCTaskDAGSetATARowsShareWarps(pc, share) bind(C, name='PCTaskDAGSetATARowsShareWarps')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: share
    end function
    integer(c_int) function PCTaskDAGGetATARowsShareWarps(pc, share) bind(C, name='PCTaskDAGGetATARowsShareWarps')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(inout) :: share
    end function

    ! Up to how many rows a factor on a GPU is made on the host and applied by one thread block
    ! (-pc_taskdag_one_block_rows). 0: never. PETSC_DECIDE, the default: up to 5000, and for the first applications
    ! alone, where ordering and fill are the default.
    integer(c_int) function PCTaskDAGSetOneBlockRows(pc, rows) bind(C, name='PCTaskDAGSetOneBlockRows')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: rows
    end function
    integer(c_int) function PCTaskDAGGetOneBlockRows(pc, rows) bind(C, name='PCTaskDAGGetOneBlockRows')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: rows
    end function

    ! Who runs the rows of the numeric factorisation (-pc_taskdag_factor_schedule). auto, lists, engine, and on CUDA
    ! level-launch, level-graph, level-barrier, self, ata-concurrency, ata-locality, ata-greedy.
    integer(c_int) function PCTaskDAGSetFactorSchedule(pc, schedule) bind(C, name='PCTaskDAGSetFactorSchedule')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: schedule(*)
    end function
    integer(c_int) function PCTaskDAGGetFactorSchedule(pc, schedule) bind(C, name='PCTaskDAGGetFactorSchedule')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: schedule
    end function

    ! Who starts the tasks of the task engine (-pc_taskdag_engine_scheduler). megakernel, controller or timesliced;
    ! for the schedules engine and Jacobi forms by tasks.
    integer(c_int) function PCTaskDAGSetEngineScheduler(pc, scheduler) bind(C, name='PCTaskDAGSetEngineScheduler')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: scheduler(*)
    end function
    integer(c_int) function PCTaskDAGGetEngineScheduler(pc, scheduler) bind(C, name='PCTaskDAGGetEngineScheduler')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: scheduler
    end function

    ! When tasks of the task engine start (-pc_taskdag_engine_dependencies). ordered, individual or phases; for the
    ! schedules engine.
    integer(c_int) function PCTaskDAGSetEngineDependencies(pc, dependencies) bind(C, name='PCTaskDAGSetEngineDependencies')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: dependencies(*)
    end function
    integer(c_int) function PCTaskDAGGetEngineDependencies(pc, dependencies) bind(C, name='PCTaskDAGGetEngineDependencies')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: dependencies
    end function

    ! The file for the tasks that the task engine has run (-pc_taskdag_trace). A run without the task engine is an
    ! error of PCSetUp().
    integer(c_int) function PCTaskDAGSetTrace(pc, file) bind(C, name='PCTaskDAGSetTrace')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: file(*)
    end function
    integer(c_int) function PCTaskDAGGetTrace(pc, file) bind(C, name='PCTaskDAGGetTrace')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: file
    end function

    ! The ordering of the factor (-pc_taskdag_ordering). auto, or any registered ordering;
    ! PCFactorSetMatOrderingType() sets the same.
    integer(c_int) function PCTaskDAGSetOrdering(pc, ordering) bind(C, name='PCTaskDAGSetOrdering')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: ordering(*)
    end function
    integer(c_int) function PCTaskDAGGetOrdering(pc, ordering) bind(C, name='PCTaskDAGGetOrdering')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: ordering
    end function

    ! Rows in a block of taskdag_bmc (-pc_taskdag_bmc_block_size). 0 (the default): as -taskdag_bmc_block_size.
    integer(c_int) function PCTaskDAGSetBMCBlockSize(pc, rows) bind(C, name='PCTaskDAGSetBMCBlockSize')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: rows
    end function
    integer(c_int) function PCTaskDAGGetBMCBlockSize(pc, rows) bind(C, name='PCTaskDAGGetBMCBlockSize')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: rows
    end function

    ! What ICC does at a bad pivot (-pc_taskdag_icc_shift). scaled, or petsc.
    integer(c_int) function PCTaskDAGSetICCShift(pc, shift) bind(C, name='PCTaskDAGSetICCShift')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: shift(*)
    end function
    integer(c_int) function PCTaskDAGGetICCShift(pc, shift) bind(C, name='PCTaskDAGGetICCShift')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: shift
    end function

    ! Whether dense blocks of rows are taken as one (-pc_taskdag_point_block). auto, on, or off.
    integer(c_int) function PCTaskDAGSetPointBlock(pc, choice) bind(C, name='PCTaskDAGSetPointBlock')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: choice(*)
    end function
    integer(c_int) function PCTaskDAGGetPointBlock(pc, choice) bind(C, name='PCTaskDAGGetPointBlock')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: choice
    end function

    ! Where levels of fill may be (-pc_taskdag_fill). all, or blocks.
    integer(c_int) function PCTaskDAGSetFill(pc, fill) bind(C, name='PCTaskDAGSetFill')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: fill(*)
    end function
    integer(c_int) function PCTaskDAGGetFill(pc, fill) bind(C, name='PCTaskDAGGetFill')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: fill
    end function

    ! How the values of a factor are stored that an application reads (-pc_taskdag_precision). auto, double, or single.
    integer(c_int) function PCTaskDAGSetPrecision(pc, precision) bind(C, name='PCTaskDAGSetPrecision')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: precision(*)
    end function
    integer(c_int) function PCTaskDAGGetPrecision(pc, precision) bind(C, name='PCTaskDAGGetPrecision')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: precision
    end function

    ! Whether Eisenstat's trick saves the products with the matrix (-pc_taskdag_eisenstat). For SOR, DILU, DIC, and
    ! ILU(0) and ICC(0) that are one of them.
    integer(c_int) function PCTaskDAGSetEisenstat(pc, eisenstat) bind(C, name='PCTaskDAGSetEisenstat')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: eisenstat
    end function
    integer(c_int) function PCTaskDAGGetEisenstat(pc, eisenstat) bind(C, name='PCTaskDAGGetEisenstat')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(inout) :: eisenstat
    end function

    ! What the system of Eisenstat's trick is scaled by (-pc_taskdag_eisenstat_scaling). none or symmetric.
    integer(c_int) function PCTaskDAGSetEisenstatScaling(pc, scaling) bind(C, name='PCTaskDAGSetEisenstatScaling')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: scaling(*)
    end function
    integer(c_int) function PCTaskDAGGetEisenstatScaling(pc, scaling) bind(C, name='PCTaskDAGGetEisenstatScaling')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: scaling
    end function

    ! The number of sweeps in an application (-pc_taskdag_jacobi_sweeps).
    integer(c_int) function PCTaskDAGJacobiSetSweeps(pc, sweeps) bind(C, name='PCTaskDAGJacobiSetSweeps')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: sweeps
    end function
    integer(c_int) function PCTaskDAGJacobiGetSweeps(pc, sweeps) bind(C, name='PCTaskDAGJacobiGetSweeps')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: sweeps
    end function

    ! The factor on each correction (-pc_taskdag_jacobi_damping).
    integer(c_int) function PCTaskDAGJacobiSetDamping(pc, damping) bind(C, name='PCTaskDAGJacobiSetDamping')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, value :: damping
    end function
    integer(c_int) function PCTaskDAGJacobiGetDamping(pc, damping) bind(C, name='PCTaskDAGJacobiGetDamping')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, intent(out) :: damping
    end function

    ! The weights of several sweeps (-pc_taskdag_jacobi_weights). constant or chebyshev.
    integer(c_int) function PCTaskDAGJacobiSetWeights(pc, weights) bind(C, name='PCTaskDAGJacobiSetWeights')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: weights(*)
    end function
    integer(c_int) function PCTaskDAGJacobiGetWeights(pc, weights) bind(C, name='PCTaskDAGJacobiGetWeights')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: weights
    end function

    ! What the sweeps divide by (-pc_taskdag_jacobi_type). diagonal, rowmax, rowsum, rowl1 or block.
    integer(c_int) function PCTaskDAGJacobiSetType(pc, type) bind(C, name='PCTaskDAGJacobiSetType')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: type(*)
    end function
    integer(c_int) function PCTaskDAGJacobiGetType(pc, type) bind(C, name='PCTaskDAGJacobiGetType')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: type
    end function

    ! The factor on the absolute values beside the diagonal, with the type rowl1 (-pc_taskdag_jacobi_rowl1_scale).
    integer(c_int) function PCTaskDAGJacobiSetRowl1Scale(pc, scale) bind(C, name='PCTaskDAGJacobiSetRowl1Scale')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, value :: scale
    end function
    integer(c_int) function PCTaskDAGJacobiGetRowl1Scale(pc, scale) bind(C, name='PCTaskDAGJacobiGetRowl1Scale')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, intent(out) :: scale
    end function

    ! Whether the sweeps divide by absolute values (-pc_taskdag_jacobi_abs).
    integer(c_int) function PCTaskDAGJacobiSetUseAbs(pc, use) bind(C, name='PCTaskDAGJacobiSetUseAbs')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), value :: use
    end function
    integer(c_int) function PCTaskDAGJacobiGetUseAbs(pc, use) bind(C, name='PCTaskDAGJacobiGetUseAbs')
      import
      integer(c_intptr_t), value :: pc
      integer(c_int), intent(inout) :: use
    end function

    ! How several sweeps are run (-pc_taskdag_jacobi_form). Forms change the time, not the result. Names are those
    ! of -help.
    integer(c_int) function PCTaskDAGJacobiSetForm(pc, form) bind(C, name='PCTaskDAGJacobiSetForm')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: form(*)
    end function
    integer(c_int) function PCTaskDAGJacobiGetForm(pc, form) bind(C, name='PCTaskDAGJacobiGetForm')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: form
    end function

    ! The number of matrix entries for a task (-pc_taskdag_jacobi_part_entries).
    integer(c_int) function PCTaskDAGJacobiSetPartEntries(pc, entries) bind(C, name='PCTaskDAGJacobiSetPartEntries')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: entries
    end function
    integer(c_int) function PCTaskDAGJacobiGetPartEntries(pc, entries) bind(C, name='PCTaskDAGJacobiGetPartEntries')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: entries
    end function

    ! The number of entries from which a row is shared out to several tasks (-pc_taskdag_jacobi_long_row). 0: none
    ! is.
    integer(c_int) function PCTaskDAGJacobiSetLongRow(pc, entries) bind(C, name='PCTaskDAGJacobiSetLongRow')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: entries
    end function
    integer(c_int) function PCTaskDAGJacobiGetLongRow(pc, entries) bind(C, name='PCTaskDAGJacobiGetLongRow')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: entries
    end function

    ! Where the blocks of the type block come from (-pc_taskdag_jacobi_blocks). auto, graph or matrix.
    integer(c_int) function PCTaskDAGJacobiSetBlocks(pc, blocks) bind(C, name='PCTaskDAGJacobiSetBlocks')
      import
      integer(c_intptr_t), value :: pc
      character(kind=c_char), intent(in) :: blocks(*)
    end function
    integer(c_int) function PCTaskDAGJacobiGetBlocks(pc, blocks) bind(C, name='PCTaskDAGJacobiGetBlocks')
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr), intent(out) :: blocks
    end function

    ! The rows that a block of the graph is to have (-pc_taskdag_jacobi_block_size), 0 to 32. 0: 4.
    integer(c_int) function PCTaskDAGJacobiSetBlockSize(pc, rows) bind(C, name='PCTaskDAGJacobiSetBlockSize')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, value :: rows
    end function
    integer(c_int) function PCTaskDAGJacobiGetBlockSize(pc, rows) bind(C, name='PCTaskDAGJacobiGetBlockSize')
      import
      integer(c_intptr_t), value :: pc
      PetscInt, intent(out) :: rows
    end function

    ! What SOR adds to diagonal entries (-pc_taskdag_sor_diagonal_shift). Nothing below 0 counts with omega 1, as in
    ! PCSOR.
    integer(c_int) function PCTaskDAGSORSetDiagonalShift(pc, shift) bind(C, name='PCTaskDAGSORSetDiagonalShift')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, value :: shift
    end function
    integer(c_int) function PCTaskDAGSORGetDiagonalShift(pc, shift) bind(C, name='PCTaskDAGSORGetDiagonalShift')
      import
      integer(c_intptr_t), value :: pc
      PetscReal, intent(out) :: shift
    end function

    ! Whether MatSOR() is TaskDAG's for matrices that get their type from now on (-taskdag_mat_sor), and of one matrix.
    ! use: 0 or 1; mat%v as pc%v.
    integer(c_int) function TaskDAGSetMatSOR(use) bind(C, name='TaskDAGSetMatSOR')
      import
      integer(c_int), value :: use
    end function
    integer(c_int) function MatTaskDAGSetSOR(mat, use) bind(C, name='MatTaskDAGSetSOR')
      import
      integer(c_intptr_t), value :: mat
      integer(c_int), value :: use
    end function
    integer(c_int) function MatTaskDAGGetSOR(mat, use) bind(C, name='MatTaskDAGGetSOR')
      import
      integer(c_intptr_t), value :: mat
      integer(c_int), intent(inout) :: use
    end function
  end interface
end module taskdagpetsc
