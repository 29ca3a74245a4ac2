/// \file
/// Serial SOR iterations, row by row: the oracle for the executors.
#pragma once

#include <vector>

#include "taskdag/sor.hpp"

namespace taskdag::kernels {

/// `iterations` of `sweep` on b from x, rows in their natural order.
std::vector<double> reference_sor(const CsrView& a, const SorOptions& options, SorSweep sweep, int iterations,
                                  const std::vector<double>& b, std::vector<double> x);

}  // namespace taskdag::kernels
