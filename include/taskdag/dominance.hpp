/// \file
/// What a look at a matrix says of preconditioners for it: how its diagonal compares with what stands beside it,
/// whether Jacobi sweeps come to rest, whether it is symmetric.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// What counts as much and as little beside a diagonal entry: Σ|a_ij|, j ≠ i, in terms of |a_ii|.
struct DominanceLimits {
  double strict = 0.95;  ///< up to this a row is strictly dominant
  double poor = 6.0;     ///< above this its diagonal entry says little of it: elasticity has 2 to 6
};

/// Counts of rows. A row is in one of `absent`, `zero`, `strict`, `poor`, or between the limits.
struct DiagonalDominance {
  Index rows = 0;
  Index absent = 0;    ///< there is no diagonal entry
  Index zero = 0;      ///< it is 0, or it or what is beside it is not finite
  Index negative = 0;  ///< the diagonal entry is below 0
  Index strict = 0;
  Index poor = 0;
  Index first_absent = -1;  ///< the first of the rows that `absent` counts
};

/// Looks at all rows of `a`, a square matrix in `space`. The same counts on each backend but for rows at a limit, whose
/// sum may round to either side. Synchronises `stream`.
/// @throws InvalidInput for a pattern that is not square or not valid, and for limits below 0 or that are not ordered;
///         DeviceError, OutOfMemory
TASKDAG_API DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                                 const DominanceLimits& limits = {}, Stream stream = {});

/// Whether Jacobi sweeps come to rest soon, whatever the diagonal looks like: with a right-hand side of zeros they
/// change what is left of a vector of numbers between -1 and 1, always the same, by at most 1e-6 an entry in the mean
/// in the tenth sweep. Then a Krylov method with Jacobi can be expected to need few iterations, too.
/// Matrices that are triangular but for their order, or nearly, are such. `a` is a square matrix in `space`.
/// Synchronises `stream`.
/// @throws InvalidInput for a pattern that is not square or not valid; DeviceError, OutOfMemory
TASKDAG_API bool jacobi_settles(const Context& context, const CsrView& a, MemorySpace space, Stream stream = {});

/// Whether `a`, a square matrix in `space`, is its own transpose, pattern and values to the bit; NaNs never are.
/// Columns ascend in each row; where they do not the answer may be no. Ends soon where it is not. Synchronises
/// `stream`.
/// @throws InvalidInput for a pattern that is not square or not valid; DeviceError, OutOfMemory
TASKDAG_API bool is_symmetric(const Context& context, const CsrView& a, MemorySpace space, Stream stream = {});

}  // namespace taskdag
