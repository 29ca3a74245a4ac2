/// \file
/// Generated test problems: stencils on grids, the random triangles of the barrier list scheduling paper, and
/// scale-free graphs.
#pragma once

#include <cstdint>

#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Neighbourhood of a grid point.
enum class Stencil { five_point, seven_point, twenty_seven_point };

/// A convection–diffusion operator on a regular grid of the unit square or cube, Dirichlet boundary eliminated.
struct StencilSpec {
  Stencil stencil = Stencil::five_point;
  Index nx = 0, ny = 0, nz = 1;  ///< unknown grid points per direction; nz must be 1 for five_point
  Index unknowns_per_node = 1;   ///< dense coupling of a node's unknowns; unknowns of a node are numbered together
  /// Convection along (1, 1, 1), first-order upwind: strength relative to diffusion per cell (cell Péclet number);
  /// 0 gives a symmetric matrix.
  double wind = 0.0;
};

/// Rows are numbered x fastest, then y, then z. The matrix is an M-matrix for one unknown per node, strictly
/// diagonally dominant in the boundary rows. @throws InvalidInput for a shape that makes no sense or overflows.
TASKDAG_API CsrMatrix make_stencil(const StencilSpec& spec);

/// Lower triangular Erdős–Rényi matrix: each strictly lower entry is present independently with probability p;
/// values uniform in [-2, 2]; the diagonal's absolute value log-uniform in [1/2, 2], its sign uniform.
/// Source: Böhnlein et al. 2025, section 6.2 (see docs/design.md, "papers"). The same seed gives the same matrix.
TASKDAG_API CsrMatrix make_erdos_renyi_lower(Index n, double p, std::uint64_t seed);

/// Lower triangular narrow-band matrix: entry (i, j), j < i, is present with probability p·exp((1 + j − i) / b);
/// values as above. Source: Böhnlein et al. 2025, section 6.2.
TASKDAG_API CsrMatrix make_narrow_band_lower(Index n, double p, double b, std::uint64_t seed);

/// A scale-free graph by recursive quadrants (R-MAT).
struct RmatSpec {
  int scale = 10;                       ///< 2^scale vertices, 1 … 28
  Index edges_per_vertex = 16;          ///< edges drawn, over the vertices; loops and repetitions are dropped
  double a = 0.57, b = 0.19, c = 0.19;  ///< probabilities of three quadrants; the rest is the fourth's
  std::uint64_t seed = 1;
};

/// The adjacency matrix of an undirected graph: symmetric, no diagonal, values 1. Vertices are renumbered at random, so
/// that an index says nothing of its degree. The same spec gives the same graph on every machine.
/// Source: Chakrabarti, Zhan, Faloutsos 2004, doi:10.1137/1.9781611972740.43; the defaults are Graph500's.
/// @throws InvalidInput for numbers out of range, or a graph of too many entries
TASKDAG_API CsrMatrix make_rmat(const RmatSpec& spec);

}  // namespace taskdag
