/// \file
/// What PETSc's scalars are to the library, which computes with doubles: themselves, or complex numbers. Those are
/// pairs of doubles in vectors, as they lie there, and real blocks in matrices (taskdag/complex.hpp).
#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "taskdag/complex.hpp"

namespace taskdag::petsc {

#if defined(PETSC_USE_COMPLEX)
inline constexpr bool complex_scalars = true;
#else
inline constexpr bool complex_scalars = false;
#endif

/// Numbers of the library in one of PETSc's: the library's vectors are so many times as long, and so are its blocks.
inline constexpr int reals_per_scalar = complex_scalars ? 2 : 1;

inline double* as_reals(PetscScalar* array) { return reinterpret_cast<double*>(array); }
inline const double* as_reals(const PetscScalar* array) { return reinterpret_cast<const double*>(array); }
inline PetscScalar* as_scalars(double* array) { return reinterpret_cast<PetscScalar*>(array); }
inline const PetscScalar* as_scalars(const double* array) { return reinterpret_cast<const PetscScalar*>(array); }

/// Of the library's row numbers, −1: none, and counts.
template <class Number>
Number in_scalars(Number reals) {
  return reals < 0 ? reals : reals / reals_per_scalar;
}

/// What complex values become: copies as blocks of two real rows or as rows of the real matrix, or pairs of doubles, as
/// they lie there.
enum class ComplexAs { blocks, rows, pairs };

/// The values of a matrix as the library takes them.
class RealValues {
 public:
  /// block_size: of the blocks that the values are. `pattern` is replaced by that of the rows. May throw.
  template <class Scalar>
  CsrView take(const CsrPattern& pattern, const Scalar* values, Index block_size, ComplexAs form) {
    if constexpr (std::is_same_v<Scalar, double>) {
      return {pattern, values};
    } else {
      if (form == ComplexAs::pairs) return {pattern, as_reals(values)};
      const auto size = static_cast<std::size_t>(block_size);
      const std::span numbers(values, static_cast<std::size_t>(pattern.entries()) * size * size);
      if (form == ComplexAs::rows) {
        rows_ = real_rows(pattern, numbers);
        return rows_->view();
      }
      blocks_ = std::make_unique_for_overwrite<double[]>(4 * numbers.size());
      real_blocks(numbers, block_size, blocks_.get());
      return {pattern, blocks_.get()};
    }
  }
  /// The same for `count` values in device memory, as blocks of two real rows. Asynchronous. May throw.
  CsrView take_on_device(const CsrPattern& pattern, const double* numbers, std::int64_t count, Stream stream) {
    on_device_ = RealBlocks(numbers, count, 1, stream);
    return {pattern, on_device_.values()};
  }
  void forget() {
    blocks_.reset();
    on_device_ = {};
    rows_.reset();
  }

 private:
  std::unique_ptr<double[]> blocks_;
  RealBlocks on_device_;
  std::optional<CsrMatrix> rows_;  ///< a CsrMatrix has memory even if it is empty
};

}  // namespace taskdag::petsc
