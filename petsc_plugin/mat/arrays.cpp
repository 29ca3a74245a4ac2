#include "mat/arrays.hpp"

#include <span>
#include <type_traits>

#include "boundary.hpp"
#include "events.hpp"
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
template <class Scalar>
void lend(const Scalar* b, Scalar* x, MemorySpace space, Arrays* arrays) {
  if constexpr (!std::is_same_v<Scalar, float>) {
    arrays->b = as_reals(b);
    arrays->x = as_reals(x);
  }
  arrays->lent_b = b;
  arrays->lent_x = x;
  arrays->lent_ldb = arrays->ldb;
  arrays->lent_ldx = arrays->ldx;
  arrays->space = space;
  arrays->rows *= reals_per_scalar;
  arrays->ldb *= reals_per_scalar;
  arrays->ldx *= reals_per_scalar;
}

/// Numbers for reading: as they lie there, or a copy of floats.
template <class Scalar>
const double* reals_of(const Scalar* numbers, const FloatColumns& shape, DoubleCopy* copy, Stream stream) {
  if constexpr (std::is_same_v<Scalar, float>)
    return copy->take(numbers, shape, stream);
  else
    return as_reals(numbers);
}

template <class Object>
PetscErrorCode open(Object b, Object x, bool device, Arrays* arrays, ResultUse use) {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  arrays->use = use;
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
  const PetscScalar* from = arrays->lent_b;
  PetscScalar* to = arrays->lent_x;
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

void bring(std::span<const double> numbers, const Context& context, engine::Array<double>* copy) {
  if (copy->size() == numbers.size())
    copy->upload(numbers);
  else
    *copy = engine::Array<double>(context, numbers);
}

PetscErrorCode in_device_memory(Vec v, bool* cuda) {
  PetscFunctionBegin;
  const PetscScalar* array = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &where));
  *cuda = in_cuda_memory(where);
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null where they are not in device memory although `cuda`, or the other way round.
PetscErrorCode Elements::find_in_place(Vec v, bool cuda, PetscInt size, const double** array) {
  PetscFunctionBegin;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscScalar* lent = nullptr;
  Stream stream;
  if (cuda) PetscCall(current_stream(&stream));
  if (cuda)
    PetscCall(VecGetArrayReadAndMemType(v, &lent, &where));
  else
    PetscCall(VecGetArrayRead(v, &lent));
  const PetscErrorCode found = guarded([&] {
    const MemorySpace space = cuda ? MemorySpace::device : MemorySpace::host;
    if (cuda == in_cuda_memory(where)) *array = reals_of(lent, {size, 1, size, space}, &wide_, stream);
  });
  if (cuda)
    PetscCall(VecRestoreArrayReadAndMemType(v, &lent));
  else
    PetscCall(VecRestoreArrayRead(v, &lent));
  PetscCall(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Elements::find(Vec v, const Context& context, const double** array) {
  PetscFunctionBegin;
  PetscInt size = 0;
  const PetscScalar* own = nullptr;
  const bool cuda = context.backend() == Backend::cuda;
  *array = nullptr;
  PetscCall(VecGetLocalSize(v, &size));
  PetscCall(find_in_place(v, cuda, size, array));
  if (*array || size == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v, &own));
  const PetscErrorCode copied = guarded([&] {
    const Reals elements(std::span<const PetscScalar>(own, static_cast<std::size_t>(size)));
    bring(elements.get(), context, &copy_);
  });
  PetscCall(VecRestoreArrayRead(v, &own));
  PetscCall(copied);
  if (cuda) PetscCall(log_staging(sizeof(double) * static_cast<double>(copy_.size()), 0.0));
  *array = copy_.data();
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
