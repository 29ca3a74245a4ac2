/// \file
/// The factor that an application is of.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "taskdag/factorization.hpp"

namespace taskdag::benchmark {

/// Whether sweeps by `schedule` on CUDA have a form for values in single precision.
bool has_single(SolveSchedule schedule);

/// Whether `error` says that there is such a form, but none for these triangles.
bool lacks_single(const std::exception& error, Precision precision);

/// The serial reference's application of a factor as it is applied: of one in single precision, L and the unit U are
/// rounded. Rows in the factor's order.
std::vector<double> reference_application(const Factorization& factorization, const std::vector<double>& b);

/// "flat+flat, double": the schedules of both sweeps and the precision that came.
std::string describe_sweeps(const FactorizationInfo& info);

}  // namespace taskdag::benchmark
