/// \file
/// What the forms by tasks are compared with, in rows of the same kind.
#pragma once

#include <optional>
#include <vector>

#include "rcm_tasks_forms.hpp"
#include "taskdag/context.hpp"

namespace taskdag::benchmark {

/// The library's own form, from and to the memory of the context. The graph counts as preparation, as for the tasks.
TaskFormTime time_walk(const Context& context, const CsrMatrix& a, const std::vector<Index>& expected, int repeats);

/// cuSOLVER's ordering, which works on the host and is another permutation; the whole call.
/// @returns nothing where the library cannot be opened
std::optional<TaskFormTime> time_cusolver(const CsrMatrix& a, int repeats);

}  // namespace taskdag::benchmark
