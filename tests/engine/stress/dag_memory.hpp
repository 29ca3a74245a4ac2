/// \file
/// A DAG and its results in the memory of a context, and the check of a run.
#pragma once

#include "dag.hpp"
#include "dag_tasks.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::test {

class DagMemory {
 public:
  DagMemory(const Context& context, const Dag& dag);
  /// As before any task has run.
  void reset();
  [[nodiscard]] DagData data() const;
  /// What is wrong after all tasks have run, in one line; empty: nothing.
  [[nodiscard]] std::string wrong() const;

 private:
  const Dag& dag_;
  engine::Array<int> successor_offsets_, successors_, predecessor_offsets_, predecessors_, level_, level_sizes_,
      creator_;
  engine::Array<std::uint64_t> value_;
  engine::Array<std::uint32_t> executed_;
  engine::Array<std::int32_t> remaining_;
  engine::Array<engine::Dependency> dependencies_;
  engine::Array<engine::DependencyGroup> groups_;
};

}  // namespace taskdag::test
