/// \file
/// How far a result is from right.
///
/// Two measures. Forward: the difference from the serial reference, relative to the largest entry (of the vector; of
/// the row for a factor). It says nothing about an ill-conditioned problem, where two right answers differ. Backward:
/// the residual, entry by entry, in units of the rounding errors that the sums in it may make, (terms + 8)·ε·Σ|terms|.
/// It holds for every problem; a result is right if it is at most 1. Residuals are computed in long double.
#pragma once

#include <vector>

#include "taskdag/factorization.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag::test {

inline constexpr double kForwardBound = 1e-12;

/// ‖x − reference‖∞ / ‖reference‖∞; infinite where x has a NaN.
double difference(const std::vector<double>& x, const std::vector<double>& reference);
/// The largest of difference() over the rows; infinite for another pattern.
double factor_difference(const CsrMatrix& f, const CsrMatrix& reference);

/// Residual b − T x.
double triangular_error(const CsrMatrix& a, const TriangularOptions& options, const std::vector<double>& b,
                        const std::vector<double>& x);
/// Residual A − L U (ilu0) or A − Uᵀ D U (ic0) on the pattern of the factor, `shift` added to A's diagonal.
double factor_error(const CsrMatrix& a, const CsrMatrix& f, FactorKind kind, double shift = 0.0);
/// Residual b − M x of a whole application, M the product of the factors or its transpose, vectors in the factor's
/// numbering. The unit is that of both sweeps together, relative to |L||U||x| (|Uᵀ||D||U||x|).
double apply_error(const CsrMatrix& f, FactorKind kind, bool transposed, const std::vector<double>& b,
                   const std::vector<double>& x);

/// The matrix (ic0: its upper triangle) with zeros at the places that fill takes, as the host finds them.
CsrMatrix with_fill(const CsrMatrix& a, const FactorOptions& options);

/// Serial references.
CsrMatrix reference_factor(const CsrMatrix& a, const FactorOptions& options, double shift, FactorStatus& status);
std::vector<double> reference_solve(const CsrMatrix& a, const TriangularOptions& options, const std::vector<double>& b);
std::vector<double> reference_apply(const CsrMatrix& f, FactorKind kind, bool transposed, const std::vector<double>& b);

bool all_finite(const std::vector<double>& x);
/// Bitwise, NaNs included.
bool same_bits(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace taskdag::test
