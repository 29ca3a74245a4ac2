! The Poisson equation on a square in Fortran: CG with TaskDAG's incomplete Cholesky factorisation, chosen in code; every
! -ksp_* and -pc_* option still works. PETSc's PetscCallA() would make lines longer than compilers read unasked.
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

  call PetscInitialize(PETSC_NULL_CHARACTER, ierr); call check(ierr)
  call check(TaskDAGInitializePackage())
  n = 40
  ! b = A (1, 1, ..., 1), so the error of the solution is known.
  call MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, five, PETSC_NULL_INTEGER, four, &
    PETSC_NULL_INTEGER, a, ierr)
  call check(ierr)
  call MatGetOwnershipRange(a, first, last, ierr); call check(ierr)
  do row = first, last - 1
    call set(row, row, 4.0d0)
    if (mod(row, n) > 0) call set(row, row - 1, -1.0d0)
    if (mod(row, n) < n - 1) call set(row, row + 1, -1.0d0)
    if (row >= n) call set(row, row - n, -1.0d0)
    if (row < n * n - n) call set(row, row + n, -1.0d0)
  end do
  call MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY, ierr); call check(ierr)
  call MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY, ierr); call check(ierr)
  call MatCreateVecs(a, x, b, ierr); call check(ierr)
  call VecSet(x, 1.0d0, ierr); call check(ierr)
  call MatMult(a, x, b, ierr); call check(ierr)

  call KSPCreate(PETSC_COMM_WORLD, solver, ierr); call check(ierr)
  call KSPSetOperators(solver, a, a, ierr); call check(ierr)
  call KSPSetType(solver, KSPCG, ierr); call check(ierr)
  call KSPGetPC(solver, pc, ierr); call check(ierr)
  call PCSetType(pc, PCTASKDAG, ierr); call check(ierr)
  call PCTaskDAGSetType(pc, PC_TASKDAG_ICC, ierr); call check(ierr)
  call PCTaskDAGSetThreads(pc, one, ierr); call check(ierr)
  call PCTaskDAGSetOrdering(pc, 'natural', ierr); call check(ierr)
  call PCTaskDAGSetTune(pc, PETSC_FALSE, ierr); call check(ierr)
  call PCTaskDAGGetOrdering(pc, ordering, ierr); call check(ierr)
  call KSPSetFromOptions(solver, ierr); call check(ierr)
  call KSPSolve(solver, b, x, ierr); call check(ierr)

  call PCTaskDAGGetType(pc, type, ierr); call check(ierr)
  call check(threads_of(pc%v, threads))
  call KSPGetConvergedReason(solver, reason, ierr); call check(ierr)
  call KSPGetIterationNumber(solver, iterations, ierr); call check(ierr)
  call VecShift(x, -1.0d0, ierr); call check(ierr)
  call VecNorm(x, NORM_INFINITY, error, ierr); call check(ierr)
  call MPI_Comm_rank(PETSC_COMM_WORLD, rank, ierr); call check(ierr)
  if (rank == 0) print '(a,i0,a,i0,3a,i0,a,es9.2)', 'type ', type, ', threads ', threads, &
    ', ordering ', trim(ordering), ', iterations ', iterations, ', error ', error

  call KSPDestroy(solver, ierr); call check(ierr)
  call MatDestroy(a, ierr); call check(ierr)
  call VecDestroy(x, ierr); call check(ierr)
  call VecDestroy(b, ierr); call check(ierr)
  call PetscFinalize(ierr); call check(ierr)

contains

  subroutine check(code)
    integer, intent(in) :: code
    if (code /= 0) call MPI_Abort(PETSC_COMM_WORLD, code, ierr)
  end subroutine

  subroutine set(i, j, value)
    PetscInt, intent(in) :: i, j
    PetscScalar, intent(in) :: value
    PetscErrorCode :: code
    call MatSetValue(a, i, j, value, INSERT_VALUES, code); call check(code)
  end subroutine
end program
