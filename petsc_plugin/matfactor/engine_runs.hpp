/// \file
/// What programs of the task engine have done: for views, and as files.
#pragma once

#include <string>
#include <vector>

#include "taskdag/factorization.hpp"

namespace taskdag::petsc {

/// A line for each program that has run: runs, tasks by type, lanes of a worker.
std::vector<std::string> describe(const std::vector<EngineRun>& runs);

/// Writes the events of all of them to `path`, for Perfetto, and a plot to `path`.svg. @throws Error
void write_traces(const std::vector<EngineRun>& runs, Backend backend, const std::string& path);

}  // namespace taskdag::petsc
