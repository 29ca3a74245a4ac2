/// \file
/// What programs of the task engine have done: for views, and as files.
#pragma once

#include <string>
#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine_run.hpp"

namespace taskdag::petsc {

/// A line for each program that has run: runs, tasks by type, lanes of a worker; on a GPU one for each of its kernels.
/// Each is indented and ends with a newline.
std::string describe(const std::vector<EngineRun>& runs);

/// Writes the events of all of them to `path` (with several ranks: path.RANK), for Perfetto, and a plot beside it
/// (.svg). @throws Error
void write_traces(const std::vector<EngineRun>& runs, Backend backend, std::string path);

}  // namespace taskdag::petsc
