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

TASKDAG_ENGINE_END
