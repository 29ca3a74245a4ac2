/// \file
/// Block Jacobi, serial and plain: the oracle.
#pragma once

#include <vector>

#include "taskdag/block_jacobi.hpp"

namespace taskdag::kernels {

/// x after the sweeps from `guess` (empty: 0), each block solved by an LU factorisation with partial pivoting of its
/// own.
std::vector<double> reference_block_jacobi(const CsrView& a, const JacobiBlocks& blocks,
                                           const BlockJacobiOptions& options, const std::vector<double>& b,
                                           bool transposed, const std::vector<double>& guess = {});

}  // namespace taskdag::kernels
