/// \file
/// Serial SOR iterations by point blocks: the oracle for the executors.
#pragma once

#include <vector>

#include "taskdag/sor.hpp"

namespace taskdag::kernels::point_block {

/// `iterations` of `sweep` on b from x, blocks in their natural order, each block's unknowns by Gaussian elimination.
/// `a`: the pattern of blocks of options.block_size rows, and their values.
std::vector<double> reference_sor(const CsrView& a, const SorOptions& options, SorSweep sweep, int iterations,
                                  const std::vector<double>& b, std::vector<double> x);

}  // namespace taskdag::kernels::point_block
