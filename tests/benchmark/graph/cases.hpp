/// \file
/// The graph algorithms with what tells a right result from a wrong one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rival.hpp"
#include "studies/graph/algorithm.hpp"

namespace taskdag::benchmark {

/// What a run gave.
struct Verdict {
  bool right = false;
  double error = 0;  ///< BFS: vertices with a wrong depth; PageRank: mean |difference| to the fixed point, of large
                     ///< graphs what it is at most; colouring: conflicts
  Index colours = 0;
};

/// An algorithm in one form on one graph.
class Measured {
 public:
  Measured() = default;
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;
  virtual ~Measured() = default;
  virtual graph::Run run(std::uint32_t bin_ns) = 0;
  virtual Verdict verify() = 0;
};

struct MeasuredRival {
  std::string name;
  std::unique_ptr<Measured> measured;
};

/// One algorithm on one graph: the oracle's result is computed once.
class AlgorithmCase {
 public:
  AlgorithmCase() = default;
  AlgorithmCase(const AlgorithmCase&) = delete;
  AlgorithmCase& operator=(const AlgorithmCase&) = delete;
  virtual ~AlgorithmCase() = default;
  virtual std::unique_ptr<Measured> make(const Context& context, const graph::Form& form) = 0;
  /// None where the rival's form has no such algorithm. PageRank twice: with as many iterations as leave what our forms
  /// leave at a vertex at most ("same residual"), and as give ranks no further from the fixed point than `error`, a
  /// Verdict's ("same error"). @throws Error where the rival fails
  virtual std::vector<MeasuredRival> make_rivals(const RivalForm& form, double error) = 0;
};

/// "bfs", "pagerank", "colouring".
const std::vector<std::string>& list_algorithms();
/// @pre `graph` outlives the case. @throws InvalidInput for another name
std::unique_ptr<AlgorithmCase> make_case(const std::string& algorithm, const CsrMatrix& graph);

}  // namespace taskdag::benchmark
