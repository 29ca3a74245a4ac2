/// \file
/// Cutting a range into tasks.
#pragma once

#include <cstdint>

#include "taskdag/csr.hpp"
#include "taskdag/engine/worker.hpp"

namespace taskdag::kernels::rcm_tasks {

/// All tasks are executed by 256 threads (MHive, section 7.3.2).
inline constexpr int kLanes = 256;
inline constexpr engine::WorkerSize kWorker = engine::block_worker(kLanes);

/// Most tasks that one task creates of a type; the engine sets memory aside for them. Tasks grow beyond their least
/// size where more would be needed, and 512 of them keep a GPU of 132 multiprocessors busy.
inline constexpr int kMostTasks = 512;

/// [0, size) in `tasks` equal shares of at least `least` elements each, the last one may be shorter.
struct Share {
  std::int64_t size = 0;
  std::int64_t each = 1;
  int tasks = 0;

  TASKDAG_TASK Share(std::int64_t size_, std::int64_t least) : size(size_) {
    each = (size + kMostTasks - 1) / kMostTasks;
    each = each < least ? least : (each + least - 1) / least * least;
    tasks = static_cast<int>((size + each - 1) / each);
  }
  [[nodiscard]] TASKDAG_TASK Index begin(int task) const { return static_cast<Index>(task * each); }
  [[nodiscard]] TASKDAG_TASK Index end(int task) const {
    const std::int64_t end = (task + 1) * each;
    return static_cast<Index>(end < size ? end : size);
  }
};

}  // namespace taskdag::kernels::rcm_tasks
