/// \file
/// Exhausted host memory as the library's own exception.
#pragma once

#include <new>
#include <string>

#include "taskdag/csr.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

/// Runs `work`; std::bad_alloc becomes OutOfMemory.
template <class Work>
decltype(auto) with_memory_errors(const char* what, Index rows, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(std::string("out of host memory: ") + what + " of " + std::to_string(rows) + " rows");
  }
}

}  // namespace taskdag
