/// \file
/// Between PETSc's objects and the library's solvers: what factorisations and Jacobi have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "backend_choice.hpp"
#include "boundary.hpp"
#include "compat.hpp"
#include "events.hpp"
#include "mat/arrays.hpp"
#include "mat/matrix_source.hpp"
#include "mat/poison.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {

/// Owns the access to one local matrix and the context that works on it.
class Bridge {
 public:
  /// The context in use; empty before the first setup.
  [[nodiscard]] const std::optional<BackendChoice>& backend() const { return backend_; }
  [[nodiscard]] bool on_cuda() const { return backend_ && backend_->context.backend() == Backend::cuda; }
  /// Of PETSc's matrix.
  [[nodiscard]] PetscInt rows() const { return source_.rows(); }

  /// Whether an application since the last call has met an error that it could not return: see with_arrays().
  bool take_lost_application() { return std::exchange(lost_application_, false); }

  /// A line with backend, device or threads, and the reason; of a device another one with its rates.
  [[nodiscard]] std::string backend_line() const;

 protected:
  Bridge() = default;
  ~Bridge() = default;

  /// Looks at the matrix and chooses a context for it. `block_size`: see MatrixSource.
  PetscErrorCode prepare(Mat matrix, bool upper_is_enough, const BackendSettings& settings, PetscInt block_size = 1);

  /// Lends the matrix to `work(view, space, stream)`, which may throw. What is lent comes back whatever `work` does.
  template <class Work>
  PetscErrorCode with_matrix(Mat matrix, Work&& work) {
    Stream stream;
    if (on_cuda()) PetscCall(current_stream(&stream));
    PetscCall(source_.open(matrix, on_cuda()));
    const bool staged = on_cuda() && source_.space() == MemorySpace::host;
    if (on_cuda()) PetscCall(PetscLogGpuTimeBegin());
    const PetscErrorCode worked = guarded([&] { work(source_.view(), source_.space(), stream); });
    if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
    if (staged) PetscCall(log_staging(sizeof(double) * source_.values(), 0.0));
    PetscCall(source_.close());
    PetscCall(worked);
    return PETSC_SUCCESS;
  }

  /// The same for its pattern alone: complex values are not copied for it.
  template <class Work>
  PetscErrorCode with_pattern_of(Mat matrix, Work&& work) {
    source_.lend_complex(ComplexAs::pairs);
    const PetscErrorCode worked = with_matrix(matrix, std::forward<Work>(work));
    source_.lend_complex(ComplexAs::blocks);
    return worked;
  }

  /// Lends right-hand sides and results to `work(arrays, stream)`, which may throw. They come back whether it throws or
  /// not. `flops`: operations per column. Object: Vec, or Mat for dense blocks, which are written. In a program of
  /// several ranks an error of `work` is no error of this function, since others may wait for the next norm: the
  /// results are infinities, and take_lost_application() tells.
  template <class Object, class Work, class... Use>
  PetscErrorCode with_arrays(Object b, Object x, PetscLogDouble flops, Work&& work, Use... use) {
    EventScope event;
    PetscCall(event.begin(events().apply, reinterpret_cast<PetscObject>(b), reinterpret_cast<PetscObject>(x)));
    EventScope program;
    if (applies_by_program_) PetscCall(program.begin(events().program, reinterpret_cast<PetscObject>(b)));
    Stream stream;
    Arrays arrays;
    PetscErrorCode worked = PETSC_SUCCESS;
    if (on_cuda()) PetscCall(current_stream(&stream));
    PetscCall(open_arrays(b, x, on_cuda(), &arrays, use...));
    if (arrays.rows > 0 && arrays.columns > 0) {
      if (on_cuda()) PetscCall(PetscLogGpuTimeBegin());
      worked =
          in_doubles(&arrays, &wide_, stream, [&] { return guarded([&] { work(std::as_const(arrays), stream); }); });
      if (on_cuda()) PetscCall(PetscLogGpuTimeEnd());
    }
    if (on_cuda() && arrays.space == MemorySpace::host) {
      const double bytes = sizeof(double) * static_cast<double>(arrays.rows) * static_cast<double>(arrays.columns);
      PetscCall(log_staging(bytes, bytes));
    }
    PetscCall(log_flops(on_cuda(), flops * static_cast<double>(arrays.columns)));
    PetscCall(close_arrays(b, x, &arrays, use...));
    if (static_cast<int>(worked) != 0) PetscCall(lose_application(worked, x));
    return PETSC_SUCCESS;
  }

