/// \file
/// A rival from a shared library (rival_interface.h), as an algorithm like ours.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rival_interface.h"
#include "studies/graph/algorithm.hpp"

namespace taskdag::benchmark {

/// The functions of a library, which stays loaded.
class GraphRival {
 public:
  /// @throws std::runtime_error where the file cannot be loaded, or lacks a function
  explicit GraphRival(const std::string& file);

  decltype(&taskdag_graph_rival_form) form = nullptr;
  decltype(&taskdag_graph_rival_has) has = nullptr;
  decltype(&taskdag_graph_rival_prepare) prepare = nullptr;
  decltype(&taskdag_graph_rival_bfs) bfs = nullptr;
  decltype(&taskdag_graph_rival_pagerank) pagerank = nullptr;
  decltype(&taskdag_graph_rival_free) free = nullptr;
};

/// A graph as a rival wants it.
class PreparedRival {
 public:
  /// @pre the rival and the graph outlive this. @throws Error where the rival cannot have the graph
  PreparedRival(const GraphRival& rival, const CsrPattern& graph);
  PreparedRival(const PreparedRival&) = delete;
  PreparedRival& operator=(const PreparedRival&) = delete;
  ~PreparedRival() { rival_.free(memory_); }

  [[nodiscard]] const GraphRival& rival() const { return rival_; }
  [[nodiscard]] const CsrPattern& graph() const { return graph_; }
  [[nodiscard]] void* memory() const { return memory_; }

 private:
  const GraphRival& rival_;
  CsrPattern graph_;
  void* memory_;
};

/// One form of a rival on one graph. @pre `prepared` outlives what is made of it
struct RivalForm {
  const PreparedRival& prepared;
  int form;
};

/// Its runs @throws Error where the rival fails.
std::unique_ptr<graph::Algorithm<Index>> make_rival_bfs(const RivalForm& form, Index source);

/// So many iterations a run. Ranks are scaled as ours. Its runs @throws Error where the rival fails.
std::unique_ptr<graph::Algorithm<float>> make_rival_pagerank(const RivalForm& form, float damping, int iterations);

/// The same with the least number of iterations that gives ranks which are good enough: each iteration brings all ranks
/// nearer to the fixed point. @throws Error where the rival fails, and where 1024 iterations are not enough
std::unique_ptr<graph::Algorithm<float>> make_rival_pagerank_until(
    const RivalForm& form, float damping, const std::function<bool(const std::vector<float>&)>& good_enough);

/// How many iterations a rival's PageRank takes, from equal ranks, until none changes by more than `threshold`, in our
/// scale: what it leaves at each vertex is no more then than our forms leave. Serial, double precision: in single
/// precision, and in any order, ranks of hubs never come to rest. @pre symmetric structure, damping < 1, threshold > 0
int iterations_until_still(const CsrPattern& graph, double damping, double threshold);

}  // namespace taskdag::benchmark
