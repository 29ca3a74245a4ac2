/// \file
/// What SOR on CUDA needs beside two triangular sweeps in a row: passes over vectors, and products with a triangle.
///
/// The first sweep has unit pivots: from the right-hand side r it makes v = E x of (E + L) x = r, its entries being
/// l_ij / E_j. The second one, its entries and pivots being those of E + U with rows divided by w = 2 − ω, makes x of
/// (E + U) x = w m from m. So a symmetric iteration from zero is the two in a row, with nothing in between: m = v.
///
/// Arrays are in device memory, every function is asynchronous on `stream`. Vectors of the user are in the user's
/// numbering, those between the sweeps as the first one leaves them.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>

#include "csr/pattern.hpp"
#include "kernels/sor/row.hpp"

namespace taskdag::kernels {

/// Of the diagonals that are to be divided by.
struct SorFindings {
  Index first_zero = INT_MAX;
  Index last_zero = -1;
  Index first_non_finite = INT_MAX;
};

/// The rows of a matrix, as all of these functions know them.
struct SorRows {
  Index rows = 0;
  const double* diagonal = nullptr;  ///< D + shift
  double omega = 1.0;
  const Index* order = nullptr;   ///< row → entry of the user's vectors; null: the same
  const Index* middle = nullptr;  ///< row → entry of the vectors between the sweeps; null: the same
};

/// diagonal[i] = D + shift; what is wrong with it raises or lowers *findings.
void sor_diagonal(const DevicePattern& pattern, const Offset* position, const double* values, double omega,
                  double shift, double* diagonal, SorFindings* findings, cudaStream_t stream);
/// entries: of both sweeps, by entry of the pattern; second_pivot: inverse pivots of the second one.
void sor_sweep_values(const DevicePattern& pattern, const double* values, const SorRows& rows, double* entries,
                      double* second_pivot, cudaStream_t stream);

/// x = E⁻¹ v: the result of the first sweep alone. Sets *non_finite where one is not finite.
void sor_from_first(const SorRows& rows, const double* v, double* x, int* non_finite, cudaStream_t stream);
/// m = r / w: for the second sweep alone.
void sor_to_second(const SorRows& rows, const double* r, double* m, cudaStream_t stream);
/// m for the second sweep of an iteration whose first one had the right-hand side r, not b, and left v. m may be v.
void sor_between(const SorRows& rows, const double* b, const double* r, const double* v, double* m,
                 cudaStream_t stream);
/// r of the iteration after one whose second sweep had m and left x.
void sor_next(const SorRows& rows, const double* b, const double* m, const double* x, double* r, cudaStream_t stream);

/// The other triangle, which a sweep does not solve.
enum class SorOther { upper, lower };
/// r of a sweep from x, whatever was before: for the first sweep in the user's numbering, `other` being upper, for the
/// second, lower, as m.
void sor_start(const DevicePattern& pattern, const Offset* position, const double* values, const SorRows& rows,
               SorOther other, const double* b, const double* x, double* out, cudaStream_t stream);
/// y = (E + U) x
void sor_multiply_upper(const DevicePattern& pattern, const Offset* position, const double* values, const SorRows& rows,
                        const double* x, double* y, cudaStream_t stream);
/// y = U x, its diagonal being that of `values`: the second half of a factor.
void factor_multiply_upper(const DevicePattern& pattern, const Offset* position, const double* values,
                           const Index* order, const double* x, double* y, cudaStream_t stream);
/// e[order ? order[i] : i] = E
void sor_pivots(const SorRows& rows, double* e, cudaStream_t stream);

}  // namespace taskdag::kernels
