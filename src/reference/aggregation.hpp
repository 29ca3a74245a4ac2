/// \file
/// Serial aggregation: the oracle for the executors.
#pragma once

#include "taskdag/aggregation.hpp"

namespace taskdag::kernels {

/// As aggregate_rows(). @pre `a` is valid and square
Aggregation reference_aggregation(const CsrPattern& a, int distance);

}  // namespace taskdag::kernels
