/// \file
/// Levels of a triangular pattern, on threads that exist already.
#pragma once

#include <vector>

#include "backends/host/thread_pool.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

/// One level per row, as Schedule defines them. @pre the pattern is square and valid
std::vector<Index> compute_levels(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool);

}  // namespace taskdag
