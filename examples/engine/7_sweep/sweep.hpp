/// \file
/// Particles that cross a mesh, are absorbed and scattered, in several directions and groups of energy.
#pragma once

#include <string>
#include <vector>

#include "mesh.hpp"
#include "taskdag/context.hpp"
#include "taskdag/graph_plan.hpp"

namespace sweep {

struct Problem {
  Mesh mesh;
  std::vector<Vector> directions;
  int groups = 32;       ///< of energy
  int iterations = 3;    ///< sweeps, each with what the one before has scattered
  double source = 1;     ///< of particles, in each group
  double scattered = 1;  ///< particles that are scattered on a unit of length

  /// Particles of a group that are absorbed or scattered on a unit of length.
  [[nodiscard]] double taken(int group) const { return 2 + 0.25 * group; }
};

struct Result {
  std::vector<double> flux;  ///< of all directions, by cell and group
  double milliseconds = 0;   ///< of a sweep
  std::string message;       ///< of a run that has not finished
};

/// The plan must be that of make_upwind(). `repeat`: sweeps that are timed, after all iterations.
Result run(const taskdag::Context& context, const Problem& problem, const taskdag::engine::GraphPlan& plan, int repeat);

/// The flux by one thread that goes from each cell to those before it, without graph, plan and library.
std::vector<double> serial_flux(const Problem& problem);

}  // namespace sweep
