/// \file
/// The values of a triangle whose supernodes have been solved for: with D the diagonal block of a supernode, A the
/// outer entries of its rows and x' their operands, x = D⁻¹ b − (D⁻¹ A) x'.
#pragma once

#include "kernels/sptrsv/schedules/supernodes/find.hpp"

namespace taskdag::kernels::supernodes {

/// What the kernels need of the supernodes and of the triangle, in device memory. Rows of the matrix; D⁻¹ is a lower
/// triangle of `most_rows` columns, by row and number in the supernode.
struct Blocks {
  Index rows;
  bool lower;
  Index most_rows;
  const Index* number;
  const Offset* outer_first;
  const Index* outer_count;
  const Offset* source_entry;  ///< as in SweepInput
  double* inverse;             ///< D⁻¹ of row i: [i · most_rows, i · most_rows + number[i]]
};

/// Fills the inverses and the outer values D⁻¹ A, at the entries of the pattern; others stay untouched. `source` and
/// `pivot` as in Sweep::load_values. Asynchronous.
void load_values(const Blocks& blocks, const double* source, const double* pivot, double* values, cudaStream_t stream);

/// Raises *most (device memory) to what rewriting may lose in a row, in units of what rounding leaves in the row as it
/// is: (|D| |D⁻¹| r)_i / r_i with r_i the sum of |a_ij| over the whole row, for a solution of equal entries. After
/// load_values() of the same values. size: room for a number a row. Asynchronous.
void measure_loss(const Blocks& blocks, const double* source, const double* pivot, double* size, double* most,
                  cudaStream_t stream);

/// scaled = D⁻¹ b, by row; b_i = rhs[rhs_index ? rhs_index[i] : i]. Asynchronous.
void scale(const Blocks& blocks, const double* rhs, const Index* rhs_index, double* scaled, cudaStream_t stream);

}  // namespace taskdag::kernels::supernodes
