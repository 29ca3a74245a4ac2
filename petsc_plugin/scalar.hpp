/// \file
/// What PETSc's scalars are to the library, which computes with doubles: themselves, complex numbers or numbers in
/// single precision. Complex ones are pairs of doubles in vectors, as they lie there, and real blocks in matrices
/// (taskdag/complex.hpp). Those in single precision are copied wherever they are lent (taskdag/double_copy.hpp).
#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "taskdag/complex.hpp"
#include "taskdag/double_copy.hpp"

namespace taskdag::petsc {

#if defined(PETSC_USE_COMPLEX)
inline constexpr bool complex_scalars = true;
#else
inline constexpr bool complex_scalars = false;
#endif

#if defined(PETSC_USE_REAL_SINGLE)
inline constexpr bool single_scalars = true;
#else
inline constexpr bool single_scalars = false;
inline double* as_reals(PetscScalar* array) { return reinterpret_cast<double*>(array); }
inline const double* as_reals(const PetscScalar* array) { return reinterpret_cast<const double*>(array); }
#endif

/// Numbers of the library in one of PETSc's: the library's vectors are so many times as long, and so are its blocks.
inline constexpr int reals_per_scalar = complex_scalars ? 2 : 1;

/// PETSc's numbers in host memory for reading: as they lie there, or a copy of floats.
class Reals {
 public:
  /// May throw.
  template <class Scalar>
  explicit Reals(std::span<const Scalar> numbers) {
    if constexpr (std::is_same_v<Scalar, float>) {
      copy_.assign(numbers.begin(), numbers.end());
      reals_ = copy_;
    } else {
      reals_ = {as_reals(numbers.data()), numbers.size() * reals_per_scalar};
    }
  }
  Reals(const Reals&) = delete;
  Reals& operator=(const Reals&) = delete;
  ~Reals() = default;
  [[nodiscard]] std::span<const double> get() const { return reals_; }

 private:
  std::vector<double> copy_;
  std::span<const double> reals_;
};

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
  /// Copies of floats stay where they are from now on, so that what is made of them stays, too.
  void keep_place() { keeps_place_ = true; }

  /// block_size: of the blocks that the values are. `pattern` is replaced by that of the rows. May throw.
  template <class Scalar>
  CsrView take(const CsrPattern& pattern, const Scalar* values, Index block_size, ComplexAs form) {
    const std::int64_t count = std::int64_t{pattern.entries()} * block_size * block_size;
    if constexpr (std::is_same_v<Scalar, double>) {
      return {pattern, values};
    } else if constexpr (std::is_same_v<Scalar, float>) {
      return {pattern, doubles_.take(values, {.rows = count}, {})};
    } else {
      if (form == ComplexAs::pairs) return {pattern, as_reals(values)};
      const std::span numbers(values, static_cast<std::size_t>(count));
      if (form == ComplexAs::rows) {
        rows_ = real_rows(pattern, numbers);
        return rows_->view();
      }
      blocks_ = std::make_unique_for_overwrite<double[]>(4 * numbers.size());
      real_blocks(numbers, block_size, blocks_.get());
      return {pattern, blocks_.get()};
    }
  }

  /// Whether values in device memory are copied.
  static bool copies_on_device(ComplexAs form) {
    return single_scalars || (complex_scalars && form == ComplexAs::blocks);
  }
  /// The same for `count` values in device memory, of blocks of one number. Asynchronous. May throw.
  template <class Scalar>
  CsrView take_on_device(const CsrPattern& pattern, const Scalar* values, std::int64_t count, ComplexAs form,
                         Stream stream) {
    if constexpr (std::is_same_v<Scalar, float>) {
      return {pattern, doubles_.take(values, {.rows = count, .space = MemorySpace::device}, stream)};
    } else {
      if (!copies_on_device(form)) return {pattern, as_reals(values)};
      on_device_ = RealBlocks(as_reals(values), count, 1, stream);
      return {pattern, on_device_.values()};
    }
  }
  /// What is not used any more.
  void forget() {
    blocks_.reset();
    on_device_ = {};
    rows_.reset();
    if (!keeps_place_) doubles_ = {};
  }
  /// All of it.
  void reset() {
    forget();
    doubles_ = {};
  }

 private:
  bool keeps_place_ = false;
  DoubleCopy doubles_;
  std::unique_ptr<double[]> blocks_;
  RealBlocks on_device_;
  std::optional<CsrMatrix> rows_;  ///< a CsrMatrix has memory even if it is empty
};

}  // namespace taskdag::petsc
