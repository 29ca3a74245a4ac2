/// \file
/// The graphs of the task progression study: the wavefront of Kartsaklis et al., and the rows of a sparse triangle,
/// which are its future work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::progression {

/// Tasks are numbered such that each comes after those that it waits for.
struct Dag {
  std::string name;
  std::uint32_t tasks = 0;
  /// Of a wavefront: cells of a row; task r·columns + c waits for the cell above it and the one to its left. 0: none
  /// is.
  std::uint32_t columns = 0;
  /// How many tasks each one waits for: the paper's dependency matrix (equation 1).
  std::vector<std::uint32_t> dependencies;
  /// Where it is no wavefront: each task's predecessors and successors, ascending.
  std::vector<std::uint32_t> predecessor_offsets;
  std::vector<std::uint32_t> predecessors;
  std::vector<std::uint32_t> successor_offsets;
  std::vector<std::uint32_t> successors;

  /// Tasks that can be ready at the same time at most, or more.
  [[nodiscard]] std::uint32_t most_ready() const;
  [[nodiscard]] std::uint64_t edges() const;
};

/// The most tasks of a graph: two bits of the counter say how a run ended.
inline constexpr std::uint32_t kMostTasks = (1U << 30U) - 1U;

/// @throws InvalidInput for an empty grid, or one with more than kMostTasks cells
Dag make_wavefront(std::uint32_t rows, std::uint32_t columns);
/// Row i waits for the rows of its entries below the diagonal; others do not count. @throws InvalidInput for more rows
/// than columns, or no row
Dag make_triangle(const CsrPattern& pattern, std::string name);

/// The same order of the tasks, but none has more than `most` successors: further tasks between them hand on, a tree of
/// them where one layer is not enough. Each is numbered right behind the task that it stands for.
/// @pre no wavefront; most > 1
Dag with_fan_out(const Dag& dag, std::uint32_t most, std::string name);

/// Where the time of a graph can go.
struct Shape {
  std::uint32_t most_successors = 0;
  std::uint32_t most_predecessors = 0;
  std::uint64_t edges_of_many = 0;  ///< edges of tasks with more than 100 successors
  /// Resolutions one after the other, with any number of workers: a task resolves its successors in turns, so that one
  /// can start when its last predecessor has come to it.
  std::uint64_t longest_chain = 0;
};
/// @pre no wavefront
Shape shape_of(const Dag& dag);

/// What the tasks compute in turn: one more than the largest of their predecessors, 0 without any.
std::vector<std::uint32_t> serial_values(const Dag& dag);

}  // namespace taskdag::progression
