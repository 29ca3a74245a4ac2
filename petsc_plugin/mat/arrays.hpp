/// \file
/// The arrays behind the vectors or dense matrices of one application.
#pragma once

#include <span>
#include <type_traits>

#include "boundary.hpp"
#include "compat.hpp"
#include "taskdag/context.hpp"
#include "taskdag/double_copy.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {

/// What becomes of a result vector.
enum class ResultUse {
  written,  ///< whatever is in it
  updated   ///< it is read, too
};

/// Right-hand side(s) and result(s) as the library takes them, of whose numbers sizes are. Column k of b starts at b +
/// k·ldb.
struct Arrays {
  const double* b = nullptr;  ///< none before WideArrays::take(), where PETSc's are in single precision
  double* x = nullptr;
  PetscInt rows = 0;
  PetscInt columns = 1;
  PetscInt ldb = 0;
  PetscInt ldx = 0;
  MemorySpace space = MemorySpace::host;

  ResultUse use = ResultUse::written;
  const PetscScalar* lent_b = nullptr;  ///< by PETSc, with the distances of the columns there
  PetscScalar* lent_x = nullptr;
  PetscInt lent_ldb = 0;
  PetscInt lent_ldx = 0;
};

/// Doubles for arrays in single precision, kept from one application to the next, so that these take no memory.
class WideArrays {
 public:
  /// Asynchronous, as give(). May throw, as give().
  void take(Arrays* arrays, Stream stream) { take(arrays, arrays->lent_b, arrays->lent_x, stream); }
  /// The results to PETSc's array.
  template <class Scalar>
  void give(Scalar* x, Stream stream) const {
    if constexpr (std::is_same_v<Scalar, float>) x_.give(x, stream);
  }

 private:
  template <class Scalar>
  void take(Arrays* arrays, const Scalar* b, Scalar* x, Stream stream) {
    if constexpr (std::is_same_v<Scalar, float>) {
      FloatColumns shape = {arrays->rows, arrays->columns, arrays->lent_ldb, arrays->space};
      arrays->b = b_.take(b, shape, stream);
      shape.distance = arrays->lent_ldx;
      arrays->x = arrays->use == ResultUse::updated ? x_.take(x, shape, stream) : x_.room(shape, stream);
      arrays->ldb = arrays->ldx = arrays->rows;
    }
  }

  DoubleCopy b_;
  DoubleCopy x_;
};

/// Calls work(), which returns a PetscErrorCode, while `arrays` are doubles.
template <class Work>
PetscErrorCode in_doubles(Arrays* arrays, WideArrays* wide, Stream stream, const Work& work) {
  PetscErrorCode worked = PETSC_SUCCESS;
  if constexpr (single_scalars) worked = guarded([&] { wide->take(arrays, stream); });
  if (static_cast<int>(worked) == 0) worked = work();
  if constexpr (single_scalars)
    if (static_cast<int>(worked) == 0) worked = guarded([&] { wide->give(arrays->lent_x, stream); });
  return worked;
}

/// Brings numbers to a context's memory: where they were the last time, if they are as many. Waits. May throw.
void bring(std::span<const double> numbers, const Context& context, engine::Array<double>* copy);

/// Whether the elements of a vector were written last in the memory of a CUDA device.
PetscErrorCode in_device_memory(Vec v, bool* cuda);

/// The local elements of a vector where a context works: as they lie, or a copy, where they are in other memory (a user
/// whose matrix alone is on a GPU has vectors of a null space in host memory) or in single precision.
class Elements {
 public:
  /// Valid until the vector is touched, or the next call. A copy lies where it did. Null for none. Not collective.
  PetscErrorCode find(Vec v, const Context& context, const double** array);

 private:
  PetscErrorCode find_in_place(Vec v, bool cuda, PetscInt size, const double** array);

  DoubleCopy wide_;
  engine::Array<double> copy_;
};

/// Lends the local arrays of b (for reading) and x (for what `use` says). Device arrays are lent if `device` and both
/// have one.
PetscErrorCode open_arrays(Vec b, Vec x, bool device, Arrays* arrays, ResultUse use = ResultUse::written);
PetscErrorCode close_arrays(Vec b, Vec x, Arrays* arrays, ResultUse use = ResultUse::written);

/// The same for dense matrices. @returns PETSC_ERR_SUP for others
PetscErrorCode open_arrays(Mat b, Mat x, bool device, Arrays* arrays, ResultUse use = ResultUse::written);
PetscErrorCode close_arrays(Mat b, Mat x, Arrays* arrays, ResultUse use = ResultUse::written);

}  // namespace taskdag::petsc
