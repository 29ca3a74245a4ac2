/// \file
/// Argument checks that the facades and the host classes share.
#pragma once

#include <string>

#include "taskdag/context.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

inline void require_host_memory(MemorySpace space) {
  if (space == MemorySpace::device) {
    throw InvalidInput("an array in device memory was given to the host backend, which reads host memory only");
  }
}

inline void require_array(const void* array, Index rows, const char* name) {
  if (rows > 0 && array == nullptr) throw InvalidInput(std::string("the array ") + name + " is null");
}

}  // namespace taskdag