  /// Lends a vector's local array, for reading, to `work(array, space, stream)`, which may throw: for set-ups. It is
  /// lent where the vector has it, if the context in use can take it there.
  template <class Work>
  PetscErrorCode with_array(Vec v, const Work& work) {
    return lend<const PetscScalar>(v, VecGetArrayReadAndMemType, VecRestoreArrayReadAndMemType, VecGetArrayRead,
                                   VecRestoreArrayRead, work);
  }
  /// The same for an array that is written.
  template <class Work>
  PetscErrorCode with_result(Vec v, const Work& work) {
    return lend<PetscScalar>(v, VecGetArrayWriteAndMemType, VecRestoreArrayWriteAndMemType, VecGetArrayWrite,
                             VecRestoreArrayWrite, work);
  }

  /// What with_arrays() does after an error of its work.
  template <class Object>
  PetscErrorCode lose_application(PetscErrorCode error, Object x) {
    if (!others_may_wait()) PetscCall(error);
    lost_application_ = true;
    PetscCall(report_swallowed_error("an application has met an error"));
    PetscCall(poison(x, PC_SUBPC_ERROR));
    return PETSC_SUCCESS;
  }

  MatrixSource source_;
  bool lost_application_ = false;
  bool applies_by_program_ = false;  ///< of the task engine
  std::uint64_t launches_ = 0;       ///< ArrayUse::launches, where this is applied to arrays
  std::optional<BackendChoice> backend_;
  WideArrays wide_;

 private:
  /// The array as doubles.
  template <class Scalar, class Work>
  static void hand(Scalar* array, const FloatColumns& shape, Stream stream, const Work& work) {
    if constexpr (std::is_same_v<Scalar, const float>) {
      DoubleCopy copy;
      work(copy.take(array, shape, stream), shape.space, stream);
    } else if constexpr (std::is_same_v<Scalar, float>) {
      DoubleCopy copy;
      work(copy.room(shape, stream), shape.space, stream);
      copy.give(array, stream);
    } else {
      work(as_reals(array), shape.space, stream);
    }
  }

  /// get, restore: of the array where the vector has it; the next two: of the one on the host.
  template <class Scalar, class Work>
  PetscErrorCode lend(Vec v, PetscErrorCode (*get)(Vec, Scalar**, PetscMemType*),
                      PetscErrorCode (*restore)(Vec, Scalar**), PetscErrorCode (*get_on_host)(Vec, Scalar**),
                      PetscErrorCode (*restore_on_host)(Vec, Scalar**), const Work& work) {
    Scalar* array = nullptr;
    PetscInt size = 0;
    Stream stream;
    PetscCall(VecGetLocalSize(v, &size));
    if (on_cuda()) {
      PetscMemType where = PETSC_MEMTYPE_HOST;
      PetscCall(current_stream(&stream));
      PetscCall(get(v, &array, &where));
      PetscErrorCode worked = PETSC_SUCCESS;
      const bool fits = in_cuda_memory(where);
      if (fits) worked = guarded([&] { hand(array, {size, 1, size, MemorySpace::device}, stream, work); });
      PetscCall(restore(v, &array));
      PetscCall(worked);
      if (fits) return PETSC_SUCCESS;
    }
    PetscCall(get_on_host(v, &array));
    const PetscErrorCode worked = guarded([&] { hand(array, {size, 1, size, MemorySpace::host}, stream, work); });
    PetscCall(restore_on_host(v, &array));
    PetscCall(worked);
    return PETSC_SUCCESS;
  }
};

}  // namespace taskdag::petsc
