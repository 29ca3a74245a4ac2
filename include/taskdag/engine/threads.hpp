/// \file
/// The host threads of a context.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// Calls body(target, t) once for each thread t of a host context (context.threads() of them, the calling thread being
/// number 0), and returns when all have returned. The first exception is rethrown.
/// In a forked child the calls come in turn: a call must not wait for another.
/// @throws InvalidInput for a CUDA context
TASKDAG_API void run_on_threads(const Context& context, void (*body)(void*, int), void* target);

/// False in a forked child, where the calls come in turn.
TASKDAG_API bool threads_are_concurrent(const Context& context);

}  // namespace taskdag::engine
