/// \file
/// How full a program's queues and waiting storages are, for controllers.
#pragma once

#include "taskdag/engine/program.hpp"

TASKDAG_ENGINE_BEGIN

template <class P>
struct Levels {
  std::uint32_t queued[P::types] = {};
  std::uint32_t waiting[P::types] = {};
};

namespace detail {
template <class P, class T>
TASKDAG_TASK void read_levels(const ProgramRef<P>& program, Levels<P>& levels) {
  const TypeState<P, T>& type = program.template of<T>();
  levels.queued[P::template number_of<T>()] = type.queue.level();
  levels.waiting[P::template number_of<T>()] = type.storage.level();
}
}  // namespace detail

TASKDAG_ENGINE_END
