/// \file
/// Generated matrices, right-hand sides and changes of values for the backend tests.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

struct Problem {
  std::string name;
  CsrMatrix a;
};

/// Every row `low`, `diagonal`, `high` beside and on the diagonal; a 0 leaves the entries out.
CsrMatrix tridiagonal(Index n, double low, double diagonal, double high);
/// Full last row, last column and diagonal, diagonally dominant.
CsrMatrix arrow(Index n);
/// Full symmetric pattern and dominant diagonal from a lower triangle: mirrored entries are scaled by `mirror`, then
/// each diagonal entry becomes 1 + the sum of the magnitudes beside it.
CsrMatrix mirrored(const CsrMatrix& lower, double mirror);
/// The diagonal replaced as in mirrored(), signs kept. The pattern has a full diagonal.
CsrMatrix made_dominant(CsrMatrix a);
/// B(i, j) = A(row_order[i], col_order[j]).
CsrMatrix permuted(const CsrMatrix& a, const std::vector<Index>& row_order, const std::vector<Index>& col_order);
CsrMatrix transposed(const CsrMatrix& a);
bool has_full_diagonal(const CsrMatrix& a);
/// A 27-point cube of nodes, each with so many unknowns, which couple with all of those of its neighbours.
CsrMatrix cube_of_nodes(Index side, Index unknowns);
/// The same matrix with a zero as one more entry, at the end of the second row, whose columns no other row has then.
CsrMatrix with_a_row_of_its_own(CsrMatrix a);

/// Matrices with full diagonals and all shapes of dependencies: none, chains, dense rows, stencils, random ones.
std::vector<Problem> small_problems();
/// Lower triangles with random values, as the generators give them.
std::vector<Problem> random_triangles();

/// A smooth vector without zeros.
std::vector<double> right_hand_side(Index n);
/// Real part and imaginary part of each number, one after the other.
std::vector<double> parts_of(const std::vector<std::complex<double>>& numbers);
/// Each value changed by one part in 2^52, up or down.
std::vector<double> nudged(std::vector<double> values);
/// Other values of about the same size: each one scaled by a factor between 0.9 and 1.1.
std::vector<double> other_values(std::vector<double> values);

}  // namespace taskdag::test
