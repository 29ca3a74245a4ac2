/* What an application of PETSc sees that knows nothing of TaskDAG: the times of a first set-up and a first solve in a
   process of its own, of later solves and of a later set-up. Only PETSc's headers; a preconditioner comes with
   -dll_append and -pc_type. */
#include <petscdevice.h>
#include <petscksp.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

static const char kHelp[] =
    "Times KSPSetUp(), the first and later KSPSolve() of a system, and looks at the true residual.\n"
    "  -f FILE              PETSc's binary format, with real values also where PETSc is complex; else a stencil on a "
    "grid:\n"
    "  -stencil 5|7|27      [7]\n"
    "  -n N                 points in each direction [50]\n"
    "  -dof N               unknowns of a point, coupled with those of its own and the neighbouring points [1]\n"
    "  -wind W              convection along all axes, relative to diffusion [0]\n"
    "  -k2 K                -Laplace - K: taken from the diagonal; complex where PETSc is [0]\n"
    "  -phase P             complex PETSc: entries above the diagonal turned by P, those below by -P [0]\n"
    "  -symmetric           say MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE)\n"
    "  -mean M              of the solution's entries, which are random and in [M - 1/2, M + 1/2) [1/2]\n"
    "  -repeat N            later solves, of which the fastest counts [5]\n"
    "  -columns N           N right-hand sides, too, by KSPMatSolve() and one by one [0]\n"
    "  -view                KSPView() at the end\n"
    "Exit status: 0 converged, 1 an error, 2 not converged.\n\n";

typedef struct {
  PetscInt stencil, n, dof;
  PetscReal wind;
} Grid;

/* The entries of a row: unknown k of the point (x, y, z). Points beyond the boundary are 0 there, the diagonal is that
   of the whole stencil. */
