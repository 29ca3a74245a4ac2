/// \file
/// Transposed applications of complex numbers by those of real rows.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"

namespace taskdag::petsc {

inline PetscErrorCode conjugate(Vec v) { return VecConjugate(v); }
inline PetscErrorCode conjugate(Mat m) { return MatConjugate(m); }
inline PetscErrorCode copy_of(Vec v, Vec* copy) {
  PetscFunctionBegin;
  PetscCall(VecDuplicate(v, copy));
  PetscCall(VecCopy(v, *copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode copy_of(Mat m, Mat* copy) { return MatDuplicate(m, MAT_COPY_VALUES, copy); }

/// The transpose of the real matrix is the conjugated transpose of the complex one, and PETSc's is not conjugated: x is
/// the conjugate of what work(b', x) makes of that of b. Object: Vec, or a dense Mat.
template <class Object, class Work>
PetscErrorCode conjugated(Object b, Object x, const Work& work) {
  PetscFunctionBegin;
  Held<Object> copy;
  PetscCall(copy_of(b, copy.out()));
  PetscCall(conjugate(copy.get()));
  PetscCall(work(copy.get(), x));
  PetscCall(conjugate(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
