/// \file
/// Flags for tasks of a static program that hand over more than a value: one a task, in memory of the backend, zeroed
/// once: the number of runs in which it has ended, so that flags are never reset.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// run: context.run().
///
/// publish: release, by one lane, after the group's sync(): what the task wrote. wait: acquire; the other lanes of a
/// worker see it after the group's sync(). @pre a task waits for earlier tasks only
struct TaskFlags {
  std::uint32_t* flag;
  std::uint32_t run;

  TASKDAG_TASK void wait(std::uint32_t task) const {
    Backoff backoff;
    while (AtomicRef<std::uint32_t>(flag[task]).load(acquire) != run + 1U) backoff.turn();
  }
  TASKDAG_TASK void publish(std::uint32_t task) const { AtomicRef<std::uint32_t>(flag[task]).store(run + 1U, release); }
};

TASKDAG_ENGINE_END
