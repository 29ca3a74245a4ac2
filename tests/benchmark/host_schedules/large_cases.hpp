/// \file
/// Generated matrices of more than two million flops, for the set "large".
#pragma once

#include <vector>

#include "cases.hpp"

namespace taskdag::benchmark {

/// Grids in several orders, random geometric graphs, R-MAT graphs and wide bands: in place of the paper's matrices of
/// the SuiteSparse collection. Their average wavefront is 44 at least.
std::vector<Case> list_large_cases();

/// Points at random in the unit square (dimension 2) or cube (3), joined where they are nearer than what gives that
/// many neighbours in the mean: symmetric, with a diagonal. Numbered cell by cell of a grid, line after line, as mesh
/// generators do; or, `shuffled`, at random. The same numbers give the same graph. @pre dimension 2 or 3, degree > 0
CsrMatrix make_geometric_graph(Index points, int dimension, double degree, bool shuffled, std::uint64_t seed);

/// The order of nested dissection of a grid: position → point. Each box is cut across its longest side by a plane of
/// points, which comes after both halves; boxes of 64 points or fewer stay as they are.
std::vector<Index> dissect_grid(Index nx, Index ny, Index nz);

/// Rows and columns in that order, each node having `unknowns` rows. The matrix is symmetric in its pattern.
CsrMatrix permuted(const CsrMatrix& a, const std::vector<Index>& order, Index unknowns = 1);

}  // namespace taskdag::benchmark