static PetscErrorCode set_row(Mat a, Grid g, PetscInt row) {
  const PetscInt planes = g.stencil == 5 ? 1 : g.n, point = row / g.dof, k = row % g.dof;
  const PetscInt x = point % g.n, y = point / g.n % g.n, z = point / (g.n * g.n);
  PetscInt columns[27 * 8], count = 0;
  PetscScalar values[27 * 8], diagonal = 0.0;
  PetscFunctionBeginUser;
  for (PetscInt dz = g.stencil == 5 ? 0 : -1; dz <= (g.stencil == 5 ? 0 : 1); ++dz)
    for (PetscInt dy = -1; dy <= 1; ++dy)
      for (PetscInt dx = -1; dx <= 1; ++dx) {
        const PetscInt away = PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz);
        if (away == 0 || (g.stencil != 27 && away > 1)) continue;
        const PetscReal upwind = dx + dy + dz < 0 && away == 1 ? g.wind : 0.0;
        const PetscBool inside =
            (PetscBool)(x + dx >= 0 && x + dx < g.n && y + dy >= 0 && y + dy < g.n && z + dz >= 0 && z + dz < planes);
        for (PetscInt l = 0; l < g.dof; ++l) {
          const PetscScalar value = -(1.0 + upwind) / (l == k ? 1.0 : 4.0 * away);
          diagonal -= value;
          if (!inside) continue;
          columns[count] = (((z + dz) * g.n + y + dy) * g.n + x + dx) * g.dof + l;
          values[count++] = value;
        }
      }
  columns[count] = row;
  values[count++] = diagonal;
  PetscCall(MatSetValues(a, 1, &row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_grid(Mat a, Grid g) {
  const PetscInt rows = g.n * g.n * (g.stencil == 5 ? 1 : g.n) * g.dof, most = g.stencil * g.dof;
  PetscInt first = 0, last = 0;
  PetscFunctionBeginUser;
  PetscCheck(g.dof >= 1 && g.dof <= 8, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dof is 1 to 8");
  PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetFromOptions(a));
  PetscCall(MatSeqAIJSetPreallocation(a, most, NULL));
  PetscCall(MatMPIAIJSetPreallocation(a, most, NULL, most, NULL));
  PetscCall(MatSetUp(a)); /* other types */
  PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) PetscCall(set_row(a, g, row));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_COMPLEX) || defined(PETSC_USE_REAL_SINGLE)
/* The same file whatever PETSc's scalars are. */
static PetscErrorCode load_real(Mat a, PetscViewer viewer) {
  PetscInt header[4], *lengths, *columns;
  double* values;
  PetscScalar* row;
  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryRead(viewer, header, 4, NULL, PETSC_INT));
  PetscCheck(header[0] == MAT_FILE_CLASSID && header[3] >= 0, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "no sparse matrix");
  PetscCall(PetscMalloc4(header[1], &lengths, header[3], &columns, header[3], &values, header[2], &row));
  PetscCall(PetscViewerBinaryRead(viewer, lengths, header[1], NULL, PETSC_INT));
  PetscCall(PetscViewerBinaryRead(viewer, columns, header[3], NULL, PETSC_INT));
  PetscCall(PetscViewerBinaryRead(viewer, values, header[3], NULL, PETSC_DOUBLE));
  PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, header[1], header[2]));
  PetscCall(MatSeqAIJSetPreallocation(a, 0, lengths));
  PetscCall(MatSetUp(a));
  for (PetscInt i = 0, entry = 0; i < header[1]; entry += lengths[i++]) {
    for (PetscInt k = 0; k < lengths[i]; ++k) row[k] = (PetscReal)values[entry + k];
    PetscCall(MatSetValues(a, 1, &i, lengths[i], columns + entry, row, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree4(lengths, columns, values, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* -k2 and -phase, of a matrix on one rank. */
static PetscErrorCode change_values(Mat a) {
  PetscScalar k2 = 0.0;
  PetscReal phase = 0.0;
  PetscBool shifted = PETSC_FALSE, turned = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetScalar(NULL, NULL, "-k2", &k2, &shifted));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-phase", &phase, &turned));
#if defined(PETSC_USE_COMPLEX)
  if (turned) {
    const PetscScalar above = PetscCMPLX(PetscCosReal(phase), PetscSinReal(phase));
    const PetscInt *begin, *columns;
    PetscInt rows = 0;
    PetscScalar* values;
    PetscBool done = PETSC_FALSE;
    PetscCall(MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows, &begin, &columns, &done));
    PetscCall(MatSeqAIJGetArray(a, &values));
    for (PetscInt i = 0; done && i < rows; ++i)
      for (PetscInt e = begin[i]; e < begin[i + 1]; ++e)
        if (columns[e] != i) values[e] *= columns[e] > i ? above : PetscConj(above);
    PetscCall(MatSeqAIJRestoreArray(a, &values));
    PetscCall(MatRestoreRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows, &begin, &columns, &done));
  }
#else
  PetscCheck(!turned, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-phase %g is for a complex PETSc", (double)phase);
#endif
  if (shifted) PetscCall(MatShift(a, -k2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_matrix(Mat* a) {
  Grid g = {7, 50, 1, 0.0};
  char file[PETSC_MAX_PATH_LEN] = "";
  PetscBool from_file = PETSC_FALSE, symmetric = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Problem", NULL);
  PetscCall(PetscOptionsString("-f", "matrix", NULL, file, file, sizeof file, &from_file));
  PetscCall(PetscOptionsInt("-stencil", "5, 7 or 27", NULL, g.stencil, &g.stencil, NULL));
  PetscCall(PetscOptionsInt("-n", "points in each direction", NULL, g.n, &g.n, NULL));
  PetscCall(PetscOptionsInt("-dof", "unknowns of a point", NULL, g.dof, &g.dof, NULL));
  PetscCall(PetscOptionsReal("-wind", "convection", NULL, g.wind, &g.wind, NULL));
  PetscCall(PetscOptionsBool("-symmetric", "say that the matrix is", NULL, symmetric, &symmetric, NULL));
  PetscOptionsEnd();
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  if (from_file) {
    PetscViewer viewer;
    PetscCall(MatSetFromOptions(*a));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
#if defined(PETSC_USE_COMPLEX) || defined(PETSC_USE_REAL_SINGLE)
    PetscCall(load_real(*a, viewer));
#else
    PetscCall(MatLoad(*a, viewer));
#endif
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    PetscCall(make_grid(*a, g));
  }
  PetscCall(change_values(*a));
  if (symmetric) PetscCall(MatSetOption(*a, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the work that the present stream has. A norm would do as well, and have CUDA load another library first. */
static PetscErrorCode wait_for_device(void) {
  PetscDeviceContext context = NULL;
  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve from zero, its end on the device and on all ranks included. */
static PetscErrorCode time_solve(KSP ksp, Vec b, Vec x, PetscLogDouble* seconds) {
  PetscLogDouble begin = 0.0, end = 0.0;
  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0.0));
  PetscCall(wait_for_device());
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(wait_for_device());
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_system(Mat* a, Vec* x, Vec* b) {
  PetscRandom random;
  PetscReal mean = 0.5;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mean", &mean, NULL));
  PetscCall(make_matrix(a));
  PetscCall(MatCreateVecs(*a, x, b));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(*x, random));
  PetscCall(PetscRandomDestroy(&random));
  if (mean != 0.5) PetscCall(VecShift(*x, mean - 0.5));
  PetscCall(MatMult(*a, *x, *b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A KSP as the options say, set up. */
static PetscErrorCode time_set_up(Mat a, KSP* ksp, PetscLogDouble* seconds) {
  PetscLogDouble begin = 0.0, end = 0.0;
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, a, a));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| / |b| */
static PetscErrorCode relative_residual(Mat a, Vec x, Vec b, PetscReal* residual) {
  Vec r;
  PetscReal right = 0.0;
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(a, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &right));
  PetscCall(VecDestroy(&r));
  *residual /= right;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPMatSolve() for so many columns, and KSPSolve() for one after the other; the least of three times each. */
static PetscErrorCode time_columns(KSP ksp, Mat a, PetscInt columns) {
  Mat b, x;
  Vec from, to;
  PetscInt local = 0, rows = 0;
  PetscBool cuda = PETSC_FALSE;
  PetscLogDouble seconds = 0.0, together = PETSC_MAX_REAL, apart = PETSC_MAX_REAL, begin = 0.0, end = 0.0;
  PetscReal norm = 0.0;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)a, &cuda, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(MatGetSize(a, &rows, NULL));
  PetscCall(MatGetLocalSize(a, &local, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &b));
  PetscCall(MatSetSizes(b, local, PETSC_DECIDE, rows, columns));
  PetscCall(MatSetType(b, cuda ? MATDENSECUDA : MATDENSE));
  PetscCall(MatSetUp(b));
  PetscCall(MatSetRandom(b, NULL));
  PetscCall(MatDuplicate(b, MAT_DO_NOT_COPY_VALUES, &x));
  for (PetscInt k = 0; k < 4; ++k) { /* the first sets up */
    seconds = 0.0;
    for (PetscInt c = 0; c < columns; ++c) {
      PetscCall(MatDenseGetColumnVecRead(b, c, &from));
      PetscCall(MatDenseGetColumnVecWrite(x, c, &to));
      PetscCall(PetscTime(&begin));
      PetscCall(KSPSolve(ksp, from, to));
      PetscCall(VecNorm(to, NORM_2, &norm));
      PetscCall(PetscTime(&end));
      PetscCall(MatDenseRestoreColumnVecWrite(x, c, &to));
      PetscCall(MatDenseRestoreColumnVecRead(b, c, &from));
      seconds += end - begin;
    }
    if (k > 0) apart = PetscMin(apart, seconds);
    PetscCall(PetscBarrier(NULL));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPMatSolve(ksp, b, x));
    PetscCall(MatNorm(x, NORM_FROBENIUS, &norm));
    PetscCall(PetscTime(&end));
    if (k > 0) together = PetscMin(together, end - begin);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "columns: %" PetscInt_FMT "\ntogether: %.6f s\none by one: %.6f s\n", columns,
                        together, apart));
  PetscCall(MatDestroy(&x));
  PetscCall(MatDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode run(PetscBool* converged) {
  Mat a;
  Vec x, b;
  KSP ksp, other;
  PetscInt rows = 0, iterations = 0, repeat = 5, columns = 0;
  PetscLogDouble set_up = 0.0, again = 0.0, first = 0.0, least = PETSC_MAX_REAL, seconds = 0.0;
  PetscReal residual = 0.0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING, later = KSP_CONVERGED_ITERATING;
  PetscBool view = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-columns", &columns, NULL));
  PetscCall(make_system(&a, &x, &b));
  PetscCall(time_set_up(a, &ksp, &set_up));
  PetscCall(time_solve(ksp, b, x, &first));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(relative_residual(a, x, b, &residual));
  later = reason;
  for (PetscInt k = 0; k < repeat && later > 0; ++k) {
    PetscCall(time_solve(ksp, b, x, &seconds));
    PetscCall(KSPGetConvergedReason(ksp, &later));
    least = PetscMin(least, seconds);
  }
  *converged = (PetscBool)(reason > 0 && later > 0);
  PetscCall(MatGetSize(a, &rows, NULL));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "rows: %" PetscInt_FMT "\niterations: %" PetscInt_FMT "\n", rows, iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason: %s\nresidual: %g\n",
                        KSPConvergedReasons[reason < 0 ? reason : later], (double)residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up: %.6f s\nfirst solve: %.6f s\n", set_up, first));
  if (*converged && repeat > 0) {
    PetscCall(time_set_up(a, &other, &again));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve: %.6f s\nlater set-up: %.6f s\n", least, again));
    PetscCall(KSPDestroy(&other));
  }
  if (columns > 0) PetscCall(time_columns(ksp, a, columns));
  if (view) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char** argv) {
  PetscBool converged = PETSC_FALSE;
  if (PetscInitialize(&argc, &argv, NULL, kHelp) != 0) return 1;
  const int failed = run(&converged) != 0;
  if (PetscFinalize() != 0 || failed) return 1;
  return converged ? 0 : 2;
}
