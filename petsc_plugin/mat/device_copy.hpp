/// \file
/// Copies in device memory of a system in host memory.
#pragma once

#include "compat.hpp"
#include "mat/arrays.hpp"
#include "mat/state.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {

/// Of a matrix.
class MatrixCopy {
 public:
  /// Copies what is not there yet of a matrix in host memory, which has that state; `values`: elements of all entries.
  /// Waits. @returns bytes that were copied. May throw.
  std::size_t take(const Context& context, const CsrView& matrix, std::size_t values, const MatState& state);
  [[nodiscard]] const CsrView& view() const { return view_; }

 private:
  MatState state_;
  int device_ = -1;
  engine::Memory offsets_;
  engine::Memory columns_;
  engine::Memory values_;
  CsrView view_;
};

/// Of right-hand sides and solutions, whose columns have nothing between them here.
class VectorCopies {
 public:
  /// Waits. May throw, as the others.
  void take(const Context& context, const Arrays& arrays);
  /// The solution into its array. What has computed it must have ended.
  void give(const Arrays& arrays) const;
  [[nodiscard]] const double* b() const { return static_cast<const double*>(b_.data()); }
  [[nodiscard]] double* x() const { return static_cast<double*>(x_.data()); }

 private:
  int device_ = -1;
  engine::Memory b_;
  engine::Memory x_;
};

}  // namespace taskdag::petsc
