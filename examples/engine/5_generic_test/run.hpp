/// \file
/// Running an execution tree on the engine: what goes in, what comes out. The programs behind it are in tasks.hpp; each
/// worker size is compiled in a file of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"
#include "tree.hpp"

namespace generic {

/// What a task writes about itself, at an index that its parent has drawn for it.
struct Record {
  std::uint64_t number;  ///< of the task in the tree
  std::uint32_t type;
  std::uint32_t parent;       ///< index, kNobody for a root
  std::uint32_t first_child;  ///< index; the others follow in the order of the transitions
  std::uint32_t children;
  std::uint32_t runs;   ///< how often it was executed
  std::uint32_t start;  ///< stamps: numbers of one counter for all tasks, from 1 on; 0: none were taken
  std::uint32_t end;
  float work;  ///< 1 after the work
};
inline constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

enum class Dependencies { phases, individual };

struct Input {
  Tree tree{};
  std::vector<std::uint64_t> roots;  ///< their numbers
  std::uint32_t tasks = 0;           ///< in all trees
  Dependencies dependencies = Dependencies::phases;
  bool stamps = true;  ///< whether tasks take start and end stamps
  taskdag::engine::RunnerOptions runner;
  taskdag::engine::RunOptions run;
};

struct Output {
  taskdag::engine::Report report;  ///< its types are the tree's, by number
  std::vector<Record> records;     ///< room for one per task
  std::uint32_t created = 0;       ///< indices drawn
  std::uint32_t stamps = 0;        ///< numbers drawn
};

Output run_with_threads(const taskdag::Context& context, const Input& input);
Output run_with_warps(const taskdag::Context& context, const Input& input);
Output run_with_blocks(const taskdag::Context& context, const Input& input);
/// With warps, and a TraceProbe.
Output run_traced(const taskdag::Context& context, const Input& input);

}  // namespace generic
