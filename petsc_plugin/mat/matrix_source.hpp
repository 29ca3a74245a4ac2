/// \file
/// The entries of a sequential PETSc matrix as a CSR view, in host or device memory.
#pragma once

#include <optional>

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/pattern.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/narrowed_pattern.hpp"

namespace taskdag::petsc {

/// Lends the CSR arrays of one matrix at a time. Types derived from MATSEQAIJ are read in place: MATSEQAIJCUSPARSE, and
/// MATSEQAIJKOKKOS where Kokkos works by CUDA, in device memory, others in their host arrays, which PETSc brings up to
/// date. (Where PetscInt has 64 bits the pattern is copied once with 32, where it lies.)
/// MATSEQBAIJ with block size 1 is read in place, MATSEQSBAIJ where its upper triangle is enough, too; any other type
/// is converted to MATSEQAIJ, and the copy is kept for the next time. By blocks the pattern is that of dense blocks,
/// and the values are block after block: MATSEQBAIJ, and MATSEQSBAIJ where its upper triangle is enough, are read in
/// place, any other type is converted to MATSEQBAIJ.
/// Complex values are copied whenever they are lent, where they lie: as real blocks of twice as many rows, where blocks
/// of one number are blocks, too. As pairs of doubles they are lent like real ones, without a copy. With all rows of
/// the real matrix they are copied from host memory. Values in single precision are copied as doubles, where they lie.
class MatrixSource {
 public:
  MatrixSource() = default;
  MatrixSource(const MatrixSource&) = delete;
  MatrixSource& operator=(const MatrixSource&) = delete;
  ~MatrixSource() = default;

  /// Looks at type and pattern. Call it whenever the pattern may have changed, before open().
  /// `upper_is_enough`: the caller reads no entry below the diagonal.
  /// `block_size`: above 1 by blocks, which must be the matrix' own block size.
  /// @returns PETSC_ERR_ARG_WRONG unless the matrix is square
  PetscErrorCode inspect(Mat matrix, bool upper_is_enough, PetscInt block_size = 1);

  /// How complex matrices are lent from the next open() on.
  void lend_complex(ComplexAs form) { complex_as_ = complex_scalars ? form : ComplexAs::blocks; }

  /// From now on copies in double precision lie in one place until the pattern is another one.
  void keep_place() { real_values_.keep_place(); }

  /// The same of a matrix that need not be square: what a rank has in columns of other ranks, or an interpolation.
  PetscErrorCode inspect_any(Mat matrix) { return look_at(matrix, false, 1); }

  /// Of the matrix, whether it is read by blocks or not.
  [[nodiscard]] PetscInt rows() const { return rows_; }
  /// Whether the entries are in device memory, where open() lends them but for complex ones by rows.
  [[nodiscard]] bool on_device() const { return on_device_; }

  /// Lends the arrays of a matrix with the pattern that was inspected; device arrays only if `device` and on_device().
  PetscErrorCode open(Mat matrix, bool device);
  [[nodiscard]] const CsrView& view() const { return view_; }
  [[nodiscard]] MemorySpace space() const { return space_; }
  PetscErrorCode close();
  /// Values that view() has, of the elements of blocks. @pre space() is host memory
  [[nodiscard]] double values() const {
    const auto entries = static_cast<double>(view_.pattern.entries());
    if (complex_as_ == ComplexAs::pairs) return entries * reals_per_scalar;
    const auto size = static_cast<double>(complex_as_ == ComplexAs::rows ? 1 : block_size_ * reals_per_scalar);
    return entries * size * size;
  }

  /// Drops the converted copy, and those of the pattern.
  PetscErrorCode reset();

 private:
  enum class Form { aij, baij, upper_sbaij, converted };

  PetscErrorCode look_at(Mat matrix, bool upper_is_enough, PetscInt block_size);
  PetscErrorCode find_form(Mat matrix, bool upper_is_enough);
  PetscErrorCode find_memory(Mat matrix);
  PetscErrorCode lend(Mat matrix, bool device);
  PetscErrorCode open_host(Mat matrix);
  PetscErrorCode open_device(const PetscInt* offsets, const PetscInt* columns);
  PetscErrorCode take_values_on_device(Mat matrix, const PetscScalar* values);
  /// Of the arrays that are lent.
  [[nodiscard]] Form lent_form() const {
    if (form_ != Form::converted) return form_;
    return block_size_ > 1 ? Form::baij : Form::aij;
  }

  Form form_ = Form::aij;
  PetscInt rows_ = 0;
  PetscInt columns_ = 0;
  PetscInt block_size_ = 1;
  bool on_device_ = false;
  bool compresses_ = false;  ///< on the device, rows where many are empty
  /// PETSc (3.18 to 3.26) mixes rows up where it converts blocks of MATSEQSBAIJ into a matrix that is there.
  bool converts_anew_ = false;
  ComplexAs complex_as_ = ComplexAs::blocks;
  Held<Mat> converted_;
  PatternLoan pattern_;                      ///< of the host
  std::optional<NarrowedPattern> narrowed_;  ///< of the device

  // While open:
  Held<Mat> lent_;              ///< the matrix whose host arrays are lent
  PetscObjectState state_ = 0;  ///< of `lent_`, where lending would count as a change
  const PetscScalar* lent_values_ = nullptr;
  RealValues real_values_;
  CsrView view_;
  MemorySpace space_ = MemorySpace::host;
};

}  // namespace taskdag::petsc
