/// \file
/// What a block does under each algorithm: runs a task, resolves dependencies, counts, ends.
#pragma once

#include "studies/progression/patience.hpp"
#include "studies/progression/view.hpp"
#include "taskdag/engine/probe.hpp"

namespace taskdag::progression {

/// Some of a task's successors: positions in a list, or the right (0) and the lower one (1) of a cell.
struct Successors {
  std::uint32_t task;
  std::uint32_t first;
  std::uint32_t last;
};

/// Probe: engine::NoProbe, or CountingProbe, with which tasks compute values.
template <class Probe>
class Block {
 public:
  TASKDAG_TASK Block(const DagView& graph, const State& memory, std::uint32_t block, Probe& counts)
      : dag(graph), state(memory), number(block), probe(counts), patience(memory.limit_ns) {}

  /// Whether tasks remain, as far as one load of the counter tells.
  [[nodiscard]] TASKDAG_TASK bool goes_on() {
    if (out_of_time()) return false;
    probe.load();
    return counter().load(engine::relaxed) < dag.tasks;
  }
  /// Ends the run where the time is up.
  [[nodiscard]] TASKDAG_TASK bool out_of_time() {
    if (!patience.over()) return false;
    stop(State::kTimeLimit);
    return true;
  }
  /// Ends the run: no block begins another turn of its loop. Not counted: it is once a run.
  TASKDAG_TASK void stop(std::uint32_t bit) const { counter().fetch_or(bit, engine::relaxed); }
  TASKDAG_TASK void count_task() {
    probe.atomic();
    counter().fetch_add(1U, engine::relaxed);
  }

  /// The computational part, whose operations are not counted.
  TASKDAG_TASK void compute(std::uint32_t task) const {
    if constexpr (kComputes) {
      std::uint32_t value = 0;
      if (dag.columns != 0) {
        if (task >= dag.columns) value = state.values[task - dag.columns] + 1U;
        if (task % dag.columns != 0 && state.values[task - 1U] >= value) value = state.values[task - 1U] + 1U;
      } else {
        for (std::uint32_t e = dag.predecessor_offsets[task]; e < dag.predecessor_offsets[task + 1U]; ++e) {
          const std::uint32_t before = state.values[dag.predecessors[e]];
          if (before >= value) value = before + 1U;
        }
      }
      state.values[task] = value;
    }
  }

  [[nodiscard]] TASKDAG_TASK Successors successors_of(std::uint32_t task) {
    if (dag.columns != 0) {
      const bool right = task % dag.columns != dag.columns - 1U;
      const bool below = task + dag.columns < dag.tasks;
      return {task, right ? 0U : 1U, below ? 2U : 1U};
    }
    probe.load();
    probe.load();
    return {task, dag.successor_offsets[task], dag.successor_offsets[task + 1U]};
  }
  [[nodiscard]] TASKDAG_TASK std::uint32_t successor(const Successors& list, std::uint32_t k) {
    if (dag.columns != 0) return list.task + (k == 0 ? 1U : dag.columns);
    probe.load();
    return dag.successors[k];
  }
  /// Which of its task's successors it is.
  [[nodiscard]] TASKDAG_TASK std::uint32_t child(const Successors& list, std::uint32_t k) const {
    return dag.columns != 0 ? k : k - list.first;
  }
  /// Resolves one dependency of a task. @returns whether it was the last one
  [[nodiscard]] TASKDAG_TASK bool resolve(std::uint32_t task) {
    probe.atomic();
    engine::AtomicRef<std::uint32_t> remaining(state.dependencies[task]);
    return remaining.fetch_sub(1U, kComputes ? engine::acq_rel : engine::relaxed) == 1U;
  }

  static constexpr bool kComputes = Probe::counts;
  const DagView& dag;
  const State& state;
  const std::uint32_t number;
  Probe& probe;
  Patience patience;

 private:
  [[nodiscard]] TASKDAG_TASK engine::AtomicRef<std::uint32_t> counter() const {
    return engine::AtomicRef<std::uint32_t>(*state.counter);
  }
};

}  // namespace taskdag::progression
