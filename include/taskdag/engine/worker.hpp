/// \file
/// Workers: what runs one task. A task type names its worker's size; the body sees the worker as a group of lanes. On
/// the host every worker is one thread, a group of size 1, so a body that strides by size() is right on both.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// Lanes of a GPU that run one task together: 1 (a thread), 2, 4, 8, 16 (part of a warp), 32 (a warp), or a block of
/// 64, 128, 256, 512 or 1024 threads.
struct WorkerSize {
  int lanes = 1;
};

inline constexpr WorkerSize thread_worker{1};
inline constexpr WorkerSize warp_worker{32};
/// Part of a warp; @pre lanes is 2, 4, 8 or 16 (checked at compile time, task_type.hpp).
constexpr WorkerSize sub_warp_worker(int lanes) { return {lanes}; }
/// A block; @pre threads is 64, 128, 256, 512 or 1024 (checked at compile time, task_type.hpp).
constexpr WorkerSize block_worker(int threads) { return {threads}; }

/// A worker of the host: one thread.
class HostGroup {
 public:
  [[nodiscard]] TASKDAG_TASK static constexpr int rank() { return 0; }
  [[nodiscard]] TASKDAG_TASK static constexpr int size() { return 1; }
  TASKDAG_TASK static void sync() {}
  template <class T>
  [[nodiscard]] TASKDAG_TASK static T sum(T value) {
    return value;
  }
  template <class T>
  [[nodiscard]] TASKDAG_TASK static T broadcast(T value) {
    return value;
  }
  [[nodiscard]] TASKDAG_TASK static bool any(bool value) { return value; }
};

TASKDAG_ENGINE_END
