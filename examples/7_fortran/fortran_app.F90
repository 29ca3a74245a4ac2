! The Poisson equation on a square in Fortran: CG with TaskDAG's incomplete Cholesky factorisation, chosen in code; every
! -ksp_* and -pc_* option still works.
#include <petsc/finclude/petscksp.h>
program fortran_app
  use petscksp
  ! The functions of taskdagpetsc take pc%v and return the error code; pctaskdag has the same as subroutines.
  use taskdagpetsc, only: PCTASKDAG, PC_TASKDAG_ICC, TaskDAGInitializePackage, threads_of => PCTaskDAGGetThreads
  use pctaskdag
  implicit none

  Mat :: a
  Vec :: x, b
  KSP :: solver
  PC :: pc
  KSPConvergedReason :: reason
  PetscErrorCode :: ierr
  PetscInt :: n, first, last, row, iterations, threads
  PetscInt, parameter :: one = 1, five = 5, four = 4
  PetscReal :: error
  integer(kind(PC_TASKDAG_ICC)) :: type
  character(len=20) :: ordering
  PetscMPIInt :: rank

  PetscCallA(PetscInitialize(PETSC_NULL_CHARACTER, ierr))
  call check(TaskDAGInitializePackage())
  n = 40
  ! b = A (1, 1, ..., 1), so the error of the solution is known.
  PetscCallA(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, five, PETSC_NULL_INTEGER, four, PETSC_NULL_INTEGER, a, ierr))
  PetscCallA(MatGetOwnershipRange(a, first, last, ierr))
  do row = first, last - 1
    call set(row, row, 4.0d0)
    if (mod(row, n) > 0) call set(row, row - 1, -1.0d0)
    if (mod(row, n) < n - 1) call set(row, row + 1, -1.0d0)
    if (row >= n) call set(row, row - n, -1.0d0)
    if (row < n * n - n) call set(row, row + n, -1.0d0)
  end do
  PetscCallA(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatCreateVecs(a, x, b, ierr))
  PetscCallA(VecSet(x, 1.0d0, ierr))
  PetscCallA(MatMult(a, x, b, ierr))

  PetscCallA(KSPCreate(PETSC_COMM_WORLD, solver, ierr))
  PetscCallA(KSPSetOperators(solver, a, a, ierr))
  PetscCallA(KSPSetType(solver, KSPCG, ierr))
  PetscCallA(KSPGetPC(solver, pc, ierr))
  PetscCallA(PCSetType(pc, PCTASKDAG, ierr))
  PetscCallA(PCTaskDAGSetType(pc, PC_TASKDAG_ICC, ierr))
  PetscCallA(PCTaskDAGSetThreads(pc, one, ierr))
  PetscCallA(PCTaskDAGSetOrdering(pc, 'natural', ierr))
  PetscCallA(PCTaskDAGSetTune(pc, PETSC_FALSE, ierr))
  PetscCallA(PCTaskDAGGetOrdering(pc, ordering, ierr))
  PetscCallA(KSPSetFromOptions(solver, ierr))
  PetscCallA(KSPSolve(solver, b, x, ierr))

  PetscCallA(PCTaskDAGGetType(pc, type, ierr))
  call check(threads_of(pc%v, threads))
  PetscCallA(KSPGetConvergedReason(solver, reason, ierr))
  PetscCallA(KSPGetIterationNumber(solver, iterations, ierr))
  PetscCallA(VecShift(x, -1.0d0, ierr))
  PetscCallA(VecNorm(x, NORM_INFINITY, error, ierr))
  PetscCallMPIA(MPI_Comm_rank(PETSC_COMM_WORLD, rank, ierr))
  if (rank == 0) print '(a,i0,a,i0,3a,i0,a,es9.2)', 'type ', type, ', threads ', threads, &
    ', ordering ', trim(ordering), ', iterations ', iterations, ', error ', error

  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(MatDestroy(a, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(PetscFinalize(ierr))

contains

  subroutine check(code)
    integer, intent(in) :: code
    if (code /= 0) call MPI_Abort(PETSC_COMM_WORLD, code, ierr)
  end subroutine

  subroutine set(i, j, value)
    PetscInt, intent(in) :: i, j
    PetscScalar, intent(in) :: value
    PetscErrorCode :: code
    PetscCallA(MatSetValue(a, i, j, value, INSERT_VALUES, code))
  end subroutine
end program
