/// \file
/// Generated test problems: stencils on grids, and the random triangles of the barrier list scheduling paper.
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

}  // namespace taskdag
