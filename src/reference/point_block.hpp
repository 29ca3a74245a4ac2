/// \file
/// Serial factorisation by point blocks, written apart from the tasks: their oracle.
#pragma once

#include <vector>

#include "taskdag/factorization.hpp"

namespace taskdag::kernels::point_block {

/// The factor of a matrix whose pattern is the factor's (blocks of fill hold zeros), in its numbering, in the layout of
/// Factorization::copy_factor(). ic: blocks below the diagonal are not looked at. Values: blocks column by column.
/// Blocks are inverted by solving for the unit vectors, with pivots sought in the whole rest of the block.
CsrMatrix reference_factor(const CsrView& blocks, FactorKind kind, Index block_size);

/// Applies such a factor.
std::vector<double> reference_apply(const CsrMatrix& factor, Index block_size, bool transposed,
                                    const std::vector<double>& b);

}  // namespace taskdag::kernels::point_block
