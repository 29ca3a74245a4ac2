/// \file
/// Random execution trees (MHive, section 7.1): task types, and transitions between them with probabilities. A task's
/// children are a function of its number alone, so host, GPU and the serial walk find the same tree without a common
/// stream of random numbers.
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

namespace generic {

/// Task types, at most; and into how many phases they are divided: 1 + 3 + 3 + 3 + 1.
inline constexpr int kTypes = 11;
inline constexpr int kPhases = 5;
inline constexpr int kFirstOfPhase[kPhases + 1] = {0, 1, 4, 7, 10, 11};
inline constexpr int kMostTransitions = 6;
/// Children of one task, at most.
inline constexpr int kMostChildren = 8;

/// A task of this kind creates a task of type `to` with a probability of per_mille/1000, tried `count` times.
struct Transition {
  std::int32_t to;
  std::int32_t per_mille;
  std::int32_t count;
};

struct TaskType {
  std::int32_t flops;
  std::int32_t size;  ///< number of transitions
  Transition transitions[kMostTransitions];
};

/// With individual dependencies, the child of a task's last transition waits for all the other children of that task,
/// where there are others.
struct Tree {
  TaskType types[kTypes];
};

/// A bijection of 64-bit numbers that mixes well (the finaliser of S. Vigna's splitmix64).
TASKDAG_TASK constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}
/// Number of a task's child that the attempt number `attempt` creates; a root's, with the seed for the task.
TASKDAG_TASK constexpr std::uint64_t child_number(std::uint64_t task, std::uint32_t attempt) {
  return mix(task + 0x9E3779B97F4A7C15U * (attempt + std::uint64_t{1}));
}
/// Whether an attempt that would create task `child` succeeds.
TASKDAG_TASK constexpr bool succeeds(std::uint64_t child, std::int32_t per_mille) {
  return (mix(child + 1U) >> 32U) * 1000U >> 32U < static_cast<std::uint64_t>(per_mille);
}

/// Calls use(child's number, its type) for each child of a task in the order of the transitions.
template <class Use>
TASKDAG_TASK void each_child(const TaskType& type, std::uint64_t task, Use&& use) {
  std::uint32_t attempt = 0;
  for (int t = 0; t < type.size; ++t) {
    const Transition& transition = type.transitions[t];
    for (int i = 0; i < transition.count; ++i) {
      const std::uint64_t child = child_number(task, attempt++);
      if (succeeds(child, transition.per_mille)) use(child, transition.to);
    }
  }
}

}  // namespace generic
