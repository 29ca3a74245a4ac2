/// \file
/// Any directed acyclic graph as a TaskGraph.
#pragma once

#include <vector>

#include "dag/task_graph.hpp"
#include "taskdag/csr.hpp"

namespace taskdag {

/// A graph whose tasks are numbered anew, so that every parent has a smaller number.
struct OrderedGraph {
  TaskGraph graph;
  std::vector<Index> given;  ///< the number that each task had
};

/// Of the tasks that could be next, the one with the smallest given number is: a graph that is in order already stays
/// as it is, and neighbours stay together. edges: row t has the tasks that t waits for, in any order, some of them
/// several times. Cost: (tasks + edges) · log(tasks), and sorting each task's parents.
/// @throws InvalidInput where the pattern is not square, where offsets do not ascend from 0, where a task is not there,
/// and for a cycle, which the message names
OrderedGraph order_topologically(const CsrPattern& edges);

}  // namespace taskdag
