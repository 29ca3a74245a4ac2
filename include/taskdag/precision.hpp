/// \file
/// The precision in which a factor is stored for its sweeps.
#pragma once

#include <string>

#include "taskdag/export.hpp"

namespace taskdag {

/// How the values of a factor are stored that sweeps load in each application. Vectors, sums, inverse pivots, what rows
/// hand over to each other, and the numeric factorisation are in double in any case.
enum class Precision {
  /// CUDA: single for large factors by the schedule blocks, where an application costs its bytes; else
  /// double. Host threads: double.
  automatic,
  in_double,
  in_single,
};

/// "auto", "double", "single": the names that options take.
TASKDAG_API const char* to_string(Precision precision);

/// The precision of that name. @throws InvalidInput with the list of names
TASKDAG_API Precision precision_from(const std::string& name);

}  // namespace taskdag
