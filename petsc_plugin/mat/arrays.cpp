#include "mat/arrays.hpp"

#include <span>

#include "boundary.hpp"
#include "mat/indices.hpp"

namespace taskdag::petsc {
namespace {

// PETSc's accessors under one name, so that vectors and dense matrices share the logic.
PetscErrorCode get_read(Vec v, const PetscScalar** p, PetscMemType* m) { return VecGetArrayReadAndMemType(v, p, m); }
PetscErrorCode restore_read(Vec v, const PetscScalar** p) { return VecRestoreArrayReadAndMemType(v, p); }
PetscErrorCode get_result(Vec v, PetscScalar** p, PetscMemType* m, ResultUse use) {
  return use == ResultUse::updated ? VecGetArrayAndMemType(v, p, m) : VecGetArrayWriteAndMemType(v, p, m);
}
PetscErrorCode restore_result(Vec v, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? VecRestoreArrayAndMemType(v, p) : VecRestoreArrayWriteAndMemType(v, p);
}
PetscErrorCode get_host_read(Vec v, const PetscScalar** p) { return VecGetArrayRead(v, p); }
PetscErrorCode restore_host_read(Vec v, const PetscScalar** p) { return VecRestoreArrayRead(v, p); }
PetscErrorCode get_host_result(Vec v, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? VecGetArray(v, p) : VecGetArrayWrite(v, p);
}
PetscErrorCode restore_host_result(Vec v, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? VecRestoreArray(v, p) : VecRestoreArrayWrite(v, p);
}

PetscErrorCode get_host_read(Mat m, const PetscScalar** p) { return MatDenseGetArrayRead(m, p); }
PetscErrorCode restore_host_read(Mat m, const PetscScalar** p) { return MatDenseRestoreArrayRead(m, p); }
PetscErrorCode get_host_result(Mat m, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? MatDenseGetArray(m, p) : MatDenseGetArrayWrite(m, p);
}
PetscErrorCode restore_host_result(Mat m, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? MatDenseRestoreArray(m, p) : MatDenseRestoreArrayWrite(m, p);
}
#if PETSC_VERSION_GE(3, 20, 0)
PetscErrorCode get_read(Mat m, const PetscScalar** p, PetscMemType* t) {
  return MatDenseGetArrayReadAndMemType(m, p, t);
}
PetscErrorCode restore_read(Mat m, const PetscScalar** p) { return MatDenseRestoreArrayReadAndMemType(m, p); }
PetscErrorCode get_result(Mat m, PetscScalar** p, PetscMemType* t, ResultUse use) {
  return use == ResultUse::updated ? MatDenseGetArrayAndMemType(m, p, t) : MatDenseGetArrayWriteAndMemType(m, p, t);
}
PetscErrorCode restore_result(Mat m, PetscScalar** p, ResultUse use) {
  return use == ResultUse::updated ? MatDenseRestoreArrayAndMemType(m, p) : MatDenseRestoreArrayWriteAndMemType(m, p);
}
#else
// Those releases lend the host array of a dense matrix only.
PetscErrorCode get_read(Mat m, const PetscScalar** p, PetscMemType* t) {
  *t = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayRead(m, p);
}
PetscErrorCode restore_read(Mat m, const PetscScalar** p) { return MatDenseRestoreArrayRead(m, p); }
PetscErrorCode get_result(Mat m, PetscScalar** p, PetscMemType* t, ResultUse use) {
  *t = PETSC_MEMTYPE_HOST;
  return get_host_result(m, p, use);
}
PetscErrorCode restore_result(Mat m, PetscScalar** p, ResultUse use) { return restore_host_result(m, p, use); }
#endif

/// PETSc's arrays as the library's.
void lend(const PetscScalar* b, PetscScalar* x, MemorySpace space, Arrays* arrays) {
  arrays->b = as_reals(b);
  arrays->x = as_reals(x);
  arrays->space = space;
  arrays->rows *= reals_per_scalar;
  arrays->ldb *= reals_per_scalar;
  arrays->ldx *= reals_per_scalar;
}

template <class Object>
PetscErrorCode open(Object b, Object x, bool device, Arrays* arrays, ResultUse use) {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  if (device) {
    PetscMemType of_b = PETSC_MEMTYPE_HOST;
    PetscMemType of_x = PETSC_MEMTYPE_HOST;
    PetscCall(get_read(b, &from, &of_b));
    PetscCall(get_result(x, &to, &of_x, use));
    if (in_cuda_memory(of_b) && in_cuda_memory(of_x)) {
      lend(from, to, MemorySpace::device, arrays);
      return PETSC_SUCCESS;
    }
    PetscCall(restore_result(x, &to, use));
    PetscCall(restore_read(b, &from));
  }
  PetscCall(get_host_read(b, &from));
  PetscCall(get_host_result(x, &to, use));
  lend(from, to, MemorySpace::host, arrays);
  return PETSC_SUCCESS;
}

template <class Object>
PetscErrorCode close(Object b, Object x, Arrays* arrays, ResultUse use) {
  const PetscScalar* from = as_scalars(arrays->b);
  PetscScalar* to = as_scalars(arrays->x);
  if (arrays->space == MemorySpace::device) {
    PetscCall(restore_result(x, &to, use));
    PetscCall(restore_read(b, &from));
  } else {
    PetscCall(restore_host_result(x, &to, use));
    PetscCall(restore_host_read(b, &from));
  }
  return PETSC_SUCCESS;
}

PetscErrorCode check_dense(Mat matrix) {
  PetscBool dense = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &dense, MATSEQDENSE, MATMPIDENSE,
                                      MATSEQDENSECUDA, MATMPIDENSECUDA, MATSEQDENSEHIP, MATMPIDENSEHIP, ""));
  PetscCheck(dense, PETSC_COMM_SELF, PETSC_ERR_SUP, "TaskDAG applies to dense matrices, not to type %s",
             reinterpret_cast<PetscObject>(matrix)->type_name);
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode in_device_memory(Vec v, bool* cuda) {
  PetscFunctionBegin;
  const PetscScalar* array = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &where));
  *cuda = in_cuda_memory(where);
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode elements_of(Vec v, bool cuda, const double** array) {
  PetscFunctionBegin;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscScalar* restored = nullptr;
  if (cuda)
    PetscCall(VecGetArrayReadAndMemType(v, &restored, &where));
  else
    PetscCall(VecGetArrayRead(v, &restored));
  *array = as_reals(restored);
  if (cuda)
    PetscCall(VecRestoreArrayReadAndMemType(v, &restored));
  else
    PetscCall(VecRestoreArrayRead(v, &restored));
  if (cuda != in_cuda_memory(where)) *array = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode elements_or_copy(Vec v, const Context& context, engine::Array<double>* copy, const double** array) {
  PetscFunctionBegin;
  PetscInt size = 0;
  const PetscScalar* own = nullptr;
  PetscCall(elements_of(v, context.backend() == Backend::cuda, array));
  PetscCall(VecGetLocalSize(v, &size));
  if (*array || size == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v, &own));
  const PetscErrorCode copied = guarded([&] {
    const std::span<const double> elements(as_reals(own), static_cast<std::size_t>(size) * reals_per_scalar);
    if (copy->size() == elements.size())
      copy->upload(elements);
    else
      *copy = engine::Array<double>(context, elements);
  });
  PetscCall(VecRestoreArrayRead(v, &own));
  PetscCall(copied);
  *array = copy->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode open_arrays(Vec b, Vec x, bool device, Arrays* arrays, ResultUse use) {
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b, &arrays->rows));
  arrays->columns = 1;
  arrays->ldb = arrays->ldx = arrays->rows;
  PetscCall(open(b, x, device, arrays, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode close_arrays(Vec b, Vec x, Arrays* arrays, ResultUse use) {
  PetscFunctionBegin;
  PetscCall(close(b, x, arrays, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode open_arrays(Mat b, Mat x, bool device, Arrays* arrays, ResultUse use) {
  PetscFunctionBegin;
  PetscCall(check_dense(b));
  PetscCall(check_dense(x));
  PetscCall(MatGetLocalSize(b, &arrays->rows, nullptr));
  PetscCall(MatGetSize(b, nullptr, &arrays->columns));
  PetscCall(check_fits(arrays->columns, "columns"));
  PetscCall(MatDenseGetLDA(b, &arrays->ldb));
  PetscCall(MatDenseGetLDA(x, &arrays->ldx));
  PetscCall(open(b, x, device, arrays, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode close_arrays(Mat b, Mat x, Arrays* arrays, ResultUse use) {
  PetscFunctionBegin;
  PetscCall(close(b, x, arrays, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
