/// \file
/// What a Context shares.
#pragma once

#include <memory>
#include <string>

#include "backends/host/thread_pool.hpp"
#include "taskdag/context.hpp"

namespace taskdag {

struct Context::State {
  Backend backend = Backend::host;
  std::string reason;
  int device = -1;
  int host_threads = 1;  ///< that work on the host may take: pool's, on CUDA those of a symbolic phase
  std::shared_ptr<host::ThreadPool> pool;  // host backend only

  /// A host context with threads of another owner, which must outlive it.
  static Context borrowing(host::ThreadPool& pool);
};

}  // namespace taskdag
