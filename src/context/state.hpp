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
  std::string device_name;
  int device = -1;
  std::unique_ptr<host::ThreadPool> pool;  // host backend only
};

}  // namespace taskdag
