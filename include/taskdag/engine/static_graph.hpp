/// \file
/// Static graphs: programs whose tasks are all known before the run and are only ordered, never queued. Such a program
/// has an OrderedQueue; Runner::order() says how many tasks there are; inside a task, these flags carry the
/// dependencies.
#pragma once

#include "taskdag/engine/platform.hpp"
#include "taskdag/engine/queue/ordered_queue.hpp"

TASKDAG_ENGINE_BEGIN

/// One flag per task, in memory of the backend: the number of the last run in which it ended. Runs are numbered from 1,
/// so flags are never reset.
///
/// publish: release, by one lane, after the group's sync(): what the task wrote. wait: acquire; the other lanes of a
/// worker see it after the group's sync(). @pre a task waits for tasks of smaller number only
struct TaskFlags {
  std::uint32_t* flag;
  std::uint32_t run;

  TASKDAG_TASK void wait(std::uint32_t task) const {
    Backoff backoff;
    while (AtomicRef<std::uint32_t>(flag[task]).load(acquire) != run) backoff.turn();
  }
  TASKDAG_TASK void publish(std::uint32_t task) const { AtomicRef<std::uint32_t>(flag[task]).store(run, release); }
};

TASKDAG_ENGINE_END
