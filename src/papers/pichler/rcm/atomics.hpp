/// \file
/// What the tasks of the orderings do together in one word.
#pragma once

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Lowers `target` to `value` if that is less. @returns what it was before. Relaxed: the ends of tasks order.
template <class T>
TASKDAG_TASK T lower(T& target, T value) {
  engine::AtomicRef<T> shared(target);
  if constexpr (requires { shared.fetch_min(value, engine::relaxed); }) {
    return shared.fetch_min(value, engine::relaxed);
  } else {
    T old = shared.load(engine::relaxed);
    while (value < old && !shared.compare_exchange_weak(old, value, engine::relaxed, engine::relaxed)) continue;
    return old;
  }
}

/// The next index of a list that `length` counts, one for each lane that calls: lanes that call together take theirs
/// with one atomic operation.
template <class T>
TASKDAG_TASK T append(T& length) {
  const engine::Lanes lanes = engine::Lanes::converged();
  T first = 0;
  if (lanes.leads()) {
    first = engine::AtomicRef<T>(length).fetch_add(static_cast<T>(lanes.count()), engine::relaxed);
  }
  return static_cast<T>(lanes.broadcast(first) + static_cast<T>(lanes.rank()));
}

/// For words that other tasks of the same phase may change.
template <class T>
TASKDAG_TASK T look(T& word) {
  return engine::AtomicRef<T>(word).load(engine::relaxed);
}

}  // namespace taskdag::kernels::rcm_tasks
