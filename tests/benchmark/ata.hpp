/// \file
/// taskdag_bench ata: adaptive task aggregation (Helal et al. 2019) and the schedules it is compared with.
#pragma once

#include "options.hpp"

namespace taskdag::benchmark {

/// Both triangles of each problem's ILU(0), pull and push, and the numeric ILU(0) and IC(0), under every schedule of
/// ATA and its baselines: a row for each, with what the aggregation came to and the time without dependency management.
/// With Options::study S and R of the aggregations instead. @returns the exit status: 1 if something failed or is wrong
int run_ata(const Options& options);

}  // namespace taskdag::benchmark
